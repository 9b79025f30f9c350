"""Plain text: each line is a text."""

from streamlin.events import Event
from streamlin.formats.base import LineFormat


class TextFormat(LineFormat):
    """One text per line and no other field; a line of blanks is an event without words."""

    name = "text"
    no_label_hint = "format text has none"

    def read(self, line: str) -> tuple[str, str | None, str | None, float]:
        """The line."""
        return line, None, None, 1.0

    def write(self, event: Event) -> str:
        """The text."""
        return event.text
