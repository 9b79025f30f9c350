"""Columns of a batch that are more than a list: texts by their distinct values, tokens, templates of log lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray


class Distinct(NamedTuple):
    """A column of m texts as its distinct values.

    values : in order of first appearance, without None. codes : int32[m], the index of each value; -1 for None.
    """

    values: list[str]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, column: Sequence[str | None]) -> Self:
        """The distinct values of a column."""
        values = [value for value in dict.fromkeys(column) if value is not None]
        index: dict[str | None, int] = {value: code for code, value in enumerate(values)}
        index[None] = -1
        return cls(values, np.fromiter(map(index.__getitem__, column), np.int32, len(column)))

    def only(self, kept: NDArray[np.bool_]) -> "Distinct":
        """The column with None where `kept`, bool[m], is False."""
        codes = np.where(kept, self.codes, np.int32(-1))
        _, first = np.unique(codes, return_index=True)
        order = [code for code in codes[np.sort(first)].tolist() if code >= 0]
        renumbered = np.full(len(self.values) + 1, -1, np.int32)
        renumbered[order] = np.arange(len(order))
        return Distinct([self.values[code] for code in order], renumbered[codes])

    def coded(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """int32[m]: the column, where value i has `codes[i]`; -1 for None."""
        return np.append(codes, np.int32(-1))[self.codes]


class CodedTexts(Sequence[str | None]):
    """A column of texts as its distinct values; part of it is a list."""

    def __init__(self, distinct: Distinct) -> None:
        self.distinct = distinct

    def __len__(self) -> int:
        return self.distinct.codes.size

    @overload
    def __getitem__(self, index: SupportsIndex) -> str | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[str | None]: ...
    def __getitem__(self, index: Any) -> Any:
        values, codes = [*self.distinct.values, None], self.distinct.codes[index]
        return [values[code] for code in codes.tolist()] if isinstance(index, slice) else values[codes]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self[:] == [*other]

    __hash__ = None  # type: ignore[assignment]  # equal to a list of the same texts

    def __iter__(self) -> Iterator[str | None]:
        return iter(self[:])

    def __repr__(self) -> str:
        return repr(self[:])


class Templates(NamedTuple):
    """The templates of n log lines.

    numbers : int32[n], from 1 on; 0 for a line without one.
    texts : each as its line has left it, that of the line itself if it has none; None for an event with a name of its
        own for its template, or without a text.
    new : bool[n], whether no line before had it.
    """

    numbers: NDArray[np.int32]
    texts: list[str | None]
    new: NDArray[np.bool_]

    def take(self, events: NDArray[np.int64]) -> "Templates":
        """Those of some of the events."""
        return Templates(self.numbers[events], [self.texts[i] for i in events.tolist()], self.new[events])

    def columns(self) -> dict[str, list[Any]]:
        """By name, as a data frame holds them; None where there is none."""
        numbers = [number or None for number in self.numbers.tolist()]
        new = [None if text is None else one for text, one in zip(self.texts, self.new.tolist(), strict=True)]
        return {"template": list(self.texts), "template_number": numbers, "new_template": new}

    def to_json(self) -> list[dict[str, Any] | None]:
        """As prediction lines have them; None where there is none."""
        return [
            None if text is None else {"number": number or None, "text": text, "new": new}
            for number, text, new in zip(self.numbers.tolist(), self.texts, self.new.tolist(), strict=True)
        ]


@dataclass
class TokenColumns:
    """Columns over all m tokens of a batch of sentences.

    tags : None for an unknown one. Perhaps not as a list.
    columns : further columns that are features, by name; `""` for a missing value.
    offsets : int64[m, 2], where each token begins and ends in its event's text, in characters; None: the events
        have tokens instead of texts.
    """

    tags: Sequence[str | None]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    offsets: NDArray[np.int64] | None = None

    @cached_property
    def distinct_tags(self) -> Distinct:
        """The tags, once each; the thread that reads computes it."""
        return self.tags.distinct if isinstance(self.tags, CodedTexts) else Distinct.of(self.tags)

    def __getitem__(self, part: slice) -> "TokenColumns":
        """Those of some tokens that follow each other."""
        columns = {name: column[part] for name, column in self.columns.items()}
        return TokenColumns(self.tags[part], columns, None if self.offsets is None else self.offsets[part])

    def take(self, places: NDArray[np.int64]) -> "TokenColumns":
        """Those of some tokens, without columns that are features."""
        tags = list(self.tags)
        return TokenColumns(
            [tags[place] for place in places.tolist()], {}, None if self.offsets is None else self.offsets[places]
        )


def taken(bounds: NDArray[np.int64], chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bounds of the chosen ones of some ranges, one after the other, and the places that these consist of.

    bounds : int64[n + 1]; range i is `bounds[i]` to `bounds[i + 1]`. chosen : int64[k].
    Returns int64[k + 1] and int64[m].
    """
    lengths = np.diff(bounds)[chosen]
    own = np.zeros(chosen.size + 1, np.int64)
    np.cumsum(lengths, out=own[1:])
    return own, np.repeat(bounds[chosen] - own[:-1], lengths) + np.arange(own[-1])
