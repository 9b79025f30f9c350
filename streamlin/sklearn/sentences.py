"""Validation of sentences and tags as scikit-learn's users pass them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Columns = dict[str, list[list[str | None]]]


def as_sentences(X: Any, columns: Sequence[str]) -> tuple[list[list[str]], Columns]:
    """The tokens of each sentence, and by name the values of each column.

    Raises
    ------
    ValueError : X is not a list of sentences or is empty; a sentence is not a list of texts, or lacks a column.
    """
    sentences = _listed(X, "X", "a list of sentences")
    if not sentences:
        raise ValueError("X has 0 sample(s), at least one is required")
    tokens, found = list[list[str]](), Columns({name: [] for name in columns})
    for i, sentence in enumerate(sentences):
        own = sentence
        if isinstance(sentence, Mapping):
            own = _of_mapping(sentence, "tokens", i)
        elif columns:
            raise ValueError(f"X[{i}] must be a mapping with 'tokens' and {_names(columns)}, got {_shown(sentence)}")
        tokens.append(_texts(own, f"X[{i}]", "tokens", None))  # type: ignore[arg-type]  # none of them is None
        for name in columns:
            values = _texts(_of_mapping(sentence, name, i), f"X[{i}][{name!r}]", "values", "")
            _check_lengths(values, tokens[-1], f"X[{i}][{name!r}]", "values")
            found[name].append(values)
    return tokens, found


def checked_tags(y: Any, tokens: Sequence[Sequence[Any]]) -> list[list[str | None]]:
    """The tags of sentences with these tokens; None where one is unknown.

    Raises
    ------
    ValueError : y is not a list of lists of texts and None, or has other lengths than X.
    """
    if y is None:
        raise ValueError("a tagger requires y to be passed, but the target y is None")
    tags = _listed(y, "y", "a list of lists of tags")
    if len(tags) != len(tokens):
        raise ValueError(f"X has {len(tokens)} sentences and y has {len(tags)}")
    found = []
    for i, (own, words) in enumerate(zip(tags, tokens, strict=True)):
        found.append([tag or None for tag in _texts(own, f"y[{i}]", "tags", "")])
        _check_lengths(found[-1], words, f"y[{i}]", "tags")
    return found


def _listed(value: Any, name: str, expected: str) -> list[Any]:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__"):
        raise ValueError(f"{name} must be {expected}, got {_shown(value)}")
    return list(value)


def _of_mapping(sentence: Mapping[str, Any], name: str, i: int) -> Any:
    if name not in sentence:
        raise ValueError(f"X[{i}] lacks '{name}', it has {_names(sentence) or 'nothing'}")
    return sentence[name]


def _texts(value: Any, name: str, what: str, missing: str | None) -> list[str | None]:
    """The list of texts; None, where a value may be missing, stays."""
    if not isinstance(value, list | tuple | np.ndarray):
        raise ValueError(f"{name} must be a list of {what}, got {_shown(value)}")
    texts = list(value)
    for j, text in enumerate(texts):
        if not isinstance(text, str) and (text is not None or missing is None):
            expected = "a text" if missing is None else "a text or None"
            raise ValueError(f"{name}[{j}] must be {expected}, got {_shown(text)}")
    return texts


def _check_lengths(values: Sequence[Any], tokens: Sequence[Any], name: str, what: str) -> None:
    if len(values) != len(tokens):
        raise ValueError(f"{name} has {len(values)} {what} for {len(tokens)} tokens, expected as many")


def _names(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _shown(value: Any) -> str:
    return f"{'a text: ' if isinstance(value, str) else ''}{value!r:.60}"
