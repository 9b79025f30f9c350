"""Texts that wait on disk, for more texts than fit into memory.

A checkpoint then consists of two files, and a kill may come between them. So a row is deleted from the database only
when no checkpoint needs it any more: resuming from an older checkpoint undoes the changes made after it.
"""

import math
import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.delayed_labels.form import Form
from streamlin.delayed_labels.waiting import WaitingText
from streamlin.errors import CheckpointError, ConnectorError
from streamlin.storage.arrays import Expected
from streamlin.storage.own_files import OWN, make_folder, open_file

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
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT)
_ADD = "INSERT INTO waiting (came, id, time, size, kept) VALUES (?, ?, ?, ?, ?)"
_FIND = "SELECT kept FROM waiting WHERE id = ? AND gone IS NULL"
_FIND_OLDEST = "SELECT kept FROM waiting WHERE came = ?"
_GONE_BY_ID = "UPDATE waiting SET gone = ? WHERE id = ? AND gone IS NULL"
_GONE = "UPDATE waiting SET gone = ? WHERE came = ?"
_OLDEST = "SELECT came, time, size, id FROM waiting WHERE came >= ? AND gone IS NULL ORDER BY came LIMIT 1"


class _Kept(msgspec.Struct, array_like=True):
    """What a row keeps of a text, see `WaitingText`; older rows have no values, and most were not asked."""

    texts: tuple[str, ...]
    extra: tuple[str | None, ...]
    weight: float
    time: float | None
    number: int
    known: int
    scores: bytes
    codes: bytes
    values: tuple[float, ...] | None = None
    asked: float = 0.0


class OnDisk:
    """A store in a database; see `Store`.

    Texts of the current batch are in memory until their predictions are known.

    Parameters
    ----------
    folder : of the checkpoint.
    form : of the texts.
    mode : permissions of the files, see `streamlin.storage.own_files`.

    Raises
    ------
    CheckpointError : the file is damaged. ConnectorError : it can't be written.
    """

    def __init__(self, folder: Path, form: Form, mode: int = OWN) -> None:
        self._form, self._path = form, folder / NAME
        self._new: OrderedDict[str, tuple[int, WaitingText]] = OrderedDict()
        self._count = self._size = self._saved = self._oldest_from = 0
        try:
            make_folder(folder, mode)
            os.close(open_file(self._path, os.O_RDWR, mode))  # SQLite gives its other files the same permissions
        except OSError as error:
            raise ConnectorError(f"{self._path} can't be written: {error.strerror}") from None
        self._database = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        with self._failing():
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.executescript(_SCHEMA)
            self._database.execute("BEGIN")

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
        row = self._row(_FIND, id_) if self._count else None
        return None if row is None else _unpacked(id_, row[0], self._form)

    def remove(self, clock: int, text: WaitingText) -> None:
        """Remove a text that `get` has returned."""
        if self._new.pop(str(text.id), None) is not None:
            self._size -= text.size
        else:
            self._mark_gone(_GONE_BY_ID, clock, text.id, text.size)

    def oldest(self) -> float:
        """The time of the oldest text, NaN if it has none."""
        if self._count:
            self._oldest_from, time, *_ = self._row(_OLDEST, self._oldest_from)
            return math.nan if time is None else float(time)
        _, text = next(iter(self._new.values()))
        return text.time

    def pop_oldest(self, clock: int) -> WaitingText:
        """Remove the oldest text and return it."""
        if self._count:
            came, _, size, id_ = self._row(_OLDEST, self._oldest_from)
            self._mark_gone(_GONE, clock, came, size)
            (kept,) = self._row(_FIND_OLDEST, came)
            return _unpacked(id_, kept, self._form)
        _, (_, text) = self._new.popitem(last=False)
        self._size -= text.size
        return text

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

    def expected(self, n_labels: int, rest: Mapping[str, Any]) -> dict[str, Expected]:
        """No arrays; see `Store`."""
        _check_kind(rest)
        return {}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Undo all changes made after the checkpoint with this state."""
        _check_kind(rest)
        clock = rest["on_disk"]["clock"]
        self._saved = rest["on_disk"]["before"]
        self._execute("DELETE FROM waiting WHERE came > ?", [(clock,)])
        self._execute("UPDATE waiting SET gone = NULL WHERE gone > ?", [(clock,)])
        self._commit()
        found = self._row("SELECT count(*), total(size) FROM waiting WHERE gone IS NULL")
        self._count, self._size, self._oldest_from = int(found[0]), int(found[1]), 0

    def close(self) -> None:
        """Close the database without keeping changes since the last checkpoint."""
        self._database.close()

    def _mark_gone(self, statement: str, clock: int, which: int | str | None, size: int) -> None:
        self._execute(statement, [(clock, which)])
        self._count -= 1
        self._size -= size

    def _commit(self) -> None:
        self._execute("COMMIT", [()])
        self._execute("BEGIN", [()])

    def _execute(self, statement: str, rows: list[Any]) -> None:
        with self._failing():
            if len(rows) == 1:
                self._database.execute(statement, rows[0])
            else:
                self._database.executemany(statement, rows)

    def _row(self, statement: str, *values: Any) -> Any:
        """The first row that a query finds; None if there is none."""
        with self._failing():
            return self._database.execute(statement, values).fetchone()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Raise CheckpointError where the file is no database any more, ConnectorError where the disk is full."""
        try:
            yield
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF in _DAMAGED:
                raise CheckpointError(f"{self._path} is damaged: {error}") from None
            raise ConnectorError(f"{self._path} can't be written: {error}") from None


def _check_kind(rest: Mapping[str, Any]) -> None:
    if "on_disk" not in rest:
        raise CheckpointError("the checkpoint holds the waiting texts: resume with delayed_labels.store=memory")


def _packed(text: WaitingText) -> bytes:
    kept = (
        text.texts,
        text.extra,
        text.weight,
        _none_if_nan(text.time),
        text.number,
        text.scores.shape[1],
        text.scores.tobytes(),
        text.codes.tobytes(),
        text.values,
    )
    return msgspec.msgpack.encode((*kept, text.asked) if text.asked else kept)


def _unpacked(id_: str, kept: bytes, form: Form) -> WaitingText:
    try:
        row = msgspec.msgpack.decode(kept, type=_Kept)
        time = math.nan if row.time is None else row.time
        text = WaitingText(id_, row.texts, row.extra, row.weight, time, row.number, values=row.values or None)
        text.scores = np.frombuffer(row.scores).reshape(form.learners, row.known)
        text.codes = np.frombuffer(row.codes, np.int32).reshape(form.shape(row.texts))
        text.asked = row.asked
    except (msgspec.MsgspecError, ValueError, TypeError, CheckpointError) as error:
        raise CheckpointError(f"{NAME} is damaged: the text of id {id_!r:.60}: {error}") from None
    fits = row.number >= 0 and 0.0 <= row.weight < math.inf and 0.0 <= row.asked <= 1.0
    fits = fits and len(row.values or row.texts) == len(row.texts)
    if not (fits and form.in_bounds(text.codes, row.known)):
        raise CheckpointError(f"{NAME} is damaged: the text of id {id_!r:.60}: its numbers are out of bounds")
    return text


def _none_if_nan(time: float) -> float | None:
    return None if math.isnan(time) else time
