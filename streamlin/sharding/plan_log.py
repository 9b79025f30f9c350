"""The plans of rounds: up to where each lane reads, written before the round is learned.

After a crash the rounds behind the last checkpoint are run again as they were planned. What a live source has by then
would make other rounds, and so other predictions.
"""

import os
import threading
from pathlib import Path
from typing import Any

import msgspec

from streamlin.errors import CheckpointError, ConnectorError
from streamlin.sharding.cuts import Cuts
from streamlin.storage.own_files import OWN, open_file

FILE, _NEW = "plans.jsonl", "plans.new"
FILES = (FILE, _NEW)
"""The files of plans in a checkpoint's folder."""


class Plan(msgspec.Struct):
    """A round's number, from 1 on, and the cuts of each lane."""

    round: int
    cuts: list[Cuts]


class PlanLog:
    """The plans of the rounds behind a checkpoint, one JSON line each.

    folder : of the checkpoint; None: nothing is written. number : the rounds that are in the checkpoint.

    Raises
    ------
    CheckpointError : a line is not a plan, or a plan is missing.
    """

    def __init__(self, folder: Path | None, number: int, mode: int = OWN) -> None:
        self._path, self._mode, self._lock = None if folder is None else folder / FILE, mode, threading.Lock()
        self._file: int | None = None
        self._plans = self._read(number)
        self._saved = number
        self._rewrite()

    def planned(self, number: int) -> list[Cuts] | None:
        """The cuts of a round that was planned before; None if it was not."""
        with self._lock:
            plan = self._plans.get(number)
        return None if plan is None else plan.cuts

    def write(self, number: int, cuts: list[Cuts]) -> None:
        """Write a plan down, durably."""
        plan = Plan(number, cuts)
        with self._lock:
            self._plans[number] = plan
            if self._file is not None:
                self._write(self._file, _line(plan))

    def saved(self, number: int) -> None:
        """A checkpoint has so many rounds: forget the plans that the one before it has too."""
        with self._lock:
            self._plans = {of: plan for of, plan in self._plans.items() if of > self._saved}
            self._saved = number
            self._rewrite()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _read(self, number: int) -> dict[int, Plan]:
        """The plans in the file; a line without its end was never finished, and its round not begun."""
        if self._path is None or not self._path.exists():
            return {}
        plans = {}
        for place, line in enumerate(self._path.read_bytes().split(b"\n")[:-1], 1):
            try:
                plan = msgspec.json.decode(line, type=Plan)
            except msgspec.MsgspecError as error:
                raise CheckpointError(f"{self._path}:{place} is not the plan of a round: {error}") from None
            plans[plan.round] = plan
        later = [of for of in plans if of > number]
        if sorted(later) != list(range(number + 1, number + 1 + len(later))):
            raise CheckpointError(f"{self._path} lacks the plan of round {number + 1}, which follows the checkpoint")
        return plans

    def _rewrite(self) -> None:
        """Replace the file by one with the plans that are known."""
        if self._path is None:
            return
        self.close()
        new = self._path.with_name(_NEW)
        try:
            new.unlink(missing_ok=True)
            self._file = open_file(new, os.O_WRONLY | os.O_EXCL, self._mode)
            self._write(self._file, b"".join(map(_line, self._plans.values())))
            new.replace(self._path)
        except OSError as error:
            raise ConnectorError(f"can't write {self._path}: {error.strerror}") from None

    def _write(self, file: int, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(file, data) :]
            os.fsync(file)
        except OSError as error:
            raise ConnectorError(f"can't write {self._path}: {error.strerror}") from None


def _line(plan: Plan) -> bytes:
    line: Any = msgspec.json.encode(plan)
    return bytes(line + b"\n")
