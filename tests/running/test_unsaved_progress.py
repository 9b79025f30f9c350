"""What has been processed since the last checkpoint."""

import time

from connectors.kafka.messages import beginning
from streamlin.config import CheckpointConfig, FieldsConfig
from streamlin.events import Records, single_records
from streamlin.formats import open_format
from streamlin.running.unsaved_progress import UnsavedProgress
from streamlin.streams.reader import Portion

DUE = CheckpointConfig(every_events=5, every_seconds=60.0)


def portion(source: str, records: Records, count: int) -> Portion:
    """The portion that a reader makes of the first records."""
    batch, dead = open_format("text", {}, FieldsConfig(), ()).decode(records)
    return Portion(batch[:count], None, dead, records, 0, count, source)


def lines(n: int, part: str = "part") -> Records:
    """Lines of two bytes, including the line feed."""
    return single_records([b"x"] * n, part)


def test_positions_follow_the_processed_records() -> None:
    """The last position of each part of each source."""
    unsaved = UnsavedProgress(DUE)
    assert not unsaved
    assert unsaved.positions("a") == {}
    unsaved.add(portion("a", lines(3), 1), {})
    unsaved.add(portion("a", lines(3), 2), {})
    unsaved.add(portion("a", lines(3, "other"), 3), {})
    unsaved.add(portion("b", lines(3), 1), {})
    assert unsaved
    assert unsaved.positions("a") == {"part": {"offset": 4}, "other": {"offset": 6}}
    assert unsaved.positions("b") == {"part": {"offset": 2}}
    unsaved.clear()
    assert not unsaved
    assert unsaved.positions("a") == unsaved.positions("b") == {}


def test_a_checkpoint_is_due_by_events() -> None:
    """Events of all sources count; those before the last checkpoint don't."""
    unsaved, now = UnsavedProgress(DUE), time.monotonic()
    unsaved.add(portion("a", lines(4), 4), {})
    assert not unsaved.is_due(now)
    unsaved.add(portion("b", lines(1), 1), {})
    assert unsaved.is_due(now)
    unsaved.clear()
    unsaved.add(portion("a", lines(4), 4), {})
    assert not unsaved.is_due(now)


def test_a_checkpoint_is_due_by_time_if_anything_is_new() -> None:
    """The time counts from the last checkpoint."""
    before = time.monotonic()
    unsaved = UnsavedProgress(DUE)
    after = time.monotonic()
    assert not unsaved.is_due(after + 60.0)
    unsaved.add(portion("a", lines(1), 1), {})
    assert not unsaved.is_due(before + 59.0)
    assert unsaved.is_due(after + 60.0)
    unsaved.clear()
    assert not unsaved.is_due(after + 60.0)


def test_new_parts_have_to_be_saved_first() -> None:
    """Unless a checkpoint has the part already."""
    unsaved, begins = UnsavedProgress(DUE), portion("a", beginning("t", 0, 7, 0), 0)
    unsaved.add(begins, {"t/0": {"offset": 7}})
    unsaved.add(portion("a", lines(1, "t/1"), 1), {})
    assert not unsaved.has_new_parts
    unsaved.add(begins, {"t/1": {"offset": 2}})
    unsaved.add(portion("a", lines(1, "t/1"), 1), {})
    assert unsaved.has_new_parts
    assert unsaved.positions("a") == {"t/0": {"offset": 7}, "t/1": {"offset": 2}}
    unsaved.clear()
    assert not unsaved.has_new_parts
