"""Vowpal Wabbit's text format: `label importance 'tag|title free offer |body word:2 …`.

The text is the words of all namespaces, a line each. The label is taken as it is written. A tag is the event's id; as
in Vowpal Wabbit it is the last word before the first bar, if that begins with a quote or touches the bar. A third
number before it (the initial prediction) is read over.
"""

from streamlin.errors import DecodeError, RecordError
from streamlin.events import Event
from streamlin.formats.base import LineFormat
from streamlin.formats.values import is_number, number

MOST_REPEATED = 1_000_000
"""How many characters the values of a record may add to its text; more is a dead letter."""


class VwFormat(LineFormat):
    """One example a line, one label each; a value says how often its word stands there, a whole number."""

    name = "vw"

    def read(self, line: str) -> tuple[str, str | None, str | None, float]:
        """Text, label, tag and importance."""
        head, *namespaces = line.replace("\t", " ").split("|")
        if not namespaces:
            raise DecodeError("not VW: there is no '|' before the words")
        label, tag, weight = _head(head)
        if ":" not in line:
            return "\n".join(map(_plain_words, namespaces)), label, tag, weight
        texts, room = [], MOST_REPEATED
        for namespace in namespaces:
            words, added = _repeated_words(namespace, room)
            texts.append(words)
            room -= added
        return "\n".join(texts), label, tag, weight

    def write(self, event: Event) -> str:
        """A namespace without name for each line of the text."""
        words = [] if event.label is None else [event.label]
        words += [] if event.weight == 1.0 else [repr(event.weight)]
        words += [] if event.id is None else [f"'{event.id}"]
        return " ".join([*words, *(f"| {line}" for line in event.text.split("\n"))])


def _head(head: str) -> tuple[str | None, str | None, float]:
    """Label, tag and importance, from what stands before the first bar."""
    words = [word for word in head.split(" ") if word]
    tag = None
    if words and (words[-1].startswith("'") or not head.endswith(" ")):
        tag = words.pop().removeprefix("'")
    if len(words) > 3:
        raise RecordError(f"there are {len(words)} words before '|', needs at most label, importance, initial value")
    numbers = [number(word, name) for word, name in zip(words[1:], ("importance", "initial value"), strict=False)]
    return words[0] if words else None, tag, numbers[0] if numbers else 1.0


def _squeezed(text: str) -> str:
    """The words with single blanks between them."""
    text = text.strip(" ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def _plain_words(namespace: str) -> str:
    """The words of a namespace without values; its name touches the bar."""
    return _squeezed(namespace if namespace.startswith(" ") else namespace.partition(" ")[2])


def _repeated_words(namespace: str, room: int) -> tuple[str, int]:
    """The words, each as often as its value times that of the namespace says, and how many characters that added."""
    name, _, rest = namespace.partition(" ")
    _, factor = _valued(name)
    repeated: list[str] = []
    added = 0
    for word in filter(None, rest.split(" ")):
        word, count = _valued(word)
        if not word:
            raise RecordError("a value has no word before its ':'")
        times = count * factor
        added += (len(word) + 1) * max(times - 1, 0)
        if added > room:
            raise RecordError(f"values repeat words to more than {MOST_REPEATED:,} characters")
        repeated += [word] * times
    return " ".join(repeated), added


def _valued(word: str) -> tuple[str, int]:
    """A word or name and the whole number behind its first colon, 1 if there is none."""
    name, colon, value = word.partition(":")
    if not colon:
        return word, 1
    if not is_number(value) or not float(value).is_integer() or float(value) < 0:
        raise RecordError(f"the value of {name[:40]!r} is {value[:40]!r}, needs to be a whole number")
    return name, int(float(value))
