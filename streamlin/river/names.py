"""Names of features, which are anything that can be a key, as the texts that are hashed."""

from collections.abc import Hashable, Mapping


def as_text(name: Hashable) -> str:
    """A text is itself, a tuple the n-gram of its words, all else what `str` makes of it."""
    if isinstance(name, str):
        return name
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def by_text(x: Mapping[Hashable, float]) -> dict[str, float]:
    """A mapping's features by text; where two names are one text, their values are summed."""
    found: dict[str, float] = {}
    for name, value in x.items():
        text = as_text(name)
        found[text] = found[text] + value if text in found else value
    return found
