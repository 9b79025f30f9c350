"""Notices labels that look alike: they differ only by characters that can't be seen."""

from collections.abc import Sequence

from streamlin.features.normalization import without_invisible


class InvisibleDifferences:
    """Looks at each label of a run once."""

    def __init__(self) -> None:
        self._seen, self._shown = 0, False
        self._visible: dict[str, str] = {}
        """What can be seen of a label -> the first such label."""

    def observe(self, labels: Sequence[str]) -> str | None:
        """Take the labels known so far into account; returns a line for the first two that look alike."""
        for label in labels[self._seen :]:
            first = self._visible.setdefault(without_invisible(label), label)
            if first != label and not self._shown:
                self._shown = True
                return (
                    f"labels {first!a} and {label!a} differ only by characters that can't be seen, "
                    "and are two labels; there may be more such pairs"
                )
        self._seen = len(labels)
        return None
