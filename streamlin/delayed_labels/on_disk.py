"""Texts that wait on disk, for more texts than fit into memory.

A checkpoint then consists of two files, and a kill may come between them. So a row is deleted from the database only
when no checkpoint needs it any more: resuming from an older checkpoint undoes the changes made after it.
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

from streamlin.delayed_labels.waiting import WaitingText
from streamlin.errors import CheckpointError

NAME = "waiting.sqlite3"
FILES = (NAME, f"{NAME}-wal", f"{NAME}-shm")
"""The database, and the files that SQLite keeps beside it."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting (
    came INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL, size INTEGER NOT NULL, kept BLOB NOT NULL, gone INTEGER
);
CREATE INDEX IF NOT EXISTS by_id ON waiting (id) WHERE gone IS NULL;
CREATE INDEX IF NOT EXISTS by_end ON waiting (gone) WHERE gone IS NOT NULL;
"""
_ADD = "INSERT INTO waiting (came, id, time, size, kept) VALUES (?, ?, ?, ?, ?)"
_FIND = "SELECT came, size, kept FROM waiting WHERE id = ? AND gone IS NULL"
_OLDEST = "SELECT came, time, size FROM waiting WHERE came >= ? AND gone IS NULL ORDER BY came LIMIT 1"


class OnDisk:
    """A store in a database; see `Store`.

    Texts of the current batch are in memory until their predictions are known.

    Parameters
    ----------
    folder : of the checkpoint.
    learners : the number of learners.

    Raises
    ------
    CheckpointError : the file can't be used.
    """

    def __init__(self, folder: Path, learners: int) -> None:
        self._learners = learners
        self._new: OrderedDict[str, tuple[int, WaitingText]] = OrderedDict()
        self._count = self._size = self._saved = self._oldest_from = 0
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
        return self._count + len(self._new)

    @property
    def size(self) -> int:
        """Total size of the texts in characters."""
        return self._size

    def put(self, clock: int, text: WaitingText) -> None:
        """Add a text; see `Store`."""
        self._new[str(text.id)] = clock, text
        self._size += text.size

    def get(self, id_: str) -> WaitingText | None:
        """The text of an id; None if no text has it."""
        if id_ in self._new:
            return self._new[id_][1]
        row = self._database.execute(_FIND, (id_,)).fetchone() if self._count else None
        return None if row is None else _unpacked(id_, row[1], self._learners)

    def pop(self, clock: int, id_: str) -> WaitingText | None:
        """Remove the text of an id and return it; None if no text has the id."""
        if id_ in self._new:
            _, text = self._new.pop(id_)
            self._size -= text.size
            return text
        row = self._database.execute(_FIND, (id_,)).fetchone() if self._count else None
        if row is None:
            return None
        came, size, kept = row
        self._mark_gone(clock, came, size)
        return _unpacked(id_, kept, self._learners)

    def oldest(self) -> float:
        """The time of the oldest text, NaN if it has none."""
        if self._count:
            self._oldest_from, time, _ = self._database.execute(_OLDEST, (self._oldest_from,)).fetchone()
            return math.nan if time is None else float(time)
        _, text = next(iter(self._new.values()))
        return text.time

    def drop_oldest(self, clock: int) -> None:
        """Remove the oldest text."""
        if self._count:
            came, _, size = self._database.execute(_OLDEST, (self._oldest_from,)).fetchone()
            self._mark_gone(clock, came, size)
            return
        _, (_, text) = self._new.popitem(last=False)
        self._size -= text.size

    def settle(self) -> None:
        """Write the texts of this batch, whose predictions are kept by now."""
        new = self._new.values()
        rows = [(clock, text.id, _none_if_nan(text.time), text.size, _packed(text)) for clock, text in new]
        self._execute(_ADD, rows)
        self._count += len(rows)
        self._new.clear()

    def state(self, clock: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Make everything durable for the next checkpoint, which gets no arrays."""
        self._execute("DELETE FROM waiting WHERE gone <= ?", [(self._saved,)])
        self._commit()
        before, self._saved = self._saved, clock
        return {}, {"on_disk": {"clock": clock, "before": before}}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Undo all changes made after the checkpoint with this state."""
        if "on_disk" not in rest:
            raise CheckpointError("the checkpoint holds the waiting texts: resume with delayed_labels.store=memory")
        clock = rest["on_disk"]["clock"]
        self._saved = rest["on_disk"]["before"]
        self._execute("DELETE FROM waiting WHERE came > ?", [(clock,)])
        self._execute("UPDATE waiting SET gone = NULL WHERE gone > ?", [(clock,)])
        self._commit()
        found = self._database.execute("SELECT count(*), total(size) FROM waiting WHERE gone IS NULL").fetchone()
        self._count, self._size, self._oldest_from = int(found[0]), int(found[1]), 0

    def close(self) -> None:
        """Close the database without keeping changes since the last checkpoint."""
        self._database.close()

    def _mark_gone(self, clock: int, came: int, size: int) -> None:
        self._execute("UPDATE waiting SET gone = ? WHERE came = ?", [(clock, came)])
        self._count -= 1
        self._size -= size

    def _commit(self) -> None:
        self._execute("COMMIT", [()])
        self._execute("BEGIN", [()])

    def _execute(self, statement: str, rows: list[Any]) -> None:
        try:
            if len(rows) == 1:
                self._database.execute(statement, rows[0])
            else:
                self._database.executemany(statement, rows)
        except sqlite3.Error as error:  # a full disk
            raise CheckpointError(f"{NAME} can't be written: {error}") from None


def _packed(text: WaitingText) -> bytes:
    kept = (
        text.texts,
        text.extra,
        text.weight,
        _none_if_nan(text.time),
        text.number,
        text.scores.shape[1],
        text.scores.tobytes(),
        text.baselines.tobytes(),
        text.values,
    )
    return msgspec.msgpack.encode(kept)


def _unpacked(id_: str, kept: bytes, learners: int) -> WaitingText:
    texts, extra, weight, time, number, known, scores, baselines, *more = msgspec.msgpack.decode(kept)
    values = tuple(more[0]) if more and more[0] else None  # older rows have none
    time = math.nan if time is None else time
    text = WaitingText(id_, tuple(texts), tuple(extra), weight, time, number, values=values)
    text.scores = np.frombuffer(scores).reshape(learners, known)
    text.baselines = np.frombuffer(baselines, np.int32)
    return text


def _none_if_nan(time: float) -> float | None:
    return None if math.isnan(time) else time
