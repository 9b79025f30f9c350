"""The reading side of the loop."""

import itertools
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamlin.config import FieldsConfig, PipelineConfig
from streamlin.errors import ConnectorError
from streamlin.events import Batch, Position, Records, single_records
from streamlin.formats import open_format
from streamlin.running.read_ahead import ReadAhead
from streamlin.streams.reader import Portion, Reader
from streamlin.streams.replay_pace import Pace

DEADLINE = 20.0
BAD = b"no JSON"
Poll = dict[str, list[bytes]] | Exception
"""Part -> its next records; {} where there are none yet."""


def good(number: int) -> bytes:
    return json.dumps({"id": number, "text": f"text {number}"}).encode()


def stream(pattern: Sequence[bool]) -> list[bytes]:
    """A record for each flag, False for a bad one; event i has the id i."""
    return [good(i) if is_good else BAD for i, is_good in enumerate(pattern)]


class MemorySource:
    """Returns the given records poll by poll; those beyond the limit come with the next poll."""

    def __init__(self, *polls: Poll) -> None:
        self._polls = list(polls)
        self._offsets: dict[str, int] = {}
        self.limits: list[int] = []
        self.commits: list[tuple[Mapping[str, Position], int]] = []
        self.threads: set[str] = set()
        self.closed = False

    def poll(self, limit: int) -> list[Records] | None:
        self.limits.append(limit)
        self.threads.add(threading.current_thread().name)
        if not self._polls:
            return None
        found = self._polls.pop(0)
        if isinstance(found, Exception):
            raise found
        taken, rest = [], {}
        for part, payloads in found.items():
            room = limit - sum(map(len, taken))
            if payloads[:room]:
                taken.append(self._records(part, payloads[:room]))
            if payloads[room:]:
                rest[part] = payloads[room:]
        if rest:
            self._polls.insert(0, rest)
        return taken

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        self.threads.add(threading.current_thread().name)
        self.commits.append((positions, number))

    def close(self) -> None:
        self.closed = True

    def _records(self, part: str, payloads: list[bytes]) -> Records:
        """Numbers continue those of the part's earlier records."""
        records = single_records(payloads, part)
        begin = self._offsets.get(part, 0)
        self._offsets[part] = begin + len(payloads)
        records.offsets = np.arange(begin, begin + len(payloads))
        records.nexts = records.offsets + 1
        return records


class EndlessSource(MemorySource):
    """Never ends."""

    def poll(self, limit: int) -> list[Records] | None:
        if not self._polls:
            self._polls.append({"a": [good(0)] * limit})
        return super().poll(limit)


def features_of(batch: Batch) -> Any:
    return [f"features of {text}" for text in batch.texts]


def reader_of(
    source: MemorySource,
    *,
    batch_size: int = 3,
    most_dead: int = 1000,
    limit: int | None = None,
    pace: Pace | None = None,
    stop: threading.Event | None = None,
) -> Reader:
    config = PipelineConfig(batch_size=batch_size, max_consecutive_dead_letters=most_dead)
    decoder = open_format("json", {}, FieldsConfig(), ())
    return Reader(source, decoder, features_of, config, limit, pace, stop or threading.Event())


def read(reader: Iterator[Portion | None] | Reader) -> tuple[list[Portion], str | None]:
    """The portions, and the error that ended them, if any."""
    portions: list[Portion] = []
    try:
        portions.extend(portion for portion in reader if portion is not None)
    except ConnectorError as error:
        return portions, str(error)
    return portions, None


def ids(portions: Sequence[Portion]) -> list[int]:
    return [int(key) for portion in portions for key in portion.batch.ids if key is not None]


def dead(portions: Sequence[Portion]) -> list[int]:
    """Offsets of the dead letters."""
    return [int(portion.records.offsets[letter.record]) for portion in portions for letter in portion.dead]


def assert_covered_once(portions: Sequence[Portion], begin: int = 0) -> int:
    """Each of consecutive portions of a part covers exactly the records from the previous portion's end to its own."""
    for portion in portions:
        end = portion.records.position(portion.count)["offset"]
        here = range(begin, end)
        events = portion.records.offsets[portion.batch.kept].tolist()
        letters = [int(portion.records.offsets[letter.record]) for letter in portion.dead]
        assert sorted(events + letters) == list(here)
        assert [int(key or -1) for key in portion.batch.ids] == events
        assert portion.features == features_of(portion.batch)
        begin = end
    return begin


def test_events_come_in_order_in_batches() -> None:
    source = MemorySource({"a": stream([True] * 4)}, {}, {"a": stream([True] * 7)[4:]})
    seen = list(reader_of(source))
    assert [None if portion is None else portion.batch.ids for portion in seen] == [
        ["0", "1", "2"],
        ["3"],
        None,
        ["4", "5", "6"],
    ]
    portions = [portion for portion in seen if portion is not None]
    assert assert_covered_once(portions) == 7
    assert set(source.limits) == {3}


def test_one_poll_may_return_several_parts() -> None:
    source = MemorySource({"a": stream([True] * 2), "b": stream([False, True])}, {"b": [good(2)], "a": [good(2)]})
    portions, _ = read(reader_of(source, batch_size=10))
    assert [(portion.records.part, portion.batch.ids) for portion in portions] == [
        ("a", ["0", "1"]),
        ("b", ["1"]),
        ("b", ["2"]),
        ("a", ["2"]),
    ]
    for part in "ab":
        assert assert_covered_once([portion for portion in portions if portion.records.part == part]) == 3


def test_few_records_of_a_part_are_no_small_portion_if_many_came_with_them() -> None:
    """So that the next ones are read ahead, whichever part they are of."""
    source = MemorySource({"a": [good(0)] * 60, "b": [good(1)]}, {"b": [good(2)] * 3, "a": [good(3)]}, {"b": [good(4)]})
    portions, _ = read(reader_of(source, batch_size=64))
    counts = [(portion.records.part, portion.count, portion.is_small) for portion in portions]
    assert counts == [("a", 60, False), ("b", 1, False), ("b", 3, False), ("a", 1, False), ("b", 1, True)]


def test_few_long_records_are_no_small_portion() -> None:
    long = json.dumps({"text": "x" * 70_000}).encode()
    portions, _ = read(reader_of(MemorySource({"a": [long]}, {"a": [good(1)]}), batch_size=64))
    assert [portion.is_small for portion in portions] == [False, True]


patterns = st.lists(st.booleans(), max_size=30)


@given(patterns, st.integers(1, 8), st.integers(0, 12))
def test_the_limit_counts_events_not_dead_letters(pattern: list[bool], batch_size: int, limit: int) -> None:
    """Records after the last event are left for the next run."""
    portions, error = read(reader_of(MemorySource({"a": stream(pattern)}), batch_size=batch_size, limit=limit))
    assert error is None
    expected = [i for i, is_good in enumerate(pattern) if is_good][:limit]
    assert ids(portions) == expected
    end = assert_covered_once(portions)
    assert end == (expected[-1] + 1 if limit and len(expected) == limit else len(pattern) if limit else 0)


def test_a_limit_of_zero_polls_nothing() -> None:
    source = MemorySource({"a": stream([True])})
    assert read(reader_of(source, limit=0)) == ([], None)
    assert source.limits == []


@given(patterns, st.integers(1, 8), st.integers(1, 5))
def test_too_many_dead_letters_in_a_row_stop_it(pattern: list[bool], batch_size: int, most_dead: int) -> None:
    """The count goes on from batch to batch; records up to the last one are handed over, and no others."""
    run = [pattern[max(0, i - most_dead + 1) : i + 1] for i in range(len(pattern))]
    stops = next((i for i, flags in enumerate(run) if len(flags) == most_dead and not any(flags)), None)
    portions, error = read(reader_of(MemorySource({"a": stream(pattern)}), batch_size=batch_size, most_dead=most_dead))
    end = assert_covered_once(portions)
    if stops is None:
        assert (error, end) == (None, len(pattern))
    else:
        assert end == stops + 1
        assert error is not None
        assert error.startswith(f"{most_dead} records in a row could not be read, the last at a:{stops}: ")
        assert "are the format and the fields right?" in error
    assert ids(portions) + dead(portions) == ids(portions) + [i for i in range(end) if not pattern[i]]


def test_dead_letters_in_a_row_are_counted_across_parts() -> None:
    source = MemorySource({"a": stream([True, False, False])}, {}, {"b": stream([False, True])})
    portions, error = read(reader_of(source, most_dead=3))
    assert error is not None
    assert "the last at b:0" in error
    assert [portion.count for portion in portions] == [3, 1]


class WaitClock(threading.Event):
    """A clock that only waiting moves; set once `until` is reached."""

    def __init__(self, until: float = float("inf")) -> None:
        super().__init__()
        self.now, self.until = 0.0, until

    def wait(self, timeout: float | None = None) -> bool:
        self.now = min(self.now + (timeout or 0.0), self.until)
        if self.now >= self.until:
            self.set()
        return self.is_set()


def paced(gaps: Sequence[float], clock: WaitClock) -> Pace:
    """Events are due after gaps of seconds, over and over."""
    numbers = itertools.count()

    def schedule(batch: Batch) -> NDArray[np.float64]:
        own = list(itertools.islice(numbers, len(batch)))
        return np.array([sum(gaps[j % len(gaps)] for j in range(i)) for i in own])

    return Pace(schedule, clock, lambda: clock.now)


gaps = st.lists(st.sampled_from([0.0, 0.001, 0.03, 5.0]), min_size=1, max_size=5)


@given(patterns, st.integers(1, 8), gaps, st.none() | st.integers(0, 12))
def test_a_pace_covers_every_record_once(
    pattern: list[bool], batch_size: int, gaps: list[float], limit: int | None
) -> None:
    at_once, paced_ones = (
        read(reader_of(MemorySource({"a": stream(pattern)}), batch_size=batch_size, limit=limit, pace=pace))
        for pace in (None, paced(gaps, WaitClock()))
    )
    assert assert_covered_once(paced_ones[0]) == assert_covered_once(at_once[0])
    assert ids(paced_ones[0]) == ids(at_once[0])
    assert dead(paced_ones[0]) == dead(at_once[0])


@given(patterns, st.integers(1, 8), st.integers(1, 5), st.integers(0, 30))
def test_a_stop_during_a_paced_batch_drops_the_rest(
    pattern: list[bool], batch_size: int, most_dead: int, until: int
) -> None:
    """One event a second; a stop is no failure, even if too many dead letters were about to cause one."""
    clock = WaitClock(until + 0.5)
    source = MemorySource({"a": stream(pattern)})
    portions, error = read(
        reader_of(source, batch_size=batch_size, most_dead=most_dead, pace=paced([1.0], clock), stop=clock)
    )
    end = assert_covered_once(portions)
    assert end <= len(pattern)
    if clock.is_set():
        assert error is None
        assert len(ids(portions)) == until + 1


def test_a_stop_wins_over_too_many_dead_letters() -> None:
    clock = WaitClock(0.5)
    source = MemorySource({"a": stream([True, True, False, False, False])})
    portions, error = read(reader_of(source, batch_size=5, most_dead=3, pace=paced([1.0], clock), stop=clock))
    assert (ids(portions), dead(portions), error) == ([0], [], None)


def test_a_stop_ends_it_before_the_next_poll() -> None:
    stop, source = threading.Event(), EndlessSource()
    seen = []
    for portion in reader_of(source, stop=stop):
        seen.append(portion)
        if len(seen) == 4:
            stop.set()
    assert len(seen) == len(source.limits) == 4


def test_commits_reach_the_source_before_its_next_poll() -> None:
    source = MemorySource({"a": stream([True] * 5)})
    reader = reader_of(source)
    portions = iter(reader)
    next(portions)
    reader.commit({"a": {"offset": 3}}, 1)
    assert source.commits == []
    next(portions)
    assert source.commits == [({"a": {"offset": 3}}, 1)]
    assert list(portions) == []
    reader.commit({"a": {"offset": 5}}, 2)
    reader.close()
    assert source.commits == [({"a": {"offset": 3}}, 1), ({"a": {"offset": 5}}, 2)]
    assert source.closed


def on_a_thread(reader: Reader) -> ReadAhead:
    return ReadAhead(iter(reader), 2, DEADLINE, threading.Event())


def test_reading_ahead_changes_no_portion() -> None:
    pattern = [i % 3 > 0 for i in range(100)]
    direct = read(reader_of(MemorySource({"a": stream(pattern)}), batch_size=7))
    source = MemorySource({"a": stream(pattern)}, {})
    ahead = read(on_a_thread(reader_of(source, batch_size=7)))
    assert [(p.batch.ids, p.dead, p.count) for p in ahead[0]] == [(p.batch.ids, p.dead, p.count) for p in direct[0]]
    assert source.threads == {"streamlin-reader"}


def test_an_error_comes_after_everything_read_before_it() -> None:
    source = MemorySource({"a": stream([True] * 20)}, ConnectorError("the cable was cut"))
    portions, error = read(on_a_thread(reader_of(source)))
    assert ids(portions) == list(range(20))
    assert error == "the cable was cut"
