"""Templates of log lines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, sampled_from, text

from streamlin.config import DrainConfig
from streamlin.errors import CheckpointError
from streamlin.events import Batch, single_records
from streamlin.features.drain import Drain
from tests.integration.streams import real_events
from tests.naive_drain import NaiveDrain, grouping_accuracy

Line = tuple[int | None, str | None, bool]


def batch(texts: Sequence[str], **columns: Any) -> Batch:
    """Log lines; columns : `template`, `content`, `weights`."""
    n = len(texts)
    none: list[str | None] = [None] * n
    extra = {name: list(columns.get(name, none)) for name in ("template", "content")}
    weights = np.array(columns.get("weights", [1.0] * n))
    return Batch(none, list(texts), none, weights, np.full(n, np.nan), extra, single_records([]), np.arange(n))


def assigned(drain: Drain, texts: Sequence[str], size: int = 1000, **columns: Any) -> list[Line]:
    """Number, text and newness of each line's template, in batches of a size."""
    found: list[Line] = []
    for begin in range(0, len(texts), size):
        part = batch(texts[begin : begin + size], **{name: c[begin : begin + size] for name, c in columns.items()})
        drain.assign(part)
        assert part.templates is not None
        found += [tuple(line) for line in zip(*part.templates.columns().values(), strict=True)]  # type: ignore[misc]
    return [(number, shown, new) for shown, number, new in found]  # type: ignore[misc]


def test_templates_by_hand() -> None:
    """With similarity 0.7::

    send block A now        new, #1
    send block B now        3 of 4 tokens are those of #1: it becomes send block <*> now
    send block 17 now       17 varies, so all 4 are
    send block C then       2 of 4: new, #2
    got block A now         another first token: #3
    send block A right now  another length: #4
    """
    lines = ["send block A now", "send block B now", "send  block 17 now", "send block C then", "got block A now"]
    assert assigned(Drain(DrainConfig()), [*lines, "send block A right now"]) == [
        (1, "send block A now", True),
        (1, "send block <*> now", False),
        (1, "send block <*> now", False),
        (2, "send block C then", True),
        (3, "got block A now", True),
        (4, "send block A right now", True),
    ]


token = sampled_from(["a", "b", "c", "d1", "<*>", "é", "\ud800", "7", "x" * 101, "y" * 100])
line = lists(token, max_size=6).map(" ".join) | text(max_size=20)


@settings(deadline=None, max_examples=60)
@given(lists(line, max_size=40), integers(1, 9), sampled_from([0.3, 0.5, 0.7, 1.0]), integers(1, 12))
def test_templates_are_those_of_the_twin(lines: list[str], size: int, similarity: float, most: int) -> None:
    """Numbers, texts and newness of all lines, for batches of any size and few templates; also after a restore."""
    config = DrainConfig(similarity=similarity, max_templates=most)
    twin, drain = NaiveDrain(similarity, most), Drain(config)
    assert assigned(drain, lines, size) == [twin.learn([one]) for one in lines]
    restored = Drain(config)
    restored.restore(drain.state())
    assert assigned(restored, lines, size) == [twin.learn([one]) for one in lines]
    assert restored.texts == [" ".join(template) for template in twin.templates]


@pytest.mark.parametrize(("name", "least"), [("bgl", 0.968), ("thunderbird", 0.959)])
def test_groups_of_real_logs_are_right(data: Path, name: str, least: float) -> None:
    """Grouping accuracy on the messages, in batches of 1 and 500; each line as the twin has it."""
    events = real_events(data / f"log-{name}-2k.jsonl.gz", 2000)
    texts, contents = ([event[key] for event in events] for key in ("text", "content"))
    found = assigned(Drain(DrainConfig()), texts, 500, content=contents)
    assert found == assigned(Drain(DrainConfig()), texts, 1, content=contents)
    twin = NaiveDrain()
    assert found == [twin.learn([message]) for message in contents]
    assert grouping_accuracy([number for number, *_ in found], [event["template"] for event in events]) >= least


def test_long_lines_are_read_up_to_a_hundred_tokens() -> None:
    drain = Drain(DrainConfig())
    found = assigned(drain, ["a " * 99 + "b c", "a " * 99 + "b d e", "a " * 99 + "x", "a" * 101, "b" * 101])
    assert [number for number, *_ in found] == [1, 1, 1, 2, 2]
    assert drain.texts[1] == "<*>"


def test_pieces_of_a_text_are_one_line() -> None:
    drain, parts = Drain(DrainConfig()), batch(["a b", "c", "a b c", ""])
    parts.pieces = np.array([0, 2, 3, 4])
    for column in (parts.ids, parts.labels, *parts.extra.values()):
        del column[3:]
    parts.weights = np.ones(3)
    drain.assign(parts)
    assert parts.templates is not None
    assert parts.templates.numbers.tolist() == [1, 1, 2]
    assert drain.texts == ["a b c", ""]


def test_names_of_the_events_themselves_are_kept() -> None:
    """Such an event is not read; the others have the numbers of their templates."""
    drain, lines = Drain(DrainConfig()), batch(["a b", "a c", "a b"], template=[None, "E7", None])
    drain.assign(lines)
    assert lines.extra["template"] == ["#1", "E7", "#1"]
    assert lines.templates is not None
    assert lines.templates.to_json()[1] is None
    assert (drain.lines, drain.counts.tolist()) == (2, [2])
    assert [drain.name(value) for value in ("#1", "#2", "E7", "#", "#01x")] == ["#1 a b", "#2", "E7", "#", "#01x"]


def test_lines_of_weight_0_teach_nothing() -> None:
    """Nor do lines that are only looked up."""
    drain = Drain(DrainConfig())
    found = assigned(drain, ["a b c d", "a b c e", "x", "x"], weights=[1, 0, 0, 1])
    assert found == [(1, "a b c d", True), (1, "a b c d", False), (None, "x", True), (2, "x", True)]
    before = {name: array.copy() for name, array in drain.state().items()}
    looked_up = batch(["a b c f", "new 1"])
    drain.assign(looked_up, learn=False)
    assert looked_up.templates is not None
    assert looked_up.templates.to_json() == [
        {"number": 1, "text": "a b c d", "new": False},
        {"number": None, "text": "new <*>", "new": True},
    ]
    assert looked_up.extra["template"] == ["#1", None]
    assert all(np.array_equal(before[name], array) for name, array in drain.state().items())


def test_the_limit_of_templates_holds() -> None:
    drain = Drain(DrainConfig(max_templates=2))
    found = assigned(drain, ["a", "b", "c", "a", "c"], 2)
    assert found == [(1, "a", True), (2, "b", True), (None, "c", True), (1, "a", False), (None, "c", True)]
    assert (len(drain), drain.lines, drain.beyond, drain.is_full) == (2, 5, 2, True)


def test_new_templates_are_counted_from_any_line() -> None:
    drain = Drain(DrainConfig())
    assigned(drain, ["a", "b", "a", "a", "c", "b"], 4)
    assert drain.firsts.tolist() == [0, 1, 4]
    assert [drain.new_since(line) for line in (-3, 0, 1, 2, 4, 5)] == [3, 3, 2, 1, 1, 0]


@pytest.mark.parametrize(
    "forged",
    [
        {"ends": np.array([1, 9])},
        {"ends": np.array([2, 1])},
        {"counts": np.array([1])},
        {"firsts": np.array([1, 0])},
        {"firsts": np.array([0, 7])},
        {"octets": np.frombuffer(b"\xffb", np.uint8)},
        {"octets": np.frombuffer(b"a " * 200, np.uint8), "ends": np.array([1, 400])},
    ],
    ids=str,
)
def test_forged_templates_are_refused(forged: dict[str, Any]) -> None:
    drain = Drain(DrainConfig())
    assigned(drain, ["a", "b"])
    state = drain.state()
    with pytest.raises(CheckpointError):
        Drain(DrainConfig()).restore(state | forged)
    with pytest.raises(CheckpointError):
        Drain(DrainConfig(max_templates=1)).restore(state)
