"""Trees in brackets: what is read, what is written, and what is refused."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, DecodeError
from streamlin.events import Event, single_records
from streamlin.features.text_tokens import cutter
from streamlin.formats import open_trees
from streamlin.formats.lengths import Lengths
from streamlin.formats.trees import Bracket, Tree, chains, read_tree, write_tree
from streamlin.testing import check_batch
from tests.formats.reading import error, events, opened

DOG = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"
LONG = 10_000


@st.composite
def trees(draw):
    """Trees with several brackets of the same words, some without a label, and any words."""
    n = draw(st.integers(1, 6))
    label = st.sampled_from(["S", "NP", "VP", "", "TOP", "-X-"])
    texts = st.text(st.characters(exclude_characters="()", exclude_categories=["Cs", "Cc", "Z"]), min_size=1)
    words = draw(
        st.lists(
            texts.filter(lambda word: word not in ("-LRB-", "-RRB-")) | st.sampled_from("()"), min_size=n, max_size=n
        )
    )
    tags = draw(st.lists(st.sampled_from(["DT", "NN", ",", "-LRB-"]), min_size=n, max_size=n))
    return Tree(words, tags, list(_brackets(draw, label, 0, n)))


def _brackets(draw, label, begin, end):
    for _ in range(draw(st.integers(0, 2))):
        yield Bracket(draw(label), begin, end)
    while end - begin > 1 and draw(st.booleans()):
        cut = draw(st.integers(begin + 1, end - 1))
        yield from _brackets(draw, label, begin, cut)
        begin = cut


def test_words_tags_and_brackets_by_hand():
    assert read_tree(DOG) == Tree(
        ["the", "dog", "barks"],
        ["DT", "NN", "VBZ"],
        [Bracket("S", 0, 3), Bracket("NP", 0, 2), Bracket("VP", 2, 3)],
    )


@pytest.mark.parametrize(
    "text",
    [
        f"({DOG})",
        f"( {DOG} )",
        f"(TOP {DOG})",
        f"(ROOT{DOG})",
        "(S (NP-SBJ-1 (DT the) (NN dog)) (VP=2 (VBZ barks)))",
        "(S (NP (DT the)(NN dog)) (VP\t(VBZ  barks) (NP (-NONE- *T*-1)))(SBAR (-NONE- 0) (S (-NONE- *))))",
    ],
)
def test_tops_functions_traces_and_blanks_are_left_out(text):
    assert write_tree(read_tree(text)) == DOG


def test_labels_of_a_dash_and_round_brackets_are_kept():
    tree = read_tree("(PRN (-LRB- -LRB-) (-DFL- (NN x)) (-RRB- -RRB-))")
    assert (tree.words, tree.tags) == (["(", "x", ")"], ["-LRB-", "NN", "-RRB-"])
    assert tree.brackets == [Bracket("PRN", 0, 3), Bracket("-DFL-", 1, 2)]
    assert write_tree(tree) == "(PRN (-LRB- -LRB-) (-DFL- (NN x)) (-RRB- -RRB-))"


def test_parts_without_a_bracket_get_one_without_a_label():
    assert write_tree(Tree(["a", "b c", ""], ["X", "Y", "Z"], [Bracket("NP", 0, 2)])) == "( (NP (X a) (Y b_c)) (Z _))"


@given(trees())
def test_a_tree_that_is_written_reads_as_the_same(tree):
    again = read_tree(write_tree(tree))
    assert (again.words, again.tags, again.brackets) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NN dog)", "1 brackets are not closed"),
        ("(NN dog))", "')' at character 9 is outside of the tree, expected one tree a line"),
        ("(NN dog) (NN cat)", "'(' at character 10 is outside of the tree, expected one tree a line"),
        ("dog", "'dog' at character 1 is outside of the tree, expected one tree a line"),
        ("", "the tree has no words"),
        ("(S (-NONE- *))", "the tree has no words"),
        ("(S (NP) (NN dog))", "the bracket that ends at character 7 has no word, expected (TAG word)"),
        ("()", "the bracket that ends at character 2 has no word, expected (TAG word)"),
        ("(NP the dog)", "the word 'dog' at character 9 has no tag, expected (TAG word)"),
        ("(NP (DT the) dog)", "the word 'dog' at character 14 has no tag, expected (TAG word)"),
        ("(NP the (NN dog))", "a bracket at character 9 follows a word, expected (TAG word)"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_place(text, message):
    with pytest.raises(DecodeError) as raised:
        read_tree(text)
    assert str(raised.value) == message


@given(st.text("()NP ", max_size=30))
def test_any_brackets_are_a_tree_or_refused(text):
    try:
        tree = read_tree(text)
    except DecodeError:
        return
    assert read_tree(write_tree(tree)) == tree


@pytest.mark.parametrize(
    "text",
    ["(X (A a) " * LONG + "(B b)" + ")" * LONG, "(X " * LONG + "(B b)" + ")" * LONG, f"(S {'(A a) ' * LONG})"],
    ids=["right", "unary", "flat"],
)
def test_ten_thousand_brackets_do_not_recurse(text):
    tree = read_tree(text)
    assert read_tree(write_tree(tree)) == tree


def test_brackets_of_the_same_words_are_a_chain():
    assert chains(read_tree("(S (VP (VB go) (NP (NP (NN home)))))").brackets) == [
        Bracket("S VP", 0, 2),
        Bracket("NP NP", 1, 2),
    ]


def test_every_tree_of_the_treebank_is_read(data):
    """Words, tags and brackets of what is written are those of what was read."""
    with gzip.open(data / "trees-ptb-sample.jsonl.gz", "rt", encoding="utf-8", newline="\n") as lines:
        found = [read_tree(json.loads(line)["tree"]) for line in lines]
    assert len(found) == 3914
    assert all(read_tree(write_tree(tree)) == tree for tree in found[::10])


def test_a_line_is_a_tree_with_its_words_and_tags():
    batch, dead = opened("bracketed").decode(single_records([DOG.encode(), b"(NP (NN x))", b"(NP"]))
    check_batch(batch)
    assert batch.texts == ["the", "dog", "barks", "x"]
    assert batch.pieces.tolist() == [0, 3, 4]
    assert batch.tokens.tags == ["DT", "NN", "VBZ", "NN"]
    assert batch.labels == [DOG, "(NP (NN x))"]
    assert dead == [(2, "1 brackets are not closed")]


def test_a_line_is_written_and_read_back():
    event = Event("the\ndog\nbarks", DOG)
    assert opened("bracketed").encode(event) == DOG.encode()
    assert events(opened("bracketed"), DOG.encode()) == [event]


def test_joined_labels_that_are_too_long_are_a_dead_letter():
    format_ = opened("bracketed")
    format_.lengths = Lengths(label=200)
    assert events(format_, b"(NP " * 60 + b"(NN x)" + b")" * 60)
    told = error(format_, b"(NP " * 70 + b"(NN x)" + b")" * 70)
    assert told == "the label has 209 characters, expected at most pipeline.max_label_characters = 200"
    assert "the label has 201 characters" in error(format_, b"(" + b"N" * 201 + b" x)")


def decoded(*objects, **fields):
    format_ = open_trees("json", {}, FieldsConfig(**fields), (), cutter("words"))
    return format_.decode(single_records([json.dumps(one).encode() for one in objects]))


def test_json_has_trees_tokens_or_texts():
    """A tree's words are read in place of tokens and texts."""
    batch, dead = decoded(
        {"id": "1", "tree": DOG, "text": "The dog barks", "weight": 2},
        {"id": "2", "tokens": ["a", "b"], "tree": None},
        {"text": "It works."},
        {"tree": "(NP (NN x))", "tokens": ["X"]},
    )
    check_batch(batch)
    assert dead == []
    assert batch.texts == ["the", "dog", "barks", "a", "b", "It", "works", ".", "x"]
    assert batch.labels == [DOG, None, None, "(NP (NN x))"]
    assert batch.tokens.tags == ["DT", "NN", "VBZ", *[None] * 5, "NN"]
    assert batch.tokens.offsets.tolist()[5:8] == [[0, 2], [3, 8], [8, 9]]
    assert batch.weights.tolist() == [2, 1, 1, 1]


def test_a_tree_may_have_another_name():
    batch, _ = decoded({"gold": {"parse": DOG}}, tree="gold.parse")
    assert batch.labels == [DOG]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"tree": DOG, "tokens": ["the", "dog"]}, "the tree has 3 words for 2 tokens, expected as many"),
        ({"tree": "(NP"}, "1 brackets are not closed"),
        ({"tree": ""}, "tree, tokens and text are missing, expected one of them"),
        ({"id": "1"}, "tree, tokens and text are missing, expected one of them"),
        ({"tree": ["NP"]}, "tree is of type array, expected str"),
    ],
)
def test_json_that_is_no_tree_is_a_dead_letter(event, message):
    batch, dead = decoded({"tree": DOG}, event)
    assert len(batch) == 1
    assert [(letter.record, message in letter.error) for letter in dead] == [(1, True)], dead


@pytest.mark.parametrize("name", ["csv", "conll", "text"])
def test_other_formats_have_no_trees(name):
    with pytest.raises(ConfigError, match=f"format {name} has no trees; task = 'parsing' needs json or bracketed"):
        open_trees(name, {}, FieldsConfig(), (), cutter("words"))
