"""The sinks of a run: predictions, labels that are wanted, and dead letters."""

import base64
from collections.abc import Callable, Mapping, MutableMapping
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
_MAX_SHOWN = 5
"""Dead letters that are shown where no sink takes them."""


def _no_settings(scheme: str) -> Mapping[str, Any]:
    return {}


class _OpenSink:
    """One sink and its key in a checkpoint. known : whether the checkpoint has its length."""

    def __init__(self, address: Address, context: SinkContext, known: bool) -> None:
        self.scheme, self.key, self.known = address.scheme, address.key, known
        self.sink: Any = connector("sinks", address.scheme)(address.address, context)
        self.has_messages = hasattr(self.sink, "write_messages")
        self.written: MutableMapping[str, int] = {}

    def write(self, lines: Lines, batch: Batch) -> None:
        """Append the lines of a batch, except those that were already sent for good before this start."""
        if not self.has_messages:
            self.sink.write(lines.text)
            return
        begin = 0
        if (sent := self.written.get(batch.records.key)) is not None:
            begin = int(np.searchsorted(batch.records.offsets[batch.kept], sent))
        keys = batch.keys()
        if begin < len(keys):
            self.sink.write_messages(lines.text, lines.bounds[begin:], keys[begin:])


class Sinks:
    """The sinks of a run, opened as configured; each may be absent.

    Parameters
    ----------
    predictions, dead_letters, labels_wanted : the sinks' addresses; None: no such sink.
    lengths : key of a sink -> length, from a checkpoint.
    notice : shows the user one line.
    settings : scheme -> its table in the configuration.

    Raises
    ------
    ConfigError : an option of a sink is wrong.
    ConnectorError : a sink can't be written to.
    """

    def __init__(
        self,
        predictions: str | None,
        dead_letters: str | None,
        lengths: Mapping[str, Any],
        notice: Callable[[str], None],
        settings: Callable[[str], Mapping[str, Any]] = _no_settings,
        labels_wanted: str | None = None,
    ) -> None:
        self._notice, self._shown = notice, 0
        self._lengths, self._settings = lengths, settings
        self.predictions = self.labels_wanted = self.dead_letters = None
        main, wanted, dead = (
            None if url is None else parse_address(url, "stdout") for url in (predictions, labels_wanted, dead_letters)
        )
        _refuse_shared_transactions(main, wanted)
        try:
            if main is not None:
                self.predictions = self._opened(main, {})
            if wanted is not None:
                self.labels_wanted = self._opened(wanted, {})
            if dead is not None:
                appended = {"mode": "append"} if dead.scheme == "file" else {}
                self.dead_letters = self._opened(dead, appended)
            for output in self._of_events():
                if output.has_messages:
                    output.written = output.sink.written()
        except BaseException:
            self.close()
            raise

    @property
    def to_stdout(self) -> bool:
        """Whether a sink writes to standard output."""
        return any(output.scheme == "stdout" for output in self._open())

    @property
    def new(self) -> bool:
        """Whether a sink is open that is not in the checkpoint."""
        return any(not output.known for output in self._open())

    @property
    def commit_positions(self) -> bool:
        """Whether a sink commits the source's positions, in `sync`."""
        return any(output.has_messages and output.sink.commits for output in self._open())

    def _opened(self, address: Address, defaults: Mapping[str, str]) -> _OpenSink:
        context = SinkContext(
            options={**defaults, **address.options},
            length=self._lengths.get(address.key),
            settings=self._settings(address.scheme),
            notice=self._notice,
        )
        return _OpenSink(address, context, address.key in self._lengths)

    def begin_anew(self, part: str) -> None:
        """The part, by its key, has new records at offsets of before: no lines of these were sent."""
        for output in self._of_events():
            output.written.pop(part, None)

    def write(self, lines: Lines, batch: Batch) -> None:
        """Append the predictions of a batch."""
        if self.predictions is not None:
            self.predictions.write(lines, batch)

    def write_wanted(self, lines: Lines, batch: Batch) -> None:
        """Append the requests for the labels of events."""
        if self.labels_wanted is not None:
            self.labels_wanted.write(lines, batch)

    def write_dead(self, letters: list[DeadLetter], records: Records) -> None:
        """Append to the dead letters; without a sink for them, show the first few."""
        output = self.dead_letters
        if output is not None and output.has_messages:
            for letter in letters:
                output.sink.write_dead_letter(letter.error, records, letter.record)
            return
        if output is not None and letters:
            output.sink.write(b"".join(dead_letter_line(letter, records) for letter in letters))
            return
        for letter in letters[: _MAX_SHOWN - self._shown]:
            self._shown += 1
            last = "; further ones are counted, --dead-letters FILE keeps them" if self._shown == _MAX_SHOWN else ""
            self._notice(f"dead letter at {records.name(letter.record)}: {letter.error}{last}")

    def flush(self) -> None:
        """Make everything written visible to readers."""
        for output in self._open():
            output.sink.flush()

    def sync(self, positions: Mapping[str, Position]) -> dict[str, int | None]:
        """Make everything written durable. positions : where reading resumes. Returns each sink's length by key."""
        return {
            output.key: output.sink.sync_with(positions) if output.has_messages else output.sink.sync()
            for output in self._open()
        }

    def close(self) -> None:
        """Close the sinks; if one fails, the other is closed all the same."""
        with ExitStack() as outputs:
            for output in self._open():
                outputs.callback(output.sink.close)

    def _open(self) -> list[_OpenSink]:
        return [*self._of_events(), *([] if self.dead_letters is None else [self.dead_letters])]

    def _of_events(self) -> list[_OpenSink]:
        """Those that get lines for events."""
        return [output for output in (self.predictions, self.labels_wanted) if output is not None]


def _refuse_shared_transactions(predictions: Address | None, wanted: Address | None) -> None:
    """Raise ConfigError if two sinks would commit the same group's offsets, each in a transaction of its own.

    A crash between the two would lose the lines of the second: the offsets would say that they were sent.
    """
    if predictions is None or wanted is None:
        return
    for option in ("transactional", "group"):
        if option in wanted.options and predictions.options.get(option) == wanted.options[option]:
            raise ConfigError(
                f"sinks.labels_wanted: {option}={wanted.options[option]} is that of sinks.predictions; give another one"
            )


def dead_letter_line(letter: DeadLetter, records: Records) -> bytes:
    """A JSON line `{"error", "position", "text" or "base64"}`; longer bytes are cut to 64 KiB, `"truncated": true`."""
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
