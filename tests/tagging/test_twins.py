"""Each tagger against its twin in plain Python, on real sentences with hidden tags and weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.naive_tagging import PART, NaiveCRF, NaiveHMM, NaiveLogLinear, NaiveStructuredPerceptron, Token
from tests.tagging.running import Sentence, batch_of, by_row, learn, new_model, real_sentences, roughened

N = 250
CASES = [
    ("crf", {}, NaiveCRF),
    ("crf", {"prune": 0.0, "skip": 0.0, "eta": 0.1}, NaiveCRF),
    ("crf", {"counts": True}, NaiveCRF),
    ("log_linear", {}, NaiveLogLinear),
    ("log_linear", {"beam": 3}, NaiveLogLinear),
    ("structured_perceptron", {}, NaiveStructuredPerceptron),
    ("structured_perceptron", {"step": "passive_aggressive"}, NaiveStructuredPerceptron),
    ("structured_perceptron", {"step": "perceptron"}, NaiveStructuredPerceptron),
    ("hmm", {}, NaiveHMM),
    ("hmm", {"order": 1}, NaiveHMM),
]
NEAR = 2e-3
"""A smaller margin may be turned by rounding to float32."""


@pytest.fixture(scope="module")
def sentences(data):
    """The sentences, and in the middle a document in one."""
    rough = roughened(real_sentences(data / "pos-ud-ewt.jsonl.gz", N + 60))
    document = [[value for sentence in rough[N:] for value in sentence[side]] for side in (0, 1)]
    assert len(document[0]) > 2 * PART
    return [*rough[: N // 2], Sentence(*document), *rough[N // 2 : N]]


@pytest.fixture(scope="module")
def tokens(sentences):
    """Each sentence's tokens, with their features and contexts as buckets."""
    features = new_model("hmm").featurize(batch_of(sentences))
    whole = [
        Token(*map(tuple, pair)) for pair in zip(features.buckets.tolist(), features.contexts.tolist(), strict=True)
    ]
    return [whole[begin:end] for begin, end in zip(features.bounds, features.bounds[1:], strict=False)]


@pytest.mark.parametrize(("kind", "parameters", "twin"), CASES, ids=[f"{kind}-{p}" for kind, p, _ in CASES])
def test_a_tagger_predicts_what_its_twin_does(sentences, tokens, kind, parameters, twin):
    """The same tags wherever a margin is not tiny, the same probability of the sentence, the same weights."""
    model, naive = new_model({"kind": kind} | parameters), twin(**parameters)
    outcome, near = learn(model, sentences), 0
    for (_, tags, weight), own, ours, share in zip(
        sentences, tokens, outcome.tags[0], outcome.confidences[0], strict=True
    ):
        theirs = naive.step(own, tags, weight)
        if theirs is None:
            assert ours == [None] * len(own)
            continue
        near += theirs.margin < NEAR
        if theirs.margin >= NEAR:
            assert ours == [naive.tags[code] for code in theirs.tags]
            assert_allclose(share, np.nan if theirs.probability is None else theirs.probability, rtol=2e-3, atol=1e-4)
    assert near < N / 10
    assert model.labels.names == naive.tags
    assert_same_tables(model, naive, model.learners[kind])


def assert_same_tables(model, naive, tagger):
    """The weights, or the counts, of every feature and of every tag before."""
    n = len(naive.tags)
    if isinstance(naive, NaiveHMM):
        table, rows, twin = tagger.context_counts, model.rows["contexts"], naive.contexts.counts
        after, chain = tagger.bigrams, [naive.after.seen((j,), n) for j in (None, *range(n))]
    else:
        rows, twin = model.rows["tokens"], naive.weights
        table = by_row(tagger, "weights", len(rows))
        after, chain = tagger.transitions, naive.transitions()
    buckets = rows.index.buckets.tolist()
    assert_allclose(table[: len(buckets), :n], [twin.seen(bucket, n) for bucket in buckets], rtol=1e-3, atol=2e-4)
    assert_allclose(after[: n + 1, :n], chain, rtol=1e-3, atol=2e-4)
