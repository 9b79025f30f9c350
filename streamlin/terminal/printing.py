"""Text on standard output and standard error, whoever reads it."""

import contextlib
import io
import json
import re
import select
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TextIO

from streamlin.errors import ConnectorError

if TYPE_CHECKING:
    from rich.console import RenderableType


_SAYS_OF_A_RECORD = re.compile(r"dead letter at |could not be read, the last at ")
_QUOTED = re.compile(r"(['\"]).*\1", re.DOTALL)
_as_json = False


def news_as(form: Literal["text", "json"]) -> None:
    """Have news printed as plain lines, or as one JSON object a line; for the whole process."""
    global _as_json
    _as_json = form == "json"


def are_news_json() -> bool:
    """Whether news are for a program to read."""
    return _as_json


def discreet(line: str) -> str:
    """A line without what it quotes of a record that could not be read."""
    return _QUOTED.sub("'…'", line) if _SAYS_OF_A_RECORD.search(line) else line


def print_result(text: str, file: TextIO | None) -> None:
    """Print a result. Raises ConnectorError where it can't be written, or nobody reads it any more."""
    if file is None:  # closed from the start
        return
    try:
        print(text, file=file, flush=True)
    except OSError as error:
        name = "standard error" if file is sys.stderr else "standard output"
        raise ConnectorError(f"{name} can't be written to: {error.strerror}") from error


def print_news(line: str, level: Literal["info", "error"] = "info", **fields: Any) -> None:
    """Print a line to standard error, if that can be done: what nobody reads must not stop anything.

    fields : more that a program can read; JSON-able, and shown in JSON only.
    """
    text = f"streamlin: {line}"
    if _as_json:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = json.dumps({"time": now, "level": level, "message": discreet(line)} | fields)
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def rendered(renderable: "RenderableType", file: TextIO | None) -> str:
    """Tables as text that fits a terminal, or is 100 columns wide."""
    from rich.console import Console

    on_terminal = file is not None and file.isatty()
    width = Console(file=file).width if on_terminal else 100
    text = io.StringIO()
    console = Console(file=text, highlight=False, width=width, force_terminal=on_terminal, soft_wrap=not on_terminal)
    console.print(renderable)
    return text.getvalue().removesuffix("\n")


def as_html(renderable: "RenderableType") -> str:
    """Tables as HTML that fits into a page, in its colours."""
    from rich.console import Console

    console = Console(file=io.StringIO(), record=True, width=100, highlight=False, force_jupyter=False)
    console.print(renderable)
    return console.export_html(inline_styles=True, code_format='<pre style="line-height:normal">{code}</pre>')


def is_read(descriptor: int) -> bool:
    """Whether a descriptor is no pipe whose reader has gone."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return not any(event & select.POLLERR for _, event in poll.poll(0))
