"""How clusters agree with labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, tuples
from sklearn.metrics import normalized_mutual_info_score

from streamlin.evaluation.topic_tally import NEW, SIMILARITY, TopicTally
from tests.naive_topics import agreement

Texts = list[tuple[int, int, int]]


def counted(texts: Texts, size: int, window: int = 10) -> tuple[TopicTally, list[int]]:
    """Texts as slot, whether a cluster begins there, and label; the tally, and the numbers of their clusters."""
    tally, numbers, made = TopicTally(1, 3, 4, window), dict[int, int](), 0
    found, new = [], []
    for slot, begins, _ in texts:
        new.append(begins == 0 or slot not in numbers)
        if new[-1]:
            made += 1
            numbers[slot] = made
        found.append(numbers[slot])
    slots = np.array([[slot for slot, *_ in texts]], np.int32)
    labels = np.array([label for *_, label in texts], np.int32)
    for begin in range(0, len(texts), size):
        part = slice(begin, begin + size)
        n = labels[part].size
        tally.update(slots[:, part], np.full((1, n), 0.5), np.array([new])[:, part], labels[part], np.ones(n))
    return tally, found


@settings(deadline=None)
@given(lists(tuples(integers(0, 2), integers(0, 5), integers(-1, 3)), min_size=1, max_size=60), integers(1, 9))
def test_agreement_counts_all_clusters_there_ever_were(texts: Texts, size: int) -> None:
    """Equal to that of all numbers, computed at the end, by a twin and by scikit-learn."""
    tally, found = counted(texts, size)
    pairs = [(number, label) for number, (*_, label) in zip(found, texts, strict=True) if label >= 0]
    assert tally.has_labels == bool(pairs)
    if not pairs:
        assert np.isnan(tally.mutual_information()).all()
        return
    clusters, labels = zip(*pairs, strict=True)
    nmi, purity = agreement(clusters, labels)
    assert tally.mutual_information()[0] == pytest.approx(nmi, abs=1e-9)
    assert tally.mutual_information()[0] == pytest.approx(normalized_mutual_info_score(labels, clusters), abs=1e-9)
    assert tally.purity()[0] == pytest.approx(purity)


def test_shares_are_running_and_of_the_window() -> None:
    """Of texts with a cluster; those of weight 0 and those without words do not count."""
    tally = TopicTally(1, 2, 2, 2)
    slots = np.array([[0, -1, 0, 1, 0]], np.int32)
    similarities = np.array([[np.nan, np.nan, 0.5, 0.25, 0.9]])
    new = np.array([[True, False, False, True, False]])
    none = np.full(5, -1, np.int32)
    tally.update(slots, similarities, new, none, np.array([1.0, 1.0, 2.0, 1.0, 0.0]))
    assert tally.shares(NEW, False)[0] == 2 / 4
    assert tally.shares(SIMILARITY, False)[0] == (2 * 0.5 + 0.25) / 4
    assert tally.shares(NEW, True)[0] == 1 / 3
    assert tally.shares(SIMILARITY, True)[0] == (2 * 0.5 + 0.25) / 3
    assert not tally.has_labels
