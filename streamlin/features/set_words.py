"""The features of a word or phrase that a user sets by hand."""

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.features.ngram_locations import Ngrams, ngrams
from streamlin.features.ngrams import buckets_of
from streamlin.features.view import View


def word_features(view: View, word: str, view_name: str = "words") -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The buckets int32[n] of a word, and its shares float64[n] in them, which sum to 1.

    In a view of words, the word or phrase is one n-gram. In a view of characters, it is the longest n-grams of its
    tokens, in equal shares: no single one of them need be as long as a word.

    Raises
    ------
    ConfigError : the view has no n-grams, cuts it into nothing, or into more or fewer tokens than its n-grams have.
    """
    if not view.takes_words:
        raise ConfigError(f"{word!r:.60} is no feature of view {view_name} (tokens = '{view.config.tokens}')")
    found = ngrams(view, [word])
    if not found.text.strip():
        raise ConfigError(f"{word!r:.60} has no token in view {view_name} (tokens = '{view.config.tokens}')")
    chosen = _longest(found, view) if view.config.tokens == "char_wb" else _whole(found, view, word, view_name)
    hashes, counts = np.unique(found.hashes[chosen], return_counts=True)
    return buckets_of(hashes, view.bits).astype(np.int32), counts / counts.sum()


def _whole(found: Ngrams, view: View, word: str, view_name: str) -> NDArray[np.bool_]:
    """Which n-gram is the whole phrase."""
    n_tokens, (shortest, longest) = len(found.spans), view.config.ngrams
    if not shortest <= n_tokens <= longest:
        raise ConfigError(
            f"{word!r:.60} has {n_tokens} tokens in view {view_name}, whose n-grams have {shortest} to {longest}; "
            f"name a shorter part of it, or set features.{view_name}.ngrams"
        )
    chosen: NDArray[np.bool_] = found.size == n_tokens
    return chosen


def _longest(found: Ngrams, view: View) -> NDArray[np.bool_]:
    """Which n-grams of characters are the longest of their token, which has a blank on each side."""
    blanks = np.array([character == " " for character in found.text.rstrip("\n")])
    token_of = np.cumsum(blanks & np.append(True, blanks[:-1]))
    sizes = np.bincount(token_of)[token_of[found.first]]
    chosen: NDArray[np.bool_] = found.size == np.minimum(view.config.ngrams[1], sizes)
    return chosen
