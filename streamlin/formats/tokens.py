"""Sentences: from the tokens and tags of events to a batch, for every format that has them."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.errors import RecordError
from streamlin.events import TokenColumns

Cut = Callable[[str], tuple[list[str], list[tuple[int, int]]]]
"""Returns the tokens of a text, and where each begins and ends in it."""
Tokenized = tuple[list[str], NDArray[np.int64], TokenColumns]
"""All tokens, the bounds int64[n + 1] of each sentence's, and the columns beside them."""
TAGS_ALONE = "tags without tokens; tags that come later need json, here or in a file for --feedback"
"""Completes "format … has no"."""

_ENCODER = msgspec.json.Encoder()
_VALUES = msgspec.json.Decoder(list[str])
_TAGS = msgspec.json.Decoder(list[Annotated[str, msgspec.Meta(min_length=1)] | None])


def label_of(tags: Sequence[str | None]) -> str | None:
    """The tags of a sentence as one text, JSON; None if it has tokens and no tag is known."""
    if len(tags) and tags.count(None) == len(tags):
        return None
    return _ENCODER.encode(tags).decode()


def tags_of(label: str) -> list[str | None]:
    """The tags of which `label_of` made a text. Raises msgspec.MsgspecError for any other text."""
    return _TAGS.decode(label)


def text_of(values: Sequence[str]) -> str:
    """The tokens of a sentence, or the values of a column, as one text, JSON."""
    return _ENCODER.encode(values).decode()


def values_of(text: str) -> list[str]:
    """The values of which `text_of` made a text. Raises msgspec.MsgspecError for any other text."""
    return _VALUES.decode(text)


def sentences(
    tokens: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str | None] | None],
    columns: Mapping[str, Sequence[Sequence[str | None] | None]],
    offsets: NDArray[np.int64] | None = None,
) -> Tokenized:
    """The columns of n sentences, each given as lists; a list of tags or of a column may be None.

    Raises
    ------
    RecordError : a list is not as long as that of the tokens.
    """
    lengths = list(map(len, tokens))
    bounds = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    known = known_tags(_flat(tags, lengths, "tags", None))
    more = {
        name: ["" if value is None else value for value in _flat(column, lengths, name, "")]
        for name, column in columns.items()
    }
    return list(chain.from_iterable(tokens)), bounds, TokenColumns(known, more, offsets)


def known_tags(tags: Sequence[str | None]) -> list[str | None]:
    """The tags; None also for `""`."""
    return [tag or None for tag in tags]


def _flat(
    lists: Sequence[Sequence[str | None] | None], lengths: Sequence[int], name: str, missing: str | None
) -> list[str | None]:
    """The lists, one after the other, each checked against its sentence's length."""
    for values, length in zip(lists, lengths, strict=True):
        if values is not None and len(values) != length:
            raise RecordError(f"{name} has {len(values)} values for {length} tokens, expected as many")
    whole = ([missing] * length if values is None else values for values, length in zip(lists, lengths, strict=True))
    return list(chain.from_iterable(whole))
