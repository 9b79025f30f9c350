"""The sinks of a run: predictions and dead letters."""

import base64
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import msgspec
import numpy as np

from streamlin.errors import ConfigError
from streamlin.events import Batch, DeadLetter, Position, Records, SinkContext
from streamlin.registry import connector
from streamlin.streams.addresses import Address, parse_address
from streamlin.streams.prediction_lines import Lines

DEAD_LETTER_BYTES = 64 * 1024
_SHOWN = 5


def _no_settings(scheme: str) -> Mapping[str, Any]:
    return {}


class Output:
    """One sink and its place in a checkpoint."""

    def __init__(self, address: Address, context: SinkContext, known: bool) -> None:
        self.scheme, self.key, self.known = address.scheme, address.key, known
        self.sink: Any = connector("sinks", address.scheme)(address.address, context)
        self.has_messages = hasattr(self.sink, "write_messages")


class Outputs:
    """Opens what is configured; every event's prediction and every dead letter goes through here.

    Parameters
    ----------
    predictions, dead_letters : where to; None: nowhere.
    lengths : key of a sink -> length, from a checkpoint.
    notice : shows the user a line.
    settings : scheme -> its table in the configuration.

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
        settings: Callable[[str], Mapping[str, Any]] = _no_settings,
    ) -> None:
        self._notice, self._shown = notice, 0
        self._lengths, self._settings = lengths, settings
        self.predictions = self.dead_letters = None
        ours, dead = (None if url is None else parse_address(url, "stdout") for url in (predictions, dead_letters))
        if ours is not None and dead is not None and one_file(ours, dead):  # each would cut off the other's lines
            raise ConfigError(f"sinks.dead_letters: {dead_letters} is where the predictions go; give it another file")
        if ours is not None:
            self.predictions = self._opened(ours, {})
        try:
            if dead is not None:
                appended = {"mode": "append"} if dead.scheme == "file" else {}
                self.dead_letters = self._opened(dead, appended)
            self._written: Mapping[str, int] = {}
            if self.predictions is not None and self.predictions.has_messages:
                self._written = self.predictions.sink.written()
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

    @property
    def commit(self) -> bool:
        """Whether a sink commits the source's positions, in `sync`."""
        return any(output.has_messages and output.sink.commits for output in self._open())

    def _opened(self, address: Address, defaults: Mapping[str, str]) -> Output:
        context = SinkContext(
            options={**defaults, **address.options},
            length=self._lengths.get(address.key),
            settings=self._settings(address.scheme),
            notice=self._notice,
        )
        return Output(address, context, address.key in self._lengths)

    def write(self, lines: Lines, batch: Batch) -> None:
        """Append the lines of a batch; of those that were sent for good before this start, none again."""
        output = self.predictions
        if output is None:
            return
        if not output.has_messages:
            output.sink.write(lines.text)
            return
        begin = 0
        if (sent := self._written.get(batch.records.key)) is not None:
            begin = int(np.searchsorted(batch.records.offsets[batch.kept], sent))
        keys: list[Any] = batch.ids
        if None in keys:
            keys = [batch.records.name(batch.kept[i]) if key is None else key for i, key in enumerate(keys)]
        if begin < len(keys):
            output.sink.write_messages(lines.text, lines.bounds[begin:], keys[begin:])

    def write_dead(self, letters: list[DeadLetter], records: Records) -> None:
        """Append to the dead letters, or show the first few where they go nowhere."""
        output = self.dead_letters
        if output is not None and output.has_messages:
            for letter in letters:
                output.sink.write_dead_letter(letter.error, records, letter.record)
            return
        if output is not None and letters:
            output.sink.write(b"".join(dead_letter_line(letter, records) for letter in letters))
            return
        for letter in letters[: _SHOWN - self._shown]:
            self._shown += 1
            last = "; further ones are counted, --dead-letters FILE keeps them" if self._shown == _SHOWN else ""
            self._notice(f"dead letter at {records.name(letter.record)}: {letter.error}{last}")

    def flush(self) -> None:
        """Hand what was written to readers."""
        for output in self._open():
            output.sink.flush()

    def sync(self, positions: Mapping[str, Position]) -> dict[str, int | None]:
        """Make what was written durable, up to where the source goes on; each sink's length by its key."""
        return {
            output.key: output.sink.sync_with(positions) if output.has_messages else output.sink.sync()
            for output in self._open()
        }

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
