"""The sinks of a run: predictions and dead letters."""

import base64
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import msgspec

from streamlin.addresses import Address, parse_address
from streamlin.errors import ConfigError
from streamlin.events import DeadLetter, Records, Sink
from streamlin.registry import connector

DEAD_LETTER_BYTES = 64 * 1024
_SHOWN = 5


class Output:
    """One sink and its place in a checkpoint."""

    def __init__(self, address: Address, lengths: Mapping[str, Any], defaults: Mapping[str, str]) -> None:
        self.scheme, self.key = address.scheme, address.key
        self.length = lengths.get(self.key)
        self.known = self.key in lengths
        self.sink: Sink = connector("sinks", address.scheme)(
            address.address, {**defaults, **address.options}, self.length
        )


class Outputs:
    """Opens what is configured; every event's prediction and every dead letter goes through here.

    Parameters
    ----------
    predictions, dead_letters : where to; None: nowhere.
    lengths : key of a sink -> length, from a checkpoint.
    notice : shows the user a line.

    Raises
    ------
    ConfigError : both are one file; or as a sink says.
    """

    def __init__(
        self,
        predictions: str | None,
        dead_letters: str | None,
        lengths: Mapping[str, Any],
        notice: Callable[[str], None],
    ) -> None:
        self._notice, self._shown = notice, 0
        self.predictions = self.dead_letters = None
        ours, dead = (None if url is None else parse_address(url, "stdout") for url in (predictions, dead_letters))
        if ours is not None and dead is not None and one_file(ours, dead):  # each would cut off the other's lines
            raise ConfigError(f"sinks.dead_letters: {dead_letters} is where the predictions go; give it another file")
        if ours is not None:
            self.predictions = Output(ours, lengths, {})
        try:
            if dead is not None:
                self.dead_letters = Output(dead, lengths, {"mode": "append"})
        except BaseException:
            self.close()
            raise

    @property
    def to_stdout(self) -> bool:
        """Whether standard output is taken."""
        return any(output.scheme == "stdout" for output in self._open())

    @property
    def new(self) -> bool:
        """Whether a sink is open that the checkpoint doesn't know."""
        return any(not output.known for output in self._open())

    def write_dead(self, letters: list[DeadLetter], records: Records) -> None:
        """Append to the dead letters, or show the first few where they go nowhere."""
        if self.dead_letters is not None and letters:
            self.dead_letters.sink.write(b"".join(dead_letter_line(letter, records) for letter in letters))
            return
        for letter in letters[: _SHOWN - self._shown]:
            self._shown += 1
            last = "; further ones are counted, --dead-letters FILE keeps them" if self._shown == _SHOWN else ""
            self._notice(f"dead letter at {records.name(letter.record)}: {letter.error}{last}")

    def flush(self) -> None:
        """Hand what was written to readers."""
        for output in self._open():
            output.sink.flush()

    def sync(self) -> dict[str, int | None]:
        """Make what was written durable; each sink's length by its key."""
        return {output.key: output.sink.sync() for output in self._open()}

    def close(self) -> None:
        """Close what is open; one that fails keeps no other open."""
        with ExitStack() as outputs:
            for output in self._open():
                outputs.callback(output.sink.close)

    def _open(self) -> list[Output]:
        return [output for output in (self.predictions, self.dead_letters) if output is not None]


def one_file(one: Address, other: Address) -> bool:
    """Whether two addresses are the same file, and no device."""
    path = one.address
    return one.scheme == "file" and one.key == other.key and (os.path.isfile(path) or not os.path.exists(path))


def dead_letter_line(letter: DeadLetter, records: Records) -> bytes:
    """`{"error", "position", "text" or "base64"}`; the bytes cut at 64 KiB, then with `"truncated": true`."""
    start, end = int(records.starts[letter.record]), int(records.ends[letter.record])
    cut = end - start > DEAD_LETTER_BYTES or (letter.record in records.errors and end - start == DEAD_LETTER_BYTES)
    data = records.data[start : min(end, start + DEAD_LETTER_BYTES)]
    line: dict[str, Any] = {"error": letter.error, "position": records.name(letter.record)}
    try:
        line["text"] = data.decode()
    except UnicodeDecodeError as error:
        if cut and error.reason == "unexpected end of data":
            line["text"] = data[: error.start].decode()
        else:
            line["base64"] = base64.b64encode(data).decode()
    if cut:
        line["truncated"] = True
    return msgspec.json.encode(line) + b"\n"
