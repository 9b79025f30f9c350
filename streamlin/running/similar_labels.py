"""Notices labels that are probably meant to be one: they differ only by what is easily overlooked."""

from collections.abc import Callable, Sequence
from unicodedata import normalize

from streamlin.features.normalization import without_invisible

_DIFFERENCES: dict[str, Callable[[str], str]] = {
    "by characters that can't be seen": lambda label: label,
    "by blanks": lambda label: " ".join(label.split()),
    "by their Unicode form": lambda label: normalize("NFKC", label),
    "by case": str.casefold,
}
"""What is overlooked -> what is left of a label without it, each in addition to those above."""


class SimilarLabels:
    """Looks at each label of a run once."""

    def __init__(self) -> None:
        self._seen, self._shown = 0, False
        self._known: dict[str, str] = {}
        """What is left of a label without all of this -> the first such label."""

    def observe(self, labels: Sequence[str]) -> str | None:
        """Take the labels known so far into account; returns a line for the first two that are alike."""
        for label in labels[self._seen :]:
            first = self._known.setdefault(_forms(label)[-1], label)
            if first != label and not self._shown:
                self._shown = True
                return (
                    f"labels {first!a} and {label!a} differ only {_difference(first, label)}, "
                    "and are two labels; there may be more such pairs"
                )
        self._seen = len(labels)
        return None


def _forms(label: str) -> list[str]:
    """What is left of a label without invisible characters, then also without the further differences, one by one."""
    left, forms = without_invisible(label), []
    for reduced in _DIFFERENCES.values():
        left = reduced(left)
        forms.append(left)
    return forms


def _difference(label: str, other: str) -> str:
    """The first kind of difference without which the labels are equal."""
    kinds = zip(_DIFFERENCES, _forms(label), _forms(other), strict=True)
    return next(kind for kind, one, two in kinds if one == two)
