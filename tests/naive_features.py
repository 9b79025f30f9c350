"""Twins of the featurizer in plain Python: slow, short, obviously correct."""

import itertools
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from streamlin.config import ViewConfig

M32 = 0xFFFFFFFF
JOINERS = "\u200c\u200d"


def murmur3_32(data: bytes) -> int:
    """Appleby's MurmurHash3_x86_32 with seed 0, as a signed number."""
    h = 0
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        h ^= scramble(int.from_bytes(data[i : i + 4], "little"))
        h = (rotated(h, 13) * 5 + 0xE6546B64) & M32
    h ^= scramble(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & M32
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & M32
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def scramble(k: int) -> int:
    return (rotated((k * 0xCC9E2D51) & M32, 15) * 0x1B873593) & M32


def rotated(x: int, r: int) -> int:
    return ((x << r) | (x >> (32 - r))) & M32


def bucket(name: str, bits: int) -> int:
    return abs(murmur3_32(name.encode("utf-8", "surrogatepass"))) % 2**bits


def tokens(text: str, config: ViewConfig) -> list[str]:
    if config.tokens == "head":
        text = (text.lstrip().split("\n") or [""])[0]
    if config.normalize:
        text = normalized(text)
    if config.lowercase:
        text = text.lower()
    if config.tokens not in ("words", "scikit-learn"):
        return text.split()
    if config.tokens == "scikit-learn":
        return re.findall(r"\b\w\w+\b", text)
    return words(text)


def words(text: str) -> list[str]:
    """A word begins with a letter, digit or underscore; marks and joiners continue it."""
    found, inside = [], False
    for character in text:
        begins = character.isalnum() or character == "_"
        if begins and not inside:
            found.append("")
        inside = begins or (inside and (unicodedata.category(character) in ("Mn", "Mc", "Me") or character in JOINERS))
        if inside:
            found[-1] += character
    return found


def normalized(text: str) -> str:
    """NFKC of the characters that can be seen."""
    seen = [c for c in text if unicodedata.category(c) != "Cf" and not is_selector(ord(c))]
    return unicodedata.normalize("NFKC", "".join(seen))


def is_selector(code: int) -> bool:
    return code == 0x34F or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF


def ngrams(text: str, config: ViewConfig) -> Iterator[str]:
    """By position, shorter ones first."""
    shortest, longest = config.ngrams
    words = tokens(text, config)
    if config.tokens in FORMS:
        yield from FORMS[config.tokens](words) if words else ()
        return
    if config.tokens != "char_wb":
        for i in range(len(words)):
            for n in range(shortest, longest + 1):
                if i + n <= len(words):
                    yield " ".join(words[i : i + n])
        return
    for word in words:
        padded = f" {word} "
        if len(padded) < shortest:
            yield padded
        for i in range(len(padded)):
            for n in range(shortest, longest + 1):
                if i + n <= len(padded):
                    yield padded[i : i + n]


def first(words: list[str]) -> list[str]:
    """The first six words, numbered 0, 1, 2, 3, 3, 3; how the text begins and ends."""
    found = [f"{number}:{word}" for number, word in zip("012333", words, strict=False)]
    begins = [f"{marks}{' '.join(words[:n])}" for marks, n in (("^", 2), ("^^", 3)) if len(words) >= n]
    ends = [f"{marks}{' '.join(words[-n:])}" for marks, n in (("$", 1), ("$$", 2)) if len(words) >= n]
    return found + begins + ends


def head(words: list[str]) -> list[str]:
    return ["<" + word for word in words[:20]]


def skip(words: list[str]) -> list[str]:
    """Pairs with one to three words between them."""
    n = min(len(words), 400)
    return [f"{words[i]} _{words[j]}" for i in range(n) for j in (i + 2, i + 3, i + 4) if j < n]


def shape(words: list[str]) -> list[str]:
    shapes = [shape_of(word) for word in words[:400]]
    pairs = [f"{one} {other}" for one, other in itertools.pairwise(shapes)]
    signs = [sign_of(character) for word in words for character in word]
    found = [*shapes, *pairs, "^" + " ".join(shapes[:2]), "$" + shapes[-1]]
    found += [f"n={math.floor(2 * math.log2(len(words)))}", f"c={math.floor(2 * math.log2(len(signs)))}"]
    for mark, sign in (("X", "X"), ("d", "d"), (".", "")):
        number = signs.count(sign)
        found += [f"{mark}%{number * 20 // len(signs)}", f"{mark}#{len(f'{number:b}') if number else 0}"]
    return found


def shape_of(word: str) -> str:
    written = ""
    for sign, run in itertools.groupby(sign_of(character) or character for character in word):
        written += sign + "+" * (len(list(run)) > 1)
    return written


def sign_of(character: str) -> str:
    """X, d, x; empty for what is neither a letter nor a digit."""
    if character.isdigit():
        return "d"
    if character.isupper() or character.istitle():
        return "X"
    is_mark = unicodedata.category(character) in ("Mn", "Mc", "Me") or character in JOINERS
    return "x" if character.isalpha() or is_mark else ""


FORMS = {"first": first, "head": head, "skip": skip, "shape": shape}


def features(
    pieces: Sequence[str], config: ViewConfig, bits: int, categories: Mapping[str, str | None] | None = None
) -> dict[int, float]:
    """Bucket -> value of one event, in order of first occurrence."""
    names = [ngram for piece in pieces for ngram in ngrams(piece, config)]
    names += [f"{field}={value}" for field, value in (categories or {}).items() if value is not None]
    counts: dict[int, int] = {}
    for name in names:
        at = bucket(name, bits)
        counts[at] = counts.get(at, 0) + 1
    return {at: scaled(count, config.values) for at, count in counts.items()}


def scaled(count: int, values: str) -> float:
    return {"binary": 1.0, "counts": float(count), "log": float(np.float32(math.log(1 + count)))}[values]
