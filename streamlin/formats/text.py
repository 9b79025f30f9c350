"""Plain text: each line is a text."""

from collections.abc import Mapping, Sequence

from streamlin.config import FieldsConfig
from streamlin.events import Event
from streamlin.formats.base import LineFormat
from streamlin.formats.joined_lines import joined_lines


class TextFormat(LineFormat):
    """One text per line and no other field; a line of blanks is an event without words.

    Options: `multiline=PATTERN`, which joins lines to the first line before them; see
    `streamlin.formats.joined_lines`.
    """

    name = "text"
    no_label_hint = "format text has none"

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None:
        super().__init__(options, fields, extra)
        self.framing = joined_lines(options) or self.framing

    def read(self, line: str) -> tuple[str, str | None, str | None, float]:
        """The line."""
        return line.replace("\r\n", "\n") if "\n" in line else line, None, None, 1.0

    def write(self, event: Event) -> str:
        """The text."""
        return event.text
