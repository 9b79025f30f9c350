"""Trees as rules, and their counts, by hand."""

import pytest

from streamlin.errors import CheckpointError, ConfigError
from streamlin.formats.trees import read_tree
from streamlin.parsing.grammar import Grammar
from streamlin.parsing.pcfg import PCFG
from streamlin.parsing.trees import is_whole, labels_of, rules_of
from tests.parsing.running import learn, new_model, sentence

TREE = read_tree("(S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ barks)) (RB now) (. .))")


def test_rules_with_the_parent_and_one_sibling_by_hand():
    root, rules = rules_of(TREE, vertical=2, horizontal=1)
    assert root == "(S)"
    assert rules == [
        ("(S)", "(NP)S", "(S)(NP"),
        ("(S)(NP", "(VP)S", "(S)(VP"),
        ("(S)(VP", "RB", "."),
        ("(NP)S", "DT", "(NP)S(DT"),
        ("(NP)S(DT", "JJ", "NN"),
        ("(VP)S", "VBZ", None),
    ]


def test_rules_without_the_parent_and_with_two_siblings_by_hand():
    _, rules = rules_of(TREE, vertical=1, horizontal=2)
    assert rules == [
        ("(S)", "(NP)", "(S)(NP"),
        ("(S)(NP", "(VP)", "(S)(NP(VP"),
        ("(S)(NP(VP", "RB", "."),
        ("(NP)", "DT", "(NP)(DT"),
        ("(NP)(DT", "JJ", "NN"),
        ("(VP)", "VBZ", None),
    ]


def test_brackets_of_the_same_words_are_one_symbol():
    root, rules = rules_of(read_tree("(FRAG (S (VP (VB go) (NP (NP (NN home))))))"), 2, 1)
    assert (root, rules) == (
        "(FRAG S VP)",
        [("(FRAG S VP)", "VB", "(NP NP)FRAG S VP"), ("(NP NP)FRAG S VP", "NN", None)],
    )
    assert labels_of("(NP NP)FRAG S VP") == ["NP", "NP"]


@pytest.mark.parametrize(
    ("text", "root", "rules"),
    [
        ("(NN dog)", "NN", []),
        ("(NP (NN dog))", "(NP)", [("(NP)", "NN", None)]),
        ("((DT the) (NN dog))", "()", [("()", "DT", "NN")]),
    ],
)
def test_a_word_and_a_tree_without_an_outer_bracket_have_rules(text, root, rules):
    assert rules_of(read_tree(text), 2, 1) == (root, rules)


def test_only_constituents_have_labels():
    assert [labels_of(symbol) for symbol in ("NN", "(NP)S", "(NP)S(DT", "()", "-LRB-")] == [[], ["NP"], [], [""], []]
    assert [is_whole(symbol) for symbol in ("NN", "(NP)S", "(NP)S(DT", "()")] == [True, True, False, True]


def test_a_deep_tree_has_rules_without_recursion():
    n = 10_000
    _, rules = rules_of(read_tree("(X (A a) " * n + "(B b)" + ")" * n), 2, 1)
    assert len(rules) == n


def counts(grammar):
    """Rule -> count, of a grammar's state."""
    names, state = grammar.symbols.names, grammar.state()
    named = [tuple(names[number] if number >= 0 else None for number in rule) for rule in state["rules"].tolist()]
    return dict(zip(named, state["rule_counts"].tolist(), strict=True))


def test_counts_of_two_trees_by_hand():
    """(S (NP D N) (VP V)), and (S (NP D N) (VP V (NP N))) of weight 2::

    (S) -> (NP)S (VP)S 3     (NP)S -> D N 3     (VP)S -> V 1, V (NP)VP 2     (NP)VP -> N 2
    """
    model = new_model()
    trees = ("(S (NP (D the) (N dog)) (VP (V barks)))", "(S (NP (D the) (N dog)) (VP (V eats) (NP (N meat))))")
    learn(model, [sentence(trees[0]), sentence(trees[1], 2.0)])
    grammar, lexicon = model.learners["pcfg"].grammar, model.learners["pcfg"].lexicon
    assert counts(grammar) == {
        ("(S)", "(NP)S", "(VP)S"): 3,
        ("(NP)S", "D", "N"): 3,
        ("(VP)S", "V", None): 1,
        ("(VP)S", "V", "(NP)VP"): 2,
        ("(NP)VP", "N", None): 2,
    }
    totals = dict(zip(grammar.symbols.names, grammar.state()["rule_totals"].tolist(), strict=True))
    assert totals == {"(S)": 3, "(NP)S": 3, "(VP)S": 3, "(NP)VP": 2, "D": 0, "N": 0, "V": 0}
    assert grammar.roots[grammar.symbols.code("(S)")] == 3
    assert dict(zip(model.labels.names, lexicon.tag_counts.tolist(), strict=False)) == {"D": 3, "N": 5, "V": 3}
    assert lexicon.total.tolist() == [11, 5]


def test_rules_beyond_the_limit_are_ignored():
    """What is known still counts; a rule's left-hand side does too, so the others get less."""
    grammar = Grammar(2)
    grammar.learn("(S)", [("(S)", "A", "B"), ("(S)", "B", "A"), ("(S)", "B", "B"), ("(X)", "A", None)], ["A", "B"], 1.0)
    grammar.learn("(Y)", [("(S)", "A", "B"), ("(S)", "(Z)", "B")], ["C"], 1.0)
    assert grammar.full
    assert counts(grammar) == {("(S)", "A", "B"): 2, ("(S)", "B", "A"): 1}
    assert grammar.symbols.names == ["A", "B", "(S)", "C"]
    assert grammar.state()["rule_totals"].tolist() == [0, 0, 5, 0]
    assert grammar.state()["roots"].tolist() == [0, 0, 1, 0]


def test_a_rule_of_an_unseen_symbol_is_not_the_rule_without_it():
    grammar = Grammar(10)
    grammar.learn("(S)", [("(S)", "A", None), ("(S)", "A", "B")], [], 1.0)
    assert counts(grammar) == {("(S)", "A", None): 1, ("(S)", "A", "B"): 1}


def test_many_rules_make_tables_grow():
    grammar, rules = Grammar(10_000), [(f"(X{i})", f"T{i % 700}", f"T{i % 11}" if i % 3 else None) for i in range(3000)]
    grammar.learn("(S)", rules, [], 1.0)
    grammar.learn("(S)", rules, [], 2.0)
    assert counts(grammar) == dict.fromkeys(rules, 3.0)
    again = Grammar(10_000)
    again.restore(grammar.symbols.names, grammar.state())
    assert counts(again) == counts(grammar)
    for array, other in zip(grammar.rules, again.rules, strict=True):
        n = len(grammar.symbols) if array is not grammar.rules.lhs else len(grammar)
        assert array[:n].tolist() == other[:n].tolist()


def test_a_grammar_that_contradicts_itself_is_refused():
    grammar = Grammar(10)
    grammar.learn("(S)", [("(S)", "A", "B"), ("(S)", "B", "A")], [], 1.0)
    names, state = grammar.symbols.names, grammar.state()
    twice = state | {"rules": state["rules"][[0, 0]]}
    for symbols, arrays in [
        (names[:-1], state),
        ([*names[:-1], names[0]], state),
        (names, state | {"roots": state["roots"][1:]}),
        (names, state | {"rules": state["rules"] - 2}),
        (names, twice),
    ]:
        with pytest.raises(CheckpointError, match="grammar"):
            Grammar(10).restore(symbols, arrays)


@pytest.mark.parametrize(
    "wrong", [{"vertical": 3}, {"horizontal": 0}, {"alpha": 0}, {"theta": -1}, {"beam": 0}, {"max_tokens": 0}]
)
def test_parameters_outside_their_limits_are_refused(wrong):
    with pytest.raises(ConfigError, match=f"pcfg.{next(iter(wrong))}"):
        PCFG(**wrong)
