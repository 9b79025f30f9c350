"""Runs with shards, and what they leave in their folders."""

import json
from pathlib import Path
from typing import NamedTuple

from streamlin.checkpoint.file import load
from streamlin.sharding.plan_log import FILE
from tests.integration.streams import assert_same_state, measured

SHARDS = ("--shards", 3, "--set", "mixing.floor=40", "--preset", "accurate")
"""Rounds of 120 events and more."""
OFTEN = ("--set", "checkpoint.every_events=1")
"""A checkpoint after each round."""


class Ran(NamedTuple):
    """The files of a run."""

    folder: Path

    def arguments(self, source: object, *more: object) -> tuple[object, ...]:
        written = ("--predictions", self.folder / "out.jsonl", "--dead-letters", self.folder / "dead.jsonl")
        state = ("--checkpoint", self.folder / "state", "--report", self.folder / "report.json")
        return ("run", source, *SHARDS, *written, *state, *more)

    def assert_same(self, other: "Ran") -> None:
        for name in ("out.jsonl", "dead.jsonl"):
            assert (self.folder / name).read_bytes() == (other.folder / name).read_bytes()
        assert measured(self.folder / "report.json") == measured(other.folder / "report.json")
        assert_same_state(self.folder / "state", other.folder / "state")
        assert load(self.folder / "state")[1]["rounds"] == load(other.folder / "state")[1]["rounds"]

    def last_plan(self) -> int:
        """The last round that was planned."""
        path = self.folder / "state" / FILE
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        return max((json.loads(line)["round"] for line in lines), default=0)

    def dead_letters(self) -> int:
        """Those that are written."""
        path = self.folder / "dead.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def rounds(self) -> int:
        """The rounds in the checkpoint."""
        folder = self.folder / "state"
        return load(folder)[1]["rounds"]["number"] if (folder / "checkpoint.safetensors").exists() else 0
