"""The parser against its twin in plain Python, on real trees."""

import json

import pytest

from streamlin.formats.trees import read_tree
from tests.naive_parsing import NaivePCFG, nested
from tests.naive_tagging import Token
from tests.parsing.running import batch_of, learn, new_model, real_trees

SETTINGS = [{}, {"vertical": 1}, {"horizontal": 2, "alpha": 1.0, "beam": 8.0}]


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_a_parser_says_what_its_twin_does(data, parameters):
    """A best tree, its share, and the probability of 30 sentences of at most 15 words; the same counts of rules.

    There are ties, which rounding to float32 breaks; so the tree's probability is compared.
    """
    sentences = [s for s in real_trees(data / "trees-ptb-sample.jsonl.gz", 150) if len(s.words) <= 15][:30]
    model, naive, covered = new_model(parameters), NaivePCFG(**parameters), 0
    whole = batch_of(sentences)
    contexts, bounds = model.featurize(whole).tokens.contexts.tolist(), whole.pieces
    lines = map(json.loads, learn(model, whole).splitlines())
    for line, own, begin, end in zip(lines, sentences, bounds, bounds[1:], strict=False):
        tokens = [Token((), tuple(levels)) for levels in contexts[begin:end]]
        theirs = naive.parse(tokens, 22) if naive.tags else None
        assert line["covered"] == (theirs is not None and theirs.best is not None)
        if line["covered"]:
            covered += 1
            found = naive.probability(tokens, nested(read_tree(line["predicted"])))
            assert found == pytest.approx(theirs.best, rel=1e-3)
            assert line["confidence"] == pytest.approx(theirs.share, abs=1e-3)
            assert line["log_probability"] == pytest.approx(theirs.log_probability, rel=1e-4)
        naive.learn(tokens, own.tree)
    assert covered > 10
    grammar = model.learners["pcfg"].grammar
    assert sorted(grammar.state()["rule_counts"].tolist()) == sorted(naive.rules.values())
    assert sorted(filter(None, grammar.state()["rule_totals"].tolist())) == sorted(naive.totals.values())
    assert sorted(filter(None, grammar.state()["roots"].tolist())) == sorted(naive.roots.values())
