"""Texts that wait on disk, for more of them than fit into memory.

A checkpoint is two files then, and a kill may come between them. So nothing is taken out of the database before the
checkpoint that knows of it has a successor: what a newer state did is undone when an older one is gone back to.
"""

import math
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.delayed_labels.waiting import Waiting
from streamlin.errors import CheckpointError

NAME = "waiting.sqlite3"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting (
    came INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL, size INTEGER NOT NULL, kept BLOB NOT NULL, gone INTEGER
);
CREATE INDEX IF NOT EXISTS by_id ON waiting (id) WHERE gone IS NULL;
CREATE INDEX IF NOT EXISTS by_end ON waiting (gone) WHERE gone IS NOT NULL;
"""
_ADD = "INSERT INTO waiting (came, id, time, size, kept) VALUES (?, ?, ?, ?, ?)"
_FIND = "SELECT came, kept FROM waiting WHERE id = ? AND gone IS NULL"
_OLDEST = "SELECT came, time, size FROM waiting WHERE came >= ? AND gone IS NULL ORDER BY came LIMIT 1"


class OnDisk:
    """A database of texts by id, in the order in which they came.

    Those that came in the batch which is dealt with are in memory until what was predicted of them is known.

    Parameters
    ----------
    folder : of the checkpoint.
    learners : their number.

    Raises
    ------
    CheckpointError : the file can't be used.
    """

    def __init__(self, folder: Path, learners: int) -> None:
        self._learners = learners
        self._fresh: OrderedDict[str, tuple[int, Waiting]] = OrderedDict()
        self._count = self._size = self._clock = self._saved = self._gone_before = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(folder / NAME, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.executescript(_SCHEMA)
            self._database.execute("BEGIN")
        except (OSError, sqlite3.Error) as error:
            raise CheckpointError(f"{folder / NAME} can't be used: {error}") from None

    def __len__(self) -> int:
        return self._count + len(self._fresh)

    @property
    def size(self) -> int:
        """Characters."""
        return self._size

    def put(self, clock: int, text: Waiting) -> None:
        """A text waits from now on; `clock` is where the stream is, and grows."""
        self._fresh[str(text.id)] = clock, text
        self._size += text.size

    def pop(self, clock: int, id_: str) -> Waiting | None:
        """Take a text out, None where there is none of that id."""
        if id_ in self._fresh:
            _, text = self._fresh.pop(id_)
            self._size -= text.size
            return text
        row = self._database.execute(_FIND, (id_,)).fetchone() if self._count else None
        if row is None:
            return None
        text = _unpacked(id_, row[1], self._learners)
        self._end(clock, row[0], text.size)
        return text

    def oldest(self) -> float:
        """The time of the text that came first."""
        if self._count:
            self._gone_before, time, _ = self._database.execute(_OLDEST, (self._gone_before,)).fetchone()
            return math.nan if time is None else float(time)
        _, text = next(iter(self._fresh.values()))
        return text.time

    def drop_oldest(self, clock: int) -> None:
        """Take that text out."""
        if self._count:
            came, _, size = self._database.execute(_OLDEST, (self._gone_before,)).fetchone()
            self._end(clock, came, size)
            return
        _, (_, text) = self._fresh.popitem(last=False)
        self._size -= text.size

    def settle(self) -> None:
        """What was predicted of the texts of this batch is known."""
        rows = [(clock, text.id, _or_none(text.time), text.size, _packed(text)) for clock, text in self._fresh.values()]
        self._do(_ADD, rows)
        self._count += len(rows)
        self._fresh.clear()

    def state(self, clock: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Make all durable, for the next checkpoint; nothing of it is in arrays."""
        self._do("DELETE FROM waiting WHERE gone <= ?", [(self._saved,)])
        self._restart()
        before, self._saved = self._saved, clock
        return {}, {"on_disk": {"clock": clock, "before": before}}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Undo what was done after the checkpoint with this state."""
        if "on_disk" not in rest:
            raise CheckpointError("the texts that wait are in the checkpoint; go on with delayed_labels.store=memory")
        clock = rest["on_disk"]["clock"]
        self._saved = rest["on_disk"]["before"]
        self._do("DELETE FROM waiting WHERE came > ?", [(clock,)])
        self._do("UPDATE waiting SET gone = NULL WHERE gone > ?", [(clock,)])
        self._restart()
        found = self._database.execute("SELECT count(*), total(size) FROM waiting WHERE gone IS NULL").fetchone()
        self._count, self._size, self._gone_before = int(found[0]), int(found[1]), 0

    def close(self) -> None:
        """Leave it as the last checkpoint has it."""
        self._database.close()

    def _end(self, clock: int, came: int, size: int) -> None:
        self._do("UPDATE waiting SET gone = ? WHERE came = ?", [(clock, came)])
        self._count -= 1
        self._size -= size

    def _restart(self) -> None:
        self._do("COMMIT", [()])
        self._do("BEGIN", [()])

    def _do(self, statement: str, rows: list[Any]) -> None:
        try:
            if len(rows) == 1:
                self._database.execute(statement, rows[0])
            else:
                self._database.executemany(statement, rows)
        except sqlite3.Error as error:  # a full disk
            raise CheckpointError(f"{NAME} can't be written: {error}") from None


def _packed(text: Waiting) -> bytes:
    kept = (
        text.texts,
        text.extra,
        text.weight,
        _or_none(text.time),
        text.number,
        text.scores.shape[1],
        text.scores.tobytes(),
        text.baselines.tobytes(),
    )
    return msgspec.msgpack.encode(kept)


def _unpacked(id_: str, kept: bytes, learners: int) -> Waiting:
    texts, extra, weight, time, number, known, scores, baselines = msgspec.msgpack.decode(kept)
    text = Waiting(id_, tuple(texts), tuple(extra), weight, math.nan if time is None else time, number)
    text.scores = np.frombuffer(scores).reshape(learners, known)
    text.baselines = np.frombuffer(baselines, np.int32)
    return text


def _or_none(time: float) -> float | None:
    return None if math.isnan(time) else time
