"""Clusterers beside their twins."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, sampled_from, tuples
from numpy.testing import assert_allclose

from streamlin.errors import CheckpointError, ConfigError
from streamlin.features.rows import Examples
from streamlin.topics.base import Assigned, Clusterer
from streamlin.topics.leader import KMeans, Leader
from streamlin.topics.soft_k_means import SoftKMeans
from tests.naive_topics import NaiveLeader, NaiveSoftKMeans

WORDS = "abcdefgh"
Text = tuple[str, float]


def examples(texts: Sequence[str]) -> Examples:
    """Texts whose letters are words, each counted once, with a row each."""
    rows = [[WORDS.index(letter) for letter in dict.fromkeys(text)] for text in texts]
    indptr = np.cumsum([0, *map(len, rows)])
    flat = np.array([row for own in rows for row in own], np.int32)
    return Examples(indptr, flat, np.ones(flat.size, np.float32), np.zeros(len(texts), np.int64))


def assigned(
    learner: Clusterer, texts: Sequence[Text], size: int = 1000
) -> list[tuple[int | None, float | None, bool]]:
    """Number, similarity and newness of each text's cluster, in batches of a size."""
    found: list[Any] = []
    learner.grow(len(WORDS))
    for begin in range(0, len(texts), size):
        part = texts[begin : begin + size]
        one: Assigned = learner.assign(examples([text for text, _ in part]), np.array([weight for _, weight in part]))
        found += zip(one.numbers.tolist(), one.similarities.tolist(), one.new.tolist(), strict=True)
    return [(number or None, None if math.isnan(share) else share, new) for number, share, new in found]


text = tuples(lists(sampled_from(WORDS), max_size=5).map("".join), sampled_from([1.0, 1.0, 1.0, 0.0, 2.5]))
KINDS: list[tuple[Any, Any]] = [
    (lambda k: Leader(clusters=k), lambda k: NaiveLeader(k)),
    (lambda k: Leader(similarity=0.6, clusters=k), lambda k: NaiveLeader(k, 0.6)),
    (lambda k: KMeans(clusters=k), lambda k: NaiveLeader(k, fixed=True)),
    (lambda k: SoftKMeans(clusters=k), lambda k: NaiveSoftKMeans(k)),
    (lambda k: SoftKMeans(clusters=k, a=0.5), lambda k: NaiveSoftKMeans(k, 0.5)),
]


def check_same(found: Sequence[Any], twin: Sequence[Any]) -> None:
    """Equal up to rounding; where two clusters are equally good, only how good they are."""
    for (number, share, new), (twin_number, twin_share, twin_new) in zip(found, twin, strict=True):
        assert new == twin_new
        assert (share is None) == (twin_share is None)
        if share is not None:
            assert share == pytest.approx(min(1.0, twin_share), abs=1e-9)
        assert number == twin_number


@pytest.mark.parametrize(("make", "naive"), KINDS)
@settings(deadline=None, max_examples=40)
@given(texts=lists(text, max_size=40), size=integers(1, 7), clusters=integers(2, 5))
def test_clusters_are_those_of_the_twin(make: Any, naive: Any, texts: list[Text], size: int, clusters: int) -> None:
    """For batches of any size; a restored clusterer goes on as the first one, bit for bit."""
    learner, twin = make(clusters), naive(clusters)
    found = assigned(learner, texts, size)
    whole = make(clusters)
    assert found == assigned(whole, texts)
    expected = [twin.learn(dict.fromkeys(words, 1.0), weight) for words, weight in texts]
    if not _has_ties(twin, expected, found):
        check_same(found, expected)
    restored = make(clusters)
    restored.restore({name: array.copy() for name, array in learner.state(len(WORDS)).items()})
    assert assigned(restored, texts) == assigned(learner, texts)
    for name, array in learner.state(len(WORDS)).items():
        assert array.tobytes() == restored.state(len(WORDS))[name].tobytes(), name


def _has_ties(twin: Any, expected: Sequence[Any], found: Sequence[Any]) -> bool:
    """Whether the two first part at a text that fits two clusters equally well, up to rounding."""
    for (number, share, new), (twin_number, twin_share, twin_new) in zip(found, expected, strict=True):
        if (number, new) != (twin_number, twin_new):
            return share is not None and twin_share is not None and abs(share - twin_share) < 1e-9
    return False


def test_leaders_by_hand() -> None:
    """Similarity 0.5, two clusters::

    ab   n = 0: idf log(1 / 0.5) for both; begins #1, S = (log 2, log 2)
    ab   n = 1, df = 1: log(2 / 1.5) for both; the cosine is 1: #1
    cd   n = 2: no common word; begins #2
    ab   n = 3, df = 2: log(4 / 2.5): the cosine is 1: #1
    ef   n = 4: begins #3 in place of the lighter #2
    cd   n = 5: #2 is gone: begins #4 in place of #3
    """
    learner = Leader(similarity=0.5, clusters=2)
    found = assigned(learner, [(words, 1.0) for words in ("ab", "ab", "cd", "ab", "ef", "cd")])
    assert [(number, new) for number, _, new in found] == [
        (1, True),
        (1, False),
        (2, True),
        (1, False),
        (3, True),
        (4, True),
    ]
    assert [share for _, share, _ in found] == pytest.approx([0, 1, 0, 1, 0, 0])
    assert learner.numbers.tolist() == [1, 4]
    assert learner.weights.tolist() == [3, 1]
    ab = math.log(2) + math.log(2 / 1.5) + math.log(4 / 2.5)
    cd = math.log(6 / 1.5)
    assert_allclose(learner._sums[:4], [[ab, 0], [ab, 0], [0, cd], [0, cd]])


def test_soft_shares_by_hand() -> None:
    """a = 1; a begins #1, b begins #2. Then ab, with T = (1/2, 1/2), N_ja = (1, 0), N_jb = (0, 1)::

        q_1 ~ D_1 (1 + 1/2) / (1 + 1) / (1/2)  (0 + 1/2) / (1 + 1) / (1/2) = 1 * 3/2 * 1/2 = q_2

    so q = (1/2, 1/2). Then a, with D = (3/2, 3/2) and N_a = (3/2, 1/2), N_j = 2::

        q_1 ~ (3/2 + 1/2) / 3 / (1/2) = 4/3,   q_2 ~ (1/2 + 1/2) / 3 / (1/2) = 2/3:   q = (2/3, 1/3)
    """
    learner = SoftKMeans(clusters=2, a=1.0)
    found = assigned(learner, [("a", 1.0), ("b", 1.0), ("ab", 1.0), ("a", 1.0)])
    assert [(number, new) for number, _, new in found] == [(1, True), (2, True), (1, False), (1, False)]
    assert found[2][1] == pytest.approx(1 / 2)
    assert found[3][1] == pytest.approx(2 / 3)
    assert_allclose(learner.weights, [1 + 1 / 2 + 2 / 3, 1 + 1 / 2 + 1 / 3])


def test_a_given_up_cluster_leaves_nothing() -> None:
    """Its sums are 0, so the next one in its place is as in a new clusterer."""
    learner = Leader(similarity=0.9, clusters=2)
    assigned(learner, [("abc", 1.0), ("abc", 1.0), ("de", 1.0), ("fg", 1.0), ("h", 1.0)])
    assert learner.numbers.tolist() == [1, 4]
    assert np.flatnonzero(learner._sums[:, 1]).tolist() == [7]


@pytest.mark.parametrize("bad", [{"similarity": 0}, {"similarity": 1}, {"clusters": 1}, {"clusters": 1001}], ids=str)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Leader(**bad)


def test_forged_clusters_are_refused() -> None:
    learner = Leader(clusters=2)
    assigned(learner, [("ab", 1.0), ("cd", 1.0)])
    state = learner.state(len(WORDS))
    for forged in (
        {"sizes": state["sizes"] + 1},
        {"counts": np.array([2.0, 2.0, 3.0])},
        {"counts": np.array([2, 0, 1.0])},
    ):
        with pytest.raises(CheckpointError):
            Leader(clusters=2).restore(state | forged)
    soft = SoftKMeans(clusters=2)
    assigned(soft, [("ab", 1.0), ("cd", 1.0)])
    with pytest.raises(CheckpointError):
        SoftKMeans(clusters=2).restore(soft.state(len(WORDS)) | {"words": np.zeros(2)})
