"""Spans in tags such as B-LOC, I-LOC, O: where one begins and ends, as conlleval has it.

Tjong Kim Sang, De Meulder, CoNLL 2003, 142-147; the rules are those of its evaluation script, `conlleval`, with the
prefixes E and S of BIOES as in its later versions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

OUTSIDE, FIRST, INSIDE, LAST, SINGLE = range(5)
"""The kinds of tags: outside, first, further, last, single token of a span."""
_KINDS = {"B": FIRST, "I": INSIDE, "E": LAST, "S": SINGLE}


class SpanTags(NamedTuple):
    """kinds : uint8[K], of each tag. types : int32[K], the number of the type of its spans, -1 outside."""

    kinds: NDArray[np.uint8]
    types: NDArray[np.int32]


def span_tags(names: Sequence[str]) -> SpanTags | None:
    """The kinds and types of tags; None if they do not mark spans.

    They do if each is O, or one of B, I, E and S with a hyphen and a type, and not all are O.
    """
    types = dict[str, int]()
    kinds, numbers = [OUTSIDE] * len(names), [-1] * len(names)
    for code, name in enumerate(names):
        if not is_span_tag(name):
            return None
        if name != "O":
            prefix, _, type_ = name.partition("-")
            kinds[code], numbers[code] = _KINDS[prefix], types.setdefault(type_, len(types))
    return SpanTags(np.array(kinds, np.uint8), np.array(numbers, np.int32)) if types else None


def is_span_tag(name: str) -> bool:
    """Whether a tag is O, or one of B, I, E and S with a hyphen and a type."""
    prefix, hyphen, _ = name.partition("-")
    return name == "O" or (prefix in _KINDS and bool(hyphen))


@kernel
def begins(before: int, kind: int, same_type: bool) -> bool:
    """Whether a span begins at a tag of a kind, behind one of the kind `before`; OUTSIDE before the first."""
    if kind == OUTSIDE:
        return False
    return kind in (FIRST, SINGLE) or before in (OUTSIDE, LAST, SINGLE) or not same_type


@kernel
def ends(before: int, kind: int, same_type: bool) -> bool:
    """Whether a span that the tag before belongs to ends there; kind : of the tag behind it, OUTSIDE at the end."""
    if before == OUTSIDE:
        return False
    return before in (LAST, SINGLE) or kind in (OUTSIDE, FIRST, SINGLE) or not same_type


@kernel
def count_spans(
    truth: NDArray[np.int32],
    guess: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    types: NDArray[np.int32],
    found: NDArray[np.int64],
) -> None:
    """Set found[0], found[1], found[2] to the numbers of true spans, of predicted ones, and of those that are equal.

    truth, guess int32[n] : the tags of a sentence, guess below 0 for none.
    """
    found[:] = 0
    true_kind, true_type, guess_kind, guess_type = OUTSIDE, -1, OUTSIDE, -1
    agrees = False  # whether the open spans began together, with the same type
    for t in range(truth.size + 1):
        kind, type_, other_kind, other_type = OUTSIDE, -1, OUTSIDE, -1
        if t < truth.size:
            kind, type_ = kinds[truth[t]], types[truth[t]]
            if guess[t] >= 0:
                other_kind, other_type = kinds[guess[t]], types[guess[t]]
        true_ends = ends(true_kind, kind, type_ == true_type)
        guess_ends = ends(guess_kind, other_kind, other_type == guess_type)
        if agrees and (true_ends or guess_ends):
            found[2] += true_ends and guess_ends
            agrees = False
        true_begins = begins(true_kind, kind, type_ == true_type)
        guess_begins = begins(guess_kind, other_kind, other_type == guess_type)
        found[0] += true_begins
        found[1] += guess_begins
        if true_begins and guess_begins and type_ == other_type:
            agrees = True
        true_kind, true_type, guess_kind, guess_type = kind, type_, other_kind, other_type
