"""Spans as conlleval counts them, chunk by chunk, by its own rules."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

Parts = tuple[str, str]
"""The prefix of a tag and its type; O has neither."""


class Spans(NamedTuple):
    """The numbers of true spans, of predicted ones, and of those that are equal."""

    true: int
    predicted: int
    right: int


def parts(tag: str | None) -> Parts:
    """A token without a prediction is outside."""
    prefix, _, type_ = (tag or "O").partition("-")
    return prefix, type_


def start_of_chunk(before: Parts, tag: Parts) -> bool:
    """The rules of `startOfChunk`, one after the other."""
    pairs = {("E", "E"), ("E", "I"), ("S", "E"), ("S", "I"), ("O", "E"), ("O", "I")}
    if tag[0] in ("B", "S") or (before[0], tag[0]) in pairs:
        return True
    return tag[0] != "O" and before[1] != tag[1]


def end_of_chunk(before: Parts, tag: Parts) -> bool:
    """The rules of `endOfChunk`, one after the other."""
    pairs = {("B", "B"), ("B", "S"), ("B", "O"), ("I", "B"), ("I", "S"), ("I", "O")}
    if before[0] in ("E", "S") or (before[0], tag[0]) in pairs:
        return True
    return before[0] != "O" and before[1] != tag[1]


def chunks(tags: Sequence[str | None]) -> Iterator[tuple[int, int, str]]:
    """Begin, end and type of each span."""
    begin, before = 0, ("O", "")
    for t, tag in enumerate([*map(parts, tags), ("O", "")]):
        if end_of_chunk(before, tag):
            yield begin, t, before[1]
        if start_of_chunk(before, tag):
            begin = t
        before = tag


def compared(truth: Sequence[str | None], guess: Sequence[str | None]) -> Spans:
    """Of one sentence."""
    true, predicted = set(chunks(truth)), set(chunks(guess))
    return Spans(len(true), len(predicted), len(true & predicted))
