"""What was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, or the list of what is known."""
    names = list(known)
    close = get_close_matches(word.lower(), {name.lower(): name for name in names}, n=1, cutoff=0.5)
    if close:
        return "did you mean '" + next(name for name in names if name.lower() == close[0]) + "'?"
    return f"there is {', '.join(names)}" if names else "there is none"
