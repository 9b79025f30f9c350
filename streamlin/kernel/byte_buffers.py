"""Byte buffers: texts as the UTF-8 that kernels read, and copying within kernels."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.late import beside
from streamlin.kernel.words import load_word, store_word

PADDING = 64
"""Bytes that a buffer must have after the last byte that is hashed or copied: texts are cut by blocks of so many."""

_PADDING = bytes(PADDING)


class Utf8Texts(Sequence[str]):
    """Texts as their UTF-8, one behind the other; one becomes a `str` only where it is asked for.

    octets : uint8, followed by PADDING bytes. bounds : int64[n + 1], from 0 on; text i is
        `octets[bounds[i]:bounds[i + 1]]`.
    plain : whether no text has a quote, a backslash or a control character: between quotes it is JSON.
    """

    def __init__(self, octets: NDArray[np.uint8], bounds: NDArray[np.int64], plain: bool) -> None:
        self.octets, self.bounds, self.plain = octets, bounds, plain

    def __len__(self) -> int:
        return self.bounds.size - 1

    @overload
    def __getitem__(self, index: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "Utf8Texts": ...
    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        if isinstance(chosen, int):
            return self.octets[self.bounds[chosen] : self.bounds[chosen + 1]].tobytes().decode()
        bounds = self.bounds[chosen.start : max(chosen.start, chosen.stop) + 1]  # a step of 1
        return Utf8Texts(self.octets[bounds[0] : bounds[-1] + PADDING], bounds - bounds[0], self.plain)

    def __iter__(self) -> Iterator[str]:
        octets = self.octets[: self.bounds[-1]].tobytes()
        if octets.isascii():
            text = octets.decode()
            return (text[begin:end] for begin, end in pairwise(self.bounds.tolist()))
        return (octets[begin:end].decode() for begin, end in pairwise(self.bounds.tolist()))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and super().__contains__(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # equal to a list of the same texts

    def __repr__(self) -> str:
        return repr([*self])

    def having(self, flags: NDArray[np.uint8]) -> NDArray[np.int64]:
        """int64[k]: the texts with a byte whose flag is not 0. flags : uint8[octets.size]."""
        if not flags.any():
            return np.zeros(0, np.int64)
        most = np.maximum.reduceat(flags, self.bounds)[:-1]
        return np.flatnonzero((most > 0) & (np.diff(self.bounds) > 0))

    def changed(self, chosen: NDArray[np.int64], change: Callable[[str], str]) -> "Utf8Texts":
        """The texts, the chosen ones as `change` returns them. No other one becomes a `str`."""
        if not chosen.size:
            return self
        before, lengths = self.octets[: self.bounds[-1]].tobytes(), np.diff(self.bounds)
        pieces, at = list[bytes](), 0
        for i, begin, end in zip(
            chosen.tolist(), self.bounds[chosen].tolist(), self.bounds[chosen + 1].tolist(), strict=True
        ):
            old = before[begin:end]
            new = change(old.decode()).encode()
            if new != old:
                pieces += before[at:begin], new
                lengths[i], at = len(new), end
        if not pieces:
            return self
        octets = bytearray().join([*pieces, before[at:], _PADDING])
        return Utf8Texts(np.frombuffer(octets, np.uint8), np.append(0, np.cumsum(lengths)), plain=False)

    def json(self) -> bytearray:
        """A JSON list of the texts, which must be plain."""
        out = np.empty(self.octets.size + 3 * len(self) + 2, np.uint8)
        end = write_list(self.octets, self.bounds, out)
        return bytearray(out[:end])


def change_beyond_ascii(texts: Sequence[str], change: Callable[[str], str]) -> Sequence[str]:
    """The texts, those that are not ASCII as `change` returns them."""
    if isinstance(texts, Utf8Texts):
        return texts.changed(texts.having(texts.octets & np.uint8(0x80)), change)
    if "".join(texts).isascii():
        return texts
    return [text if text.isascii() else change(text) for text in texts]


def encode_texts(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 of all texts in one buffer, followed by PADDING, and int64[n], the length of each in bytes.

    A lone surrogate, which has no UTF-8, is encoded as three bytes (`surrogatepass`).
    """
    if isinstance(texts, Utf8Texts):
        return texts.octets, np.diff(texts.bounds)
    encoded: Sequence[str] | list[bytes] = texts
    buffer = bytearray("".join(texts), "utf-8", "surrogatepass")
    if not buffer.isascii():
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    buffer += _PADDING
    return np.frombuffer(buffer, np.uint8), np.fromiter(map(len, encoded), np.int64, len(texts))


def encode_text(text: str) -> bytearray:
    """The UTF-8 of one text, followed by PADDING, which is zeros."""
    return bytearray(text.encode("utf-8", "surrogatepass") + _PADDING)


def concatenate(pieces: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The pieces in one buffer, followed by PADDING, and int64[n + 1], their bounds."""
    bounds = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    return np.frombuffer(bytearray().join([*pieces, _PADDING]), np.uint8), bounds


@kernel
def write_list(octets: NDArray[np.uint8], bounds: NDArray[np.int64], out: NDArray[np.uint8]) -> int:
    """Write n plain texts to `out` as a JSON list; see `Utf8Texts`. Returns where it ends."""
    out[0] = 0x5B
    at = 1
    for i in range(bounds.size - 1):
        out[at] = 0x22
        at = copy_bytes(octets, bounds[i], bounds[i + 1], out, at + 1)
        out[at], out[at + 1] = 0x22, 0x2C
        at += 2
    end = max(at - 1, 1)
    out[end] = 0x5D
    return end + 1


def _copy_slice(source: NDArray[np.uint8], begin: int, end: int, target: NDArray[np.uint8], at: int) -> int:
    target[at : at + (end - begin)] = source[begin:end]
    return at + (end - begin)


@kernel
@beside(_copy_slice)
def copy_bytes(source: NDArray[np.uint8], begin: int, end: int, target: NDArray[np.uint8], at: int) -> int:
    """Copy `source[begin:end]` to `target[at:]`; returns where the copy ends.

    Both arrays must have PADDING more bytes; up to seven bytes of the target after the copy are overwritten. The
    indices are unsigned so that eight bytes compile to one load and one store; most pieces need at most two of them.
    """
    to, stop = np.uint64(at), np.uint64(end)
    i = np.uint64(begin)
    while i < stop:
        store_word(target, to, load_word(source, i))
        i += np.uint64(8)
        to += np.uint64(8)
    return at + (end - begin)
