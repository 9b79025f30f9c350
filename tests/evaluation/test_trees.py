"""Brackets by hand, and everything that is counted about parsers against lists of trees."""

import itertools
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamlin.evaluation.report import report_of
from streamlin.evaluation.tree_tally import TreeCounts
from streamlin.formats.trees import read_tree
from tests.parsing.running import Parse, batch_of, new_model, sentence

TRUE = "(S (NP (D the) (N man)) (VP (V saw) (NP (NP (D a) (N dog)) (PP (P with) (NP (D a) (N bone))))) (. .))"
HIGH = "(S (NP (D the) (N man)) (VP (V saw) (NP (D a) (N dog)) (PP (P with) (NP (D a) (N bone)))) (. .))"


def counted(true, found):
    counts = TreeCounts.empty(1, 1)
    counts.set(0, 0, read_tree(true).brackets, read_tree(found).brackets)
    return [float(array.item()) for array in counts[:4]]


def test_a_phrase_attached_too_high_by_hand():
    """True: S 0-9, NP 0-2, VP 2-8, NP 3-8, NP 3-5, PP 5-8, NP 6-8: seven. NP 3-8 is missing, nothing is too much."""
    assert counted(TRUE, HIGH) == [7, 6, 6, 0]
    assert counted(HIGH, TRUE) == [6, 7, 6, 0]
    assert counted(TRUE, TRUE) == [7, 7, 7, 1]


@pytest.mark.parametrize(
    ("true", "found", "expected"),
    [
        ("(S (NP (N a)) (VP (V b)))", "(S (VP (N a)) (NP (V b)))", [3, 3, 1, 0]),  # labels count
        ("(S (N a) (V b))", "(S (V a) (N b))", [1, 1, 1, 1]),  # tags don't
        ("(S (N a) (. b))", "(S (NP (N a)) (. b))", [1, 2, 1, 0]),  # punctuation is a word as any other
        ("(TOP (S (N a) (V b)))", "((S (N a) (V b)))", [1, 1, 1, 1]),  # the top does not count
        ("(X (NP (N a)) (NP (N b)))", "((NP (N a)) (NP (N b)))", [3, 2, 2, 0]),  # nor a bracket without a label
        ("(NP (NP (NP (N a))))", "(NP (NP (N a)))", [3, 2, 2, 0]),  # the same one several times
        ("(N a)", "(N a)", [0, 0, 0, 1]),
    ],
)
def test_brackets_by_hand(true, found, expected):
    assert counted(true, found) == expected


TREES = [TRUE, HIGH, "(S (NP (N dogs)) (VP (V bark)))", "(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N bone))))"]


def test_the_report_is_that_of_the_predicted_trees():
    """Running, windowed and fading, by weight, from the trees that were given out; of two parsers."""
    random = np.random.default_rng(5)
    learners = [{"name": "first", "alpha": 1.0}, {"name": "second", "vertical": 1, "max_tokens": 8}]
    model = new_model(*learners, evaluation={"window": 5, "fading": 0.9})
    trees = [TREES[i] for i in random.integers(4, size=30)]
    sentences = [
        sentence(tree, float(weight)) for tree, weight in zip(trees, random.choice([0, 1, 2], 30), strict=True)
    ]
    sentences[7] = Parse(sentences[7].words, None)
    whole = batch_of(sentences)
    _, predictions = model.step(whole, model.featurize(whole))
    report = report_of(model.prequential, model.labels)
    scored = [i for i, own in enumerate(sentences) if own.tree is not None and own.weight > 0]
    spans = {
        "": {i: sentences[i].weight for i in scored},
        "window_": {i: sentences[i].weight for i in scored[-5:]},
        "fading_": {i: sentences[i].weight * 0.9**age for age, i in enumerate(reversed(scored))},
    }
    for (number, name), (prefix, weights) in itertools.product(enumerate(["first", "second"]), spans.items()):
        sums = Counter()
        for i, weight in weights.items():
            text, true = predictions.trees[number][i], Counter(sentences[i].tree.brackets)
            found = Counter(b for b in (read_tree(text).brackets if text else ()) if b.label)
            sums["true"] += weight * true.total()
            sums["found"] += weight * found.total()
            sums["right"] += weight * (true & found).total()
            sums["exact"] += weight * (text is not None and true == found)
            sums["covered"] += weight * bool(predictions.covered[number, i])
            sums["tags"] += weight * (sum(map(str.__eq__, read_tree(text).tags, sentences[i].tree.tags)) if text else 0)
            sums["words"] += weight * len(sentences[i].words)
            sums["n"] += weight
        row = report["learners"][name]
        for key, share in {
            "precision": sums["right"] / sums["found"],
            "recall": sums["right"] / sums["true"],
            "f1": 2 * sums["right"] / (sums["true"] + sums["found"]),
            "sentences_right": sums["exact"] / sums["n"],
            "covered": sums["covered"] / sums["n"],
            "accuracy": sums["tags"] / sums["words"],
        }.items():
            assert_allclose(row[prefix + key], share, rtol=1e-9, err_msg=prefix + key)
    assert "f1" not in report["baselines"]["commonest_tag"]
    assert report["leader"] == max(report["learners"], key=lambda name: report["learners"][name]["f1"])


def test_the_parser_of_the_best_f1_leads():
    """Not that of the most right tags; it is known before each sentence."""
    model = new_model({"name": "none", "max_tokens": 1}, {"name": "all"})
    whole = batch_of([sentence(TREES[2])] * 4)
    _, predictions = model.step(whole, model.featurize(whole))
    assert predictions.lead.tolist() == [0, 0, 1, 1]
    assert model.prequential.lead(2).tolist() == [1, 1]
    fixed = new_model({"name": "none", "max_tokens": 1}, {"name": "all"}, evaluation={"lead": "none"})
    _, predictions = fixed.step(whole, fixed.featurize(whole))
    assert predictions.lead.tolist() == [0] * 4
