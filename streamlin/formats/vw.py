"""Vowpal Wabbit's text format: `label importance 'tag|title free offer |body word:2.5 …`.

The text consists of the words of all namespaces, one line each; words with a value follow, each on a line of its own.
The label is used as it is written. The tag is the event's id; as in Vowpal Wabbit it is the last word before the first
bar, if it begins with a quote or touches the bar. The initial prediction, a second number after the label, is ignored.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from streamlin.errors import DecodeError, RecordError
from streamlin.events import Batch, Event, Records
from streamlin.formats.base import LineFormat, Row
from streamlin.formats.utf8 import Indices, spans, texts_of
from streamlin.formats.values import is_number, number

_LARGEST = float(np.finfo(np.float32).max)

_Valued = tuple[str, float]


class VwFormat(LineFormat):
    """One example per line, with one label; the features of a word with a value have that value, a real number."""

    name = "vw"
    no_label_hint = "in VW a label is followed by a blank: write 'spam |text win', not 'spam|text win'"
    tag_hint = "in VW a word that touches the bar is a tag, the event's id: write 'spam |text win', not 'spam|text win'"
    label_rule = "in VW the label is the first word of a line"

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`. Words with values become pieces of their own, behind the text."""
        if b":" not in records.data:
            return super().batch(records, kept)
        parsed = [_parsed(line) for line in texts_of(records.data, *spans(records, kept))]
        batch = self.batch_of([row for row, _ in parsed], records, kept)
        valued = [words for _, words in parsed]
        if any(valued):
            batch.pieces = np.cumsum([0, *(1 + len(words) for words in valued)])
            texts = [[text, *(word for word, _ in words)] for text, words in zip(batch.texts, valued, strict=True)]
            batch.texts = list(chain.from_iterable(texts))
            batch.values = np.array([value for words in valued for value in (1.0, *(v for _, v in words))], np.float32)
        return batch

    def read(self, line: str) -> Row:
        """Text without the words that have a value, label, tag and importance."""
        return _parsed(line)[0]

    def write(self, event: Event) -> str:
        """A line with an unnamed namespace for each line of the text."""
        words = [] if event.label is None else [event.label]
        words += [] if event.weight == 1.0 else [repr(event.weight)]
        words += [] if event.id is None else [f"'{event.id}"]
        return " ".join([*words, *(f"| {line}" for line in event.text.split("\n"))])


def _parsed(line: str) -> tuple[Row, list[_Valued]]:
    """What `VwFormat.read` returns, and the words with a value other than 1; of value 0 is a word that is not there."""
    head, *namespaces = line.replace("\t", " ").split("|")
    if not namespaces:
        raise DecodeError("not VW: no '|' before the words")
    label, tag, weight = _head(head)
    valued: list[_Valued] = []
    texts = [_text(namespace, valued) if ":" in namespace else _plain_words(namespace) for namespace in namespaces]
    return ("\n".join(texts), label, tag, weight), valued


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


def _text(namespace: str, valued: list[_Valued]) -> str:
    """The words of a namespace that have the value 1; the others are added to `valued`."""
    plain = []
    for word, value in _words(namespace):
        if value == 1.0:
            plain.append(word)
        elif value:
            valued.append((word, value))
    return " ".join(plain)


def _words(namespace: str) -> Iterator[_Valued]:
    """Each word, and its value times that of the namespace."""
    name, _, rest = namespace.partition(" ")
    _, factor = _word_and_value(name)
    for word in filter(None, rest.split(" ")):
        word, value = _word_and_value(word)
        if not word:
            raise RecordError("no word before the ':' of a value")
        if not abs(value * factor) <= _LARGEST:
            raise RecordError(f"the value of {word[:40]!r} is {value * factor:g}, beyond float32")
        yield word, float(np.float32(value * factor))


def _word_and_value(word: str) -> _Valued:
    """A word or name, and the number after its first colon; 1 without a colon."""
    name, colon, value = word.partition(":")
    if not colon:
        return word, 1.0
    if not is_number(value):
        raise RecordError(f"the value of {name[:40]!r} is {value[:40]!r}, expected a number")
    return name, float(value)
