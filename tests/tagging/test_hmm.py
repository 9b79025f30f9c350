"""The hidden Markov model's counts and probabilities, by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamlin.errors import ConfigError
from streamlin.tagging.hmm import HMM
from streamlin.tagging.templates import LEVELS
from tests.tagging.running import Sentence, batch_of, learn, new_model, predict

TWO = [Sentence(["the", "dog", "barks"], ["D", "N", "V"]), Sentence(["the", "cat"], ["D", "N"])]
D, N = 0, 1
START = 0
"""The row of the sentence's start; that of tag k is k + 1."""


def taught(sentences=TWO, **parameters):
    model = new_model({"kind": "hmm"} | parameters)
    learn(model, sentences)
    return model, model.learners["hmm"]


def test_counts_of_order_one_by_hand():
    """the/D dog/N barks/V, the/D cat/N::

    N(k)      D 2, N 2, V 1, of 5
    N(j, k)   start D 2; D N 2; N V 1
    """
    _, hmm = taught(order=1)
    assert hmm.tag_counts[:3].tolist() == [2, 2, 1]
    assert hmm.total.tolist() == [5]
    assert hmm.bigrams[:4, :3].tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 1], [0, 0, 0]]
    assert hmm.bigram_totals[:4].tolist() == [2, 2, 1, 0]
    assert hmm.n_pairs.tolist() == [0]


def test_counts_of_order_two_by_hand():
    """Pairs of tags before each tag, with as many starts as are missing::

    start start   D 2
    start D       N 2
    D N           V 1
    """
    _, hmm = taught(order=2)
    rows = hmm.pair_rows
    assert [rows[START, START], rows[START, D + 1], rows[D + 1, N + 1]] == [0, 1, 2]
    assert hmm.trigrams[:3, :3].tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 1]]
    assert hmm.trigram_totals[:3].tolist() == [2, 2, 1]
    assert hmm.n_pairs.tolist() == [3]
    assert (rows >= 0).sum() == 3


def test_counts_of_words_and_their_parents_by_hand():
    """the 2 D, dog 1 N, barks 1 V, cat 1 N; all have the shape of lower-case words, which thus has 2 D, 2 N, 1 V."""
    model, hmm = taught()
    batch = [Sentence(["the", "dog", "barks", "cat"], [None] * 4)]
    contexts = contexts_of(model, batch)
    assert contexts.shape == (4, LEVELS)
    words, shape = contexts[:, LEVELS - 1], set(contexts[:, 0].tolist())
    assert hmm.context_counts[words, :3].tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    assert hmm.context_totals[words].tolist() == [2, 1, 1, 1]
    assert len(shape) == 1
    assert hmm.context_counts[shape.pop(), :3].tolist() == [2, 2, 1]


def contexts_of(model, sentences):
    """The rows of the contexts of all tokens."""
    features = model.featurize(batch_of(sentences))
    learned = np.zeros(len(sentences), np.bool_)
    return model.rows["contexts"].assign(features.bounds, features.contexts, learned)[0]


def test_frequent_words_no_longer_count_for_their_suffixes():
    """The word's own count goes on; its shape keeps the first ten."""
    model, hmm = taught([Sentence(["the"], ["D"])] * 25)
    (contexts,) = contexts_of(model, [Sentence(["the"], [None])])
    assert hmm.context_totals[contexts].tolist() == [10] * (LEVELS - 1) + [25]


def test_a_prediction_by_hand():
    """theta = 1, alpha = 5, order 1; the sentence "the" after TWO.

    Priors: P(k) = (N(k) + 1/3) / 6: D 7/18, N 7/18, V 4/18.
    The shape holds 2 D, 2 N, 1 V: p = ((2, 2, 1) + P) / 6 = (43, 43, 22) / 108.
    The suffixes e, he and the, the latter as three and as up to four characters, hold "the" alone, twice, as does the
    word. Each of the five levels gives p <- ((2, 0, 0) + p) / 3: P(N) = 43/108 / 3^5 = 0.0016, P(V) = 0.0008, P(D) the
    rest. V is below a thousandth of P(D) and left out. P(k | start) = ((2, 0, 0) + 5 P) / 7: D 71/126, N 35/126.
    A tag's product is P(k | start) P(k | the) / P(k); the confidence is D's share of their sum.
    """
    model, _ = taught(order=1)
    outcome = predict(model, [Sentence(["the"], [None])])
    n, v = 43 / 108 / 3**5, 22 / 108 / 3**5
    products = np.array([71 / 126 * (1 - n - v), 35 / 126 * n]) / (7 / 18)
    assert outcome.tags == [[["D"]]]
    assert_allclose(outcome.confidences, products[D] / products.sum(), rtol=1e-6)


def test_an_unknown_tag_breaks_the_chain_of_counts():
    """a/X b/? c/Y: Y is counted, but follows nothing; of order 2, so does the tag behind it that needs both before."""
    _, hmm = taught([Sentence(["a", "b", "c", "d"], ["X", None, "Y", "X"])], order=2)
    assert hmm.tag_counts[:2].tolist() == [2, 1]
    assert hmm.bigrams[:3, :2].tolist() == [[1, 0], [0, 0], [1, 0]]
    assert hmm.n_pairs.tolist() == [1]
    assert hmm.trigram_totals[0] == 1


def test_a_weight_counts_that_often():
    _, hmm = taught([Sentence(["a", "b"], ["X", "Y"], 2.5)], order=2)
    assert hmm.tag_counts[:2].tolist() == [2.5, 2.5]
    assert hmm.bigrams[:3, :2].tolist() == [[2.5, 0], [0, 2.5], [0, 0]]
    assert hmm.trigram_totals[:2].tolist() == [2.5, 2.5]


@pytest.mark.parametrize("wrong", [{"order": 3}, {"order": 0}, {"theta": 0}, {"alpha": -1}])
def test_parameters_outside_their_limits_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        HMM(**wrong)
