"""The log-linear tagger without histories is a maximum-entropy model, as other methods fit it."""

import gzip
import json
from itertools import chain, combinations, islice

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from streamlin.tagging.log_linear import LogLinear
from streamlin.tagging.sentences import Sentences, TagTargets, no_predictions
from streamlin.tagging.templates import LEVELS
from tests.naive_maximum_entropy import MaximumEntropy
from tests.tagging.running import by_row

BLOCKS = (650, 1300, 2600, 5200, 10_400)


def learned(tagger, rows, codes, n_rows, n_tags):
    """Learn events as sentences of one token, float64[n]: the probability of each one's best tag before, and it."""
    n = codes.size
    contexts, none = np.zeros((n, LEVELS), np.int32), np.zeros(n, np.int64)
    sentences = Sentences(np.arange(n + 1), rows, np.full(n, n_rows), contexts, none)
    tagged = no_predictions(n, n, True)
    tagger.grow(n_rows, 0, n_tags)
    tagger.tag_then_learn(sentences, TagTargets(codes, np.full(n, n_tags), np.ones(n)), tagged)
    return tagged.confidences, tagged.tags


@pytest.fixture(scope="module")
def scaled():
    """Random events of two words, whose tags are not certain, and iterative scaling's model of them."""
    random, examples = np.random.default_rng(5), []
    for _ in range(150):
        a, b = random.integers(3), random.integers(2)
        p = np.array([1.0 + a, 2.0, 1.0 + 2 * b])
        examples.append((("bias", f"a{a}", f"b{b}"), "XYZ"[random.choice(3, p=p / p.sum())]))
    model = MaximumEntropy(examples)
    model.fit(400)
    return model


def test_scaling_reaches_the_empirical_counts(scaled):
    """Duality: of all log-linear models, the most probable one has the expectations of the data."""
    expected = scaled.expected()
    assert len(expected) == 18
    for key, count in scaled.empirical.items():
        assert expected[key] == pytest.approx(count, abs=1e-3)


def test_many_passes_reach_what_scaling_does(scaled):
    """The probabilities of every combination of features; and so, nearly, the empirical counts."""
    features = sorted({feature for own, _ in scaled.examples for feature in own})
    row = {feature: number for number, feature in enumerate(features)}
    rows = np.array([[row[feature] for feature in own] for own, _ in scaled.examples], np.int32)
    codes = np.array(["XYZ".index(tag) for _, tag in scaled.examples], np.int32)
    tagger, random = LogLinear(skip=0.0), np.random.default_rng(0)
    for _ in range(300):
        order = random.permutation(codes.size)
        learned(tagger, rows[order], codes[order], len(features), 3)
    chained = tagger.transitions[0, :3] + tagger.pairs[0, :3]
    expected = np.zeros((len(features), 3))
    for own, _ in scaled.examples:
        scores = by_row(tagger, "weights", len(row))[[row[feature] for feature in own], :3].sum(axis=0) + chained
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        assert_allclose(shares, list(scaled.probabilities(own).values()), atol=0.02)
        expected[[row[feature] for feature in own]] += shares
    counts = [[scaled.empirical[feature, tag] for tag in "XYZ"] for feature in features]
    assert_allclose(expected, counts, atol=2.0)


@pytest.fixture(scope="module")
def attachments(data):
    """Rows int32[n, 16] of the subsets of verb, noun, preposition, noun, and codes int32[n] in order of sight."""
    index, tags, rows, codes = {}, {}, [], []
    with gzip.open(data / "pp-attachment.jsonl.gz", "rt", encoding="utf-8") as lines:
        for event in map(json.loads, islice(lines, 2 * BLOCKS[-1])):
            words = event["text"].split(" ")
            subsets = chain.from_iterable(combinations(words, n) for n in range(len(words) + 1))
            rows.append([index.setdefault(subset, len(index)) for subset in subsets])
            codes.append(tags.setdefault(event["label"], len(tags)))
    assert {len(own) for own in rows} == {16}
    return np.array(rows, np.int32), np.array(codes, np.int32), len(index)


def test_one_pass_beats_refits_at_every_doubling(attachments):
    """Attachment of prepositional phrases: maximum likelihood with an L2 penalty, fitted on the first t events and
    scored on the next t, beside what the tagger predicted for these before it learned each.
    """
    rows, codes, n_rows = attachments
    confidences, tags = learned(LogLinear(), rows, codes, n_rows, 2)
    true = np.where(tags == codes, confidences, 1.0 - confidences)
    assert np.isfinite(true).all()
    n, width = rows.shape
    table = csr_array((np.ones(n * width), rows.reshape(-1), np.arange(0, n * width + 1, width)), shape=(n, n_rows))
    online, refitted = [], []
    for t in BLOCKS:
        batch = LogisticRegression(max_iter=1000, fit_intercept=False).fit(table[:t], codes[:t])
        refitted.append(log_loss(codes[t : 2 * t], batch.predict_proba(table[t : 2 * t]), labels=[0, 1]))
        online.append(-np.log(np.maximum(true[t : 2 * t], 1e-12)).mean())
    assert all(ours < theirs for ours, theirs in zip(online, refitted, strict=True)), (online, refitted)
    assert -np.log(np.maximum(true, 1e-12)).mean() < 0.40
    assert (tags == codes).mean() > 0.81
