"""What was dealt with since the last checkpoint."""

import time

from connectors.kafka.messages import beginning
from streamlin.config import CheckpointConfig, FieldsConfig
from streamlin.events import Records, single_records
from streamlin.formats import open_format
from streamlin.running.unsaved_progress import UnsavedProgress
from streamlin.streams.reader import Portion

DUE = CheckpointConfig(every_events=5, every_seconds=60.0)


def portion(source: str, records: Records, count: int) -> Portion:
    """What a reader makes of the first records."""
    batch, dead = open_format("text", {}, FieldsConfig(), ()).decode(records)
    return Portion(batch[:count], None, dead, records, 0, count, source)


def lines(n: int, part: str = "part") -> Records:
    """Lines of two bytes, the line feed among them."""
    return single_records([b"x"] * n, part)


def test_positions_are_those_behind_what_was_dealt_with() -> None:
    """Of each part of each source, the last one."""
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


def test_due_by_events() -> None:
    """Of whatever source; those before the last checkpoint don't count."""
    unsaved, now = UnsavedProgress(DUE), time.monotonic()
    unsaved.add(portion("a", lines(4), 4), {})
    assert not unsaved.is_due(now)
    unsaved.add(portion("b", lines(1), 1), {})
    assert unsaved.is_due(now)
    unsaved.clear()
    unsaved.add(portion("a", lines(4), 4), {})
    assert not unsaved.is_due(now)


def test_due_by_time_where_there_is_something() -> None:
    """Counted from the last checkpoint on."""
    before = time.monotonic()
    unsaved = UnsavedProgress(DUE)
    after = time.monotonic()
    assert not unsaved.is_due(after + 60.0)
    unsaved.add(portion("a", lines(1), 1), {})
    assert not unsaved.is_due(before + 59.0)
    assert unsaved.is_due(after + 60.0)
    unsaved.clear()
    assert not unsaved.is_due(after + 60.0)


def test_where_a_part_begins_has_to_be_saved_first() -> None:
    """Unless a checkpoint has the part; what was read of it says no more than that."""
    unsaved, begins = UnsavedProgress(DUE), portion("a", beginning("t", 0, 7, 0), 0)
    unsaved.add(begins, {"t/0": {"offset": 7}})
    unsaved.add(portion("a", lines(1, "t/1"), 1), {})
    assert not unsaved.begins
    unsaved.add(begins, {"t/1": {"offset": 2}})
    unsaved.add(portion("a", lines(1, "t/1"), 1), {})
    assert unsaved.begins
    assert unsaved.positions("a") == {"t/0": {"offset": 7}, "t/1": {"offset": 2}}
    unsaved.clear()
    assert not unsaved.begins
