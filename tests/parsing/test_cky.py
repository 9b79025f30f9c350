"""The CKY algorithm against the enumeration of all trees, and against Viterbi's on chains."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.parsing.cky import MOST, parse
from streamlin.parsing.grammar import Grammar
from streamlin.parsing.lexicon import Lexicon
from streamlin.parsing.pcfg import _built
from streamlin.tagging.contexts import ContextCounts, set_priors, set_probabilities
from streamlin.tagging.hmm import Transitions, transition
from streamlin.tagging.sentences import Sentences
from tests.tagging.running import batch_of, learn, predict, real_sentences
from tests.tagging.running import new_model as new_tagger

TAGS, SYMBOLS = ["a", "b"], ["(S)", "(X)", "(Y)"]
RULES = [
    *((left, first, second) for left in SYMBOLS for first, second in product([*SYMBOLS, *TAGS], repeat=2)),
    *((left, tag, None) for left in SYMBOLS for tag in TAGS),
]


def grammar_of(counts):
    grammar = Grammar(len(RULES))
    grammar.learn(TAGS[0], [], [*TAGS, *SYMBOLS], 0.0)
    for rule, count in counts.items():
        grammar.learn("(S)", [rule], [], count)
    return grammar


def entries(chart, n, begin, end):
    """Symbol -> the best and the sum of a cell."""
    cell = begin * n + end - 1
    scale, found = np.exp(chart.scales[cell]), range(chart.begins[cell], chart.ends[cell])
    return {int(chart.symbols[e]): (chart.best[e] * scale, chart.sums[e] * scale) for e in found}


def parsed(grammar, ratios, alpha=0.0, beam=0.0, tags=TAGS):
    return parse(
        np.array(ratios, np.float64), grammar.symbols.codes(tags), grammar.rules, len(grammar.symbols), alpha, beam
    )


def enumerated(counts, ratios, symbol, begin, end):
    """The probabilities of all trees of a symbol over some words."""
    total = sum(count for (left, _, _), count in counts.items() if left == symbol) + 1.5
    if symbol in TAGS:
        return [ratios[begin][TAGS.index(symbol)]] if end == begin + 1 else []
    found = []
    for (left, first, second), count in counts.items():
        if left == symbol and second is None and end == begin + 1:
            found += [p * count / total for p in enumerated(counts, ratios, first, begin, end)]
        if left == symbol and second is not None:
            for cut in range(begin + 1, end):
                lefts = enumerated(counts, ratios, first, begin, cut)
                rights = enumerated(counts, ratios, second, cut, end) if lefts else []
                found += [p * q * count / total for p in lefts for q in rights]
    return [p for p in found if p > 0]


@settings(deadline=None, max_examples=40)
@given(
    st.dictionaries(st.sampled_from(RULES), st.integers(1, 9), min_size=3, max_size=14),
    st.lists(st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5]), min_size=2, max_size=2), min_size=1, max_size=4),
)
def test_best_and_sum_of_each_cell_are_those_of_all_trees(counts, ratios):
    """Of a grammar with loops and unary rules, alpha = 1.5, without a beam."""
    grammar, n = grammar_of(counts), len(ratios)
    chart = parsed(grammar, ratios, alpha=1.5)
    for begin, end in combinations(range(n + 1), 2):
        cell = entries(chart, n, begin, end)
        for symbol in (*SYMBOLS, *TAGS):
            all_trees = enumerated(counts, ratios, symbol, begin, end)
            best, total = cell.pop(grammar.symbols.code(symbol), (0.0, 0.0))
            assert_allclose([best, total], [max(all_trees, default=0.0), sum(all_trees)], rtol=1e-9)
        assert cell == {}


def test_the_best_tree_is_followed_back():
    """(S) -> (X) (X) 1, a (S) 19, a 2, (X) -> a a 1: of four words, (19/22)^3 2/22 is more than 1/22."""
    grammar = grammar_of(
        {("(S)", "(X)", "(X)"): 1, ("(S)", "a", "(S)"): 19, ("(X)", "a", "a"): 1, ("(S)", "a", None): 2}
    )
    chart = parsed(grammar, [[1.0, 0.0]] * 4)
    (top,) = [e for e in range(chart.begins[3], chart.ends[3]) if chart.symbols[e] == grammar.symbols.code("(S)")]
    tags, brackets = _built(chart, [top], grammar.symbols.names)
    assert tags == ["a"] * 4
    assert brackets == [("S", 0, 4), ("S", 1, 4), ("S", 2, 4), ("S", 3, 4)]


def test_of_equal_trees_the_first_split_stays():
    """Always the same one of the two trees of three words."""
    grammar = grammar_of({("(S)", "(S)", "(S)"): 1, ("(S)", "a", None): 1})
    chart = parsed(grammar, [[1.0, 0.0]] * 3)
    (top,) = [e for e in range(chart.begins[2], chart.ends[2]) if chart.symbols[e] == grammar.symbols.code("(S)")]
    assert chart.best[top] * 2 == pytest.approx(chart.sums[top])
    assert _built(chart, [top], grammar.symbols.names)[1][1:3] == [("S", 0, 1), ("S", 1, 3)]


def test_a_beam_leaves_out_what_is_less_probable():
    grammar = grammar_of({("(S)", "a", None): 1, ("(X)", "b", None): 1})
    ratios, code = [[1.0, 1e-3]], grammar.symbols.code
    assert set(entries(parsed(grammar, ratios, beam=1e-4), 1, 0, 1)) == {code(s) for s in ("a", "b", "(S)", "(X)")}
    assert set(entries(parsed(grammar, ratios, beam=1e-2), 1, 0, 1)) == {code("a"), code("(S)")}


@pytest.mark.parametrize("beam", [0.0, 1e-6])
@pytest.mark.parametrize("tied", [True, False])
def test_a_cell_keeps_a_bounded_number_of_symbols(beam, tied):
    """The most probable ones; of equal ones the first. Its tag is among them, since they consist of it."""
    rules = {(f"(L{i})", "a", None): 1 if tied else 1 + i for i in range(2 * MOST)}
    grammar = Grammar(4 * MOST)
    grammar.learn("(L0)", [], ["a"], 1.0)
    for rule, count in rules.items():
        grammar.learn("(L0)", [rule], [], count)
    grammar.rules.totals[: len(grammar.symbols)] = 2 * MOST if not tied else 1
    chart = parsed(grammar, [[1.0]], beam=beam, tags=["a"])
    kept = chart.ends[0] - chart.begins[0]
    assert 1 < kept <= MOST
    assert chart.symbols[0] == grammar.symbols.code("a")
    best = chart.best[1:kept]
    assert (best == 1.0).all() if tied else best.min() >= best.max() / 2


def test_a_long_sentence_does_not_underflow():
    """200 words of a probability of 1e-30 each."""
    grammar = grammar_of({("(S)", "a", "(S)"): 1, ("(S)", "a", None): 1})
    chart = parsed(grammar, [[1e-30, 0.0]] * 200)
    assert chart.scales[199] == pytest.approx(200 * np.log(1e-30 / 2))


def right_linear(tags, p):
    """The grammar of a chain: (j) -> k (k), the tag k follows j; (j) -> k m, these are the last two. p[j, k]."""
    grammar, names = Grammar(100_000), ["", *tags]
    grammar.learn(tags[0], [], [*tags, *(f"({name})" for name in names)], 0.0)
    for j, k in product(range(len(names)), range(len(tags))):
        grammar.learn("()", [(f"({names[j]})", tags[k], f"({tags[k]})")], [], p[j, k])
        for m, last in enumerate(tags):
            grammar.learn("()", [(f"({names[j]})", tags[k], last)], [], p[j, k] * p[k + 1, m])
    grammar.rules.totals[: len(grammar.symbols)] = 1.0
    return grammar


def test_a_right_linear_grammar_is_a_hidden_markov_model(data):
    """CKY finds the tags that the tagger's Viterbi finds, and their share of all: an HMM is a PCFG."""
    sentences = real_sentences(data / "pos-ud-ewt.jsonl.gz", 260)
    model = new_tagger({"kind": "hmm", "order": 1})
    learn(model, sentences[:200])
    hmm, tags = model.learners["hmm"], model.labels.names
    n_tags = len(tags)
    counted = ContextCounts(*hmm.arrays_of(tuple(hmm.tables)[:4]))
    chain = Transitions(*hmm.arrays_of((*tuple(hmm.tables)[4:], "n_pairs")))
    priors, p = np.zeros(32, np.float32), np.zeros(32, np.float32)
    set_priors(counted, n_tags, 32, priors)
    following = np.array(
        [
            [transition(1, 5.0, 0.0, -1, j - 1, k, float(priors[k]), chain) for k in range(n_tags)]
            for j in range(n_tags + 1)
        ]
    )
    grammar, compared = right_linear(tags, following), 0
    for sentence in sentences[200:]:
        n = len(sentence.tokens)
        if not 1 < n <= 25:
            continue
        features = model.featurize(batch_of([sentence]))
        rows, before = model.rows["contexts"].assign(features.bounds, features.contexts, np.zeros(1, np.bool_))
        own, ratios = Sentences(features.bounds, rows, before, rows, before), np.zeros((n, n_tags))
        for t in range(n):
            set_probabilities(counted, own, 0, t, np.float32(1.0), 32, priors, p)
            likely = p[:n_tags] >= p[:n_tags].max() * np.float32(1e-3)
            ratios[t, likely] = p[:n_tags][likely].astype(float) / priors[:n_tags][likely]
        chart = parsed(grammar, ratios, tags=tags)
        (top,) = [
            e for e in range(chart.begins[n - 1], chart.ends[n - 1]) if chart.symbols[e] == grammar.symbols.code("()")
        ]
        outcome = predict(model, [sentence])
        assert _built(chart, [top], grammar.symbols.names)[0] == outcome.tags[0][0]
        assert chart.best[top] / chart.sums[top] == pytest.approx(outcome.confidences[0, 0], rel=1e-3)
        compared += 1
    assert compared > 30


def test_the_lexicon_is_a_distribution_over_buckets():
    """The probabilities of all words sum to 1: those seen, and the buckets of those that were not."""
    lexicon, bits = Lexicon(), 10
    lexicon.grow(0, 6 * 4, 2)
    contexts = np.arange(24, dtype=np.int32).reshape(4, 6)
    whole = Sentences(np.array([0, 4]), contexts, np.array([24]), contexts, np.array([24]))
    lexicon.learn(whole, 0, np.array([0, 1, 1, 0], np.int32), 1.0)
    lexicon.learn(whole, 0, np.array([0, 1, 1, 0], np.int32), 0.5)
    new = np.full((1, 6), -1, np.int32)
    rare = Sentences(np.array([0, 1]), new, np.array([24]), new, np.array([24]))
    seen = sum(
        np.exp(
            lexicon.log_probability(
                Sentences(np.array([t, t + 1]), contexts, *[np.array([24]), contexts, np.array([24])]), 0, bits
            )
        )
        for t in range(4)
    )
    assert seen + (2**bits - 4) * np.exp(lexicon.log_probability(rare, 0, bits)) == pytest.approx(1.0)
