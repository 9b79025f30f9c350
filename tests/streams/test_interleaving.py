"""Interleaving several readers."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from streamlin.errors import ConnectorError
from streamlin.streams.interleaving import Interleaved
from streamlin.streams.reader import Portion

PATIENCE = 180.0


class Script:
    """A reader that follows a script: portions by number, None for nothing yet, an event to wait for."""

    def __init__(self, name: str, *script: object) -> None:
        self.key, self._script = name, script

    def __iter__(self) -> Iterator[Portion | None]:
        for step in self._script:
            if isinstance(step, threading.Event):
                assert step.wait(PATIENCE)
            elif isinstance(step, Exception):
                raise step
            else:
                yield None if step is None else Portion(None, None, [], None, 0, step, self.key)  # type: ignore[arg-type]


def given(*readers: Script) -> list[str]:
    """The portions in order."""
    with closing(Interleaved(readers)) as interleaved:  # type: ignore[arg-type]
        return [f"{portion.source}{portion.count}" for portion in interleaved if portion is not None]


def test_ready_readers_alternate_strictly() -> None:
    for _ in range(5):
        assert given(Script("a", 1, 2, 3, 4), Script("b", 1, 2)) == ["a1", "b1", "a2", "b2", "a3", "a4"]
    assert given(Script("a"), Script("b", 1)) == ["b1"]
    assert given(Script("a"), Script("b")) == []


def test_a_waiting_reader_does_not_hold_up_the_other() -> None:
    gate = threading.Event()
    interleaved = Interleaved([Script("a", 1, None, gate, 2), Script("b", 1, 2, 3, None, 4)])  # type: ignore[list-item]
    with closing(interleaved):
        seen = []
        for portion in interleaved:
            seen += [f"{portion.source}{portion.count}"] if portion is not None else []
            if "b4" in seen:
                gate.set()
    assert seen == ["a1", "b1", "b2", "b3", "b4", "a2"]


def test_none_is_given_soon_while_no_reader_has_portions() -> None:
    gates = threading.Event(), threading.Event()
    interleaved = Interleaved([Script("a", None, gates[0]), Script("b", None, gates[1])])  # type: ignore[list-item]
    with closing(interleaved):
        begin, count = time.monotonic(), 0
        for portion in interleaved:
            assert portion is None
            count += 1
            if count == 5:
                assert time.monotonic() - begin < PATIENCE
                gates[0].set()
                gates[1].set()
    assert count >= 5


def test_an_exception_of_a_reader_is_raised() -> None:
    with pytest.raises(ConnectorError, match="gone"):
        given(Script("a", 1), Script("b", None, ConnectorError("gone")))
