"""fastText's training lines: `__label__spam __label__urgent the text`."""

import re

from streamlin.events import Event
from streamlin.formats.base import LineFormat

_PREFIX = "__label__"
_BLANK = r"[ \t\n\r\f\v\0]"  # the separators of fastText
_WORD = r"[^ \t\n\r\f\v\0]*"
_LABELS = re.compile(f"{_BLANK}*{_PREFIX}({_WORD})(?:{_BLANK}+{_PREFIX}{_WORD})*{_BLANK}*")


class FasttextFormat(LineFormat):
    """Labels at the start of a line, of which the first is used; the rest is the text.

    A line without labels, or with an empty `__label__`, is unlabelled.
    """

    name = "fasttext"
    no_label_hint = f"fastText's labels begin with {_PREFIX} and stand before the text"
    label_rule = "in fastText a label ends at a blank, a comma belongs to it"

    def read(self, line: str) -> tuple[str, str | None, str | None, float]:
        """Text and label."""
        labels = _LABELS.match(line)
        if labels is None:
            return line, None, None, 1.0
        return line[labels.end() :], labels[1], None, 1.0

    def write(self, event: Event) -> str:
        """The label, a blank, the text."""
        return event.text if event.label is None else f"{_PREFIX}{event.label} {event.text}"
