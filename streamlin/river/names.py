"""Names of features, of any hashable type, as the texts that are hashed."""

from collections.abc import Hashable, Mapping


def as_text(name: Hashable) -> str:
    """A text unchanged, a tuple of words joined to their n-gram, the `str` of anything else."""
    if isinstance(name, str):
        return name
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def by_text(x: Mapping[Hashable, float]) -> dict[str, float]:
    """The features of a mapping by text; the values of names with the same text are summed."""
    found: dict[str, float] = {}
    for name, value in x.items():
        text = as_text(name)
        found[text] = found[text] + value if text in found else value
    return found
