"""Printing results to standard output, and notices to standard error; all that is printed is masked here."""

import codecs
import contextlib
import io
import json
import re
import select
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TextIO

from streamlin.errors import ConnectorError, masked, masked_json, spelled

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


_ABOUT_A_RECORD = re.compile(r"dead letter at |could not be read, the last at ")
_QUOTED = re.compile(r"(['\"]).*\1", re.DOTALL)
_UNLIMITED = 1_000_000
"""Columns where no terminal limits them."""
_as_json = False


def set_log_format(name: Literal["text", "json"]) -> None:
    """Print notices as plain lines, or as JSON objects, one a line; for the whole process."""
    global _as_json
    _as_json = name == "json"


def logs_json() -> bool:
    """Whether notices are printed as JSON."""
    return _as_json


def without_quotes(line: str) -> str:
    """A line, without anything it quotes from a record that could not be read."""
    return _QUOTED.sub("'…'", line) if _ABOUT_A_RECORD.search(line) else line


def print_result(line: str, file: TextIO | None) -> None:
    """Print a line of a result. Raises ConnectorError, as the next two functions do, if it can't be written."""
    _print(masked(line), file)


def print_json(value: Any, file: TextIO | None) -> None:
    """Print a result as one line of JSON, which is UTF-8 whatever the encoding of the file."""
    is_utf8 = file is None or codecs.lookup(file.encoding).name == "utf-8"
    _print(masked_json(json.dumps(value, ensure_ascii=not is_utf8)), file)


def print_tables(renderable: "RenderableType", file: TextIO | None) -> None:
    """Print tables: as wide as the terminal, or as wide as their texts if the file is not one."""
    _print(rendered(renderable, file), file)


def _print(text: str, file: TextIO | None) -> None:
    """Print what is masked already. Raises ConnectorError if it can't be written, also if a pipe's reader is gone."""
    if file is None:  # the process was started with the file closed
        return
    try:
        print(text, file=file, flush=True)
    except OSError as error:
        name = "standard error" if file is sys.stderr else "standard output"
        raise ConnectorError(f"{name} can't be written to: {error.strerror}") from error


def print_notice(line: str, level: Literal["info", "error"] = "info", **fields: Any) -> None:
    """Print a line to standard error; a failure to do so is ignored, since it must not stop a run.

    fields : further JSON-able values, shown in JSON only.
    """
    line = spelled(line)
    text = f"streamlin: {masked(line)}"
    if _as_json:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = json.dumps({"time": now, "level": level, "message": without_quotes(line)} | fields)
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)


class _Drawn(io.StringIO):
    """Text that is drawn with characters that another file can show."""

    def __init__(self, file: TextIO | None) -> None:
        super().__init__()
        self._encoding = "utf-8" if file is None else file.encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read-only there too
        return self._encoding


def rendered(renderable: "RenderableType", file: TextIO | None) -> str:
    """Tables as text, as wide as the terminal; if the file is not one, nothing is cut or wrapped."""
    from rich.console import Console

    on_terminal = file is not None and file.isatty()
    width = Console(file=file).width if on_terminal else _UNLIMITED
    text = _Drawn(file)
    console = Console(file=text, highlight=False, width=width, force_terminal=on_terminal, soft_wrap=not on_terminal)
    console.print(Masked(renderable))
    return text.getvalue().removesuffix("\n")


class Masked:
    """Tables and texts whose contents are masked when they are rendered; colours and other styles stay."""

    def __init__(self, renderable: "RenderableType") -> None:
        self._renderable = renderable

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.segment import Segment

        for text, style, control in console.render(self._renderable, options):
            yield Segment("\n".join(map(masked, text.split("\n"))), style, control)


def as_html(renderable: "RenderableType") -> str:
    """Tables as HTML to be embedded in a page, in the page's colours."""
    from rich.console import Console

    console = Console(file=io.StringIO(), record=True, width=100, highlight=False, force_jupyter=False)
    console.print(Masked(renderable))
    return console.export_html(inline_styles=True, code_format='<pre style="line-height:normal">{code}</pre>')


def has_reader(descriptor: int) -> bool:
    """False if a descriptor is a pipe whose reader has gone."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return not any(event & select.POLLERR for _, event in poll.poll(0))
