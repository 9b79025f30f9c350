"""Vowpal Wabbit's text format: `label importance 'tag|title free offer |body word:2 …`.

The text consists of the words of all namespaces, one line each. The label is used as it is written. The tag is the
event's id; as in Vowpal Wabbit it is the last word before the first bar, if it begins with a quote or touches the bar.
The initial prediction, a second number after the label, is ignored.
"""

from streamlin.errors import DecodeError, RecordError
from streamlin.events import Event
from streamlin.formats.base import LineFormat
from streamlin.formats.values import is_number, number

MOST_REPEATED = 1_000_000
"""The number of characters that a record's values may add to its text; more make it a dead letter."""


class VwFormat(LineFormat):
    """One example per line, with one label; a value, which must be a whole number, is the count of its word."""

    name = "vw"

    def read(self, line: str) -> tuple[str, str | None, str | None, float]:
        """Text, label, tag and importance."""
        head, *namespaces = line.replace("\t", " ").split("|")
        if not namespaces:
            raise DecodeError("not VW: no '|' before the words")
        label, tag, weight = _head(head)
        if ":" not in line:
            return "\n".join(map(_plain_words, namespaces)), label, tag, weight
        texts, space = [], MOST_REPEATED
        for namespace in namespaces:
            words, added = _repeated_words(namespace, space)
            texts.append(words)
            space -= added
        return "\n".join(texts), label, tag, weight

    def write(self, event: Event) -> str:
        """A line with an unnamed namespace for each line of the text."""
        words = [] if event.label is None else [event.label]
        words += [] if event.weight == 1.0 else [repr(event.weight)]
        words += [] if event.id is None else [f"'{event.id}"]
        return " ".join([*words, *(f"| {line}" for line in event.text.split("\n"))])


def _head(head: str) -> tuple[str | None, str | None, float]:
    """Label, tag and importance, from the part before the first bar."""
    words = [word for word in head.split(" ") if word]
    tag = None
    if words and (words[-1].startswith("'") or not head.endswith(" ")):
        tag = words.pop().removeprefix("'")
    if len(words) > 3:
        raise RecordError(f"{len(words)} words before '|', expected at most label, importance and initial value")
    numbers = [number(word, name) for word, name in zip(words[1:], ("importance", "initial value"), strict=False)]
    return words[0] if words else None, tag, numbers[0] if numbers else 1.0


def _single_blanks(text: str) -> str:
    """The words separated by single blanks."""
    text = text.strip(" ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def _plain_words(namespace: str) -> str:
    """The words of a namespace without values; its name touches the bar."""
    return _single_blanks(namespace if namespace.startswith(" ") else namespace.partition(" ")[2])


def _repeated_words(namespace: str, space: int) -> tuple[str, int]:
    """The words, each repeated by its value times that of the namespace, and the number of characters added."""
    name, _, rest = namespace.partition(" ")
    _, factor = _word_and_count(name)
    repeated: list[str] = []
    added = 0
    for word in filter(None, rest.split(" ")):
        word, count = _word_and_count(word)
        if not word:
            raise RecordError("no word before the ':' of a value")
        times = count * factor
        added += (len(word) + 1) * max(times - 1, 0)
        if added > space:
            raise RecordError(f"values repeat words to more than {MOST_REPEATED:,} characters")
        repeated += [word] * times
    return " ".join(repeated), added


def _word_and_count(word: str) -> tuple[str, int]:
    """A word or name, and the whole number after its first colon; 1 without a colon."""
    name, colon, value = word.partition(":")
    if not colon:
        return word, 1
    if not is_number(value) or not float(value).is_integer() or float(value) < 0:
        raise RecordError(f"the value of {name[:40]!r} is {value[:40]!r}, expected a whole number")
    return name, int(float(value))
