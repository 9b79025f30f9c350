"""What comes in: how many features, and how many of them were never seen."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamlin.evaluation.feature_counts import FeatureCounts
from streamlin.features.rows import Examples
from tests.evaluation.scored import cuts

WINDOW = 4
events_of_features = st.lists(st.lists(st.integers(-1, 12), max_size=6), max_size=30)
"""A row for each feature, -1 for none; the first i // 2 rows stand before event i."""


def examples(features: list[list[int]], first: int = 0) -> Examples:
    rows = np.array([row for own in features for row in own], np.int32)
    indptr = np.cumsum([0, *map(len, features)])
    before = (np.arange(len(features)) + first) // 2
    return Examples(indptr, rows, np.ones(rows.size, np.float32), before)


def counted(features: list[list[int]], at: list[int]) -> FeatureCounts:
    inputs = FeatureCounts(["words", "letters"], WINDOW)
    bounds = [0, *sorted(cut for cut in at if cut < len(features)), len(features)]
    for begin, end in pairwise(bounds):
        part = features[begin:end]
        views = {"words": examples(part, begin), "letters": examples([own * 2 for own in part], begin)}
        inputs.update(views, np.ones(len(part)))
    return inputs


def shares(features: list[list[int]], before: list[int]) -> tuple[float | None, float | None]:
    """Mean features an event, and share of those without a row, or with one that the event itself brings."""
    n = sum(map(len, features))
    unseen = sum(not 0 <= row < known for own, known in zip(features, before, strict=True) for row in own)
    return n / len(features) if features else None, unseen / n if n else None


def test_three_events_by_hand() -> None:
    """A feature without a row; one known and one that the event brings; none. A fourth of weight 0 is passed over."""
    inputs = FeatureCounts(["words"], 2)
    batch = Examples(
        np.array([0, 1, 3, 3, 4]), np.array([-1, 0, 1, 0], np.int32), np.ones(4, np.float32), np.array([0, 1, 2, 2])
    )
    inputs.update({"words": batch, "unused": batch}, np.array([1.0, 3.0, 0.5, 0.0]))
    assert inputs.to_json() == {
        "words": {"features": 1.0, "unseen": 2 / 3, "window_features": 1.0, "window_unseen": 1 / 2}
    }


@given(events_of_features, cuts)
def test_equals_its_twin(features: list[list[int]], at: list[int]) -> None:
    report = counted(features, at).to_json()
    before = [i // 2 for i in range(len(features))]
    for view, factor in (("words", 1), ("letters", 2)):
        row, own = report[view], [event * factor for event in features]
        assert (row["features"], row["unseen"]) == shares(own, before)
        assert (row["window_features"], row["window_unseen"]) == shares(own[-WINDOW:], before[-WINDOW:])


@given(events_of_features, cuts, st.integers(0, 30))
def test_batches_and_a_restore_change_nothing(features: list[list[int]], at: list[int], cut: int) -> None:
    whole, resumed = counted(features, []), FeatureCounts(["words", "letters"], WINDOW)
    cut = min(cut, len(features))
    resumed.restore(counted(features[:cut], at).state())
    part = features[cut:]
    views = {"words": examples(part, cut), "letters": examples([own * 2 for own in part], cut)}
    resumed.update(views, np.ones(len(part)))
    for name, array in whole.state().items():
        assert array.tobytes() == resumed.state()[name].tobytes(), name


@given(events_of_features, st.lists(st.integers(0, 30), max_size=4))
def test_what_was_counted_elsewhere_is_added(features, at):
    inputs = FeatureCounts(["words", "letters"], WINDOW)
    for begin, end in pairwise([0, *sorted(cut for cut in at if cut < len(features)), len(features)]):
        own = FeatureCounts(["words", "letters"], max(end - begin, 1))
        part = features[begin:end]
        views = {"words": examples(part, begin), "letters": examples([one * 2 for one in part], begin)}
        own.update(views, np.arange(begin, end) % 3 * 1.0)
        inputs.add(own)
    whole = FeatureCounts(["words", "letters"], WINDOW)
    views = {"words": examples(features), "letters": examples([one * 2 for one in features])}
    whole.update(views, np.arange(len(features)) % 3 * 1.0)
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, inputs.state()[name])
