"""Labels by number."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class LabelIndex:
    """Labels and their codes, 0, 1, … in order of first appearance; grows during a run."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        self._codes: dict[str | None, int] = {name: code for code, name in enumerate(self.names)}
        self._codes[None] = -1

    def __len__(self) -> int:
        return len(self.names)

    def code(self, label: str | None) -> int:
        """The code of a label; -1 for None and for a label that has not been seen yet."""
        return self._codes.get(label, -1)

    def codes(self, labels: Sequence[str | None]) -> NDArray[np.int32]:
        """The codes int32[n] of labels; -1 for None and for labels that have not been seen yet."""
        try:
            return self._known(labels)
        except KeyError:
            get = self._codes.get
            return np.fromiter([get(label, -1) for label in labels], np.int32, len(labels))

    def unknown(self, labels: Iterable[str | None]) -> list[str]:
        """The labels that have no code yet, each once, in order."""
        return [label for label in dict.fromkeys(labels) if label is not None and label not in self._codes]

    def learn(self, labels: Sequence[str | None]) -> NDArray[np.int32]:
        """The codes int32[n] of labels, -1 for None; labels seen for the first time get the next codes."""
        try:
            return self._known(labels)
        except KeyError:
            for label in labels:
                if label not in self._codes:
                    self._codes[label] = len(self.names)
                    self.names.append(label)  # type: ignore[arg-type]  # None has a code from the start
            return self._known(labels)

    def _known(self, labels: Sequence[str | None]) -> NDArray[np.int32]:
        """The codes of labels; without a call of Python for each. Raises KeyError for one that has none."""
        return np.fromiter(map(self._codes.__getitem__, labels), np.int32, len(labels))

    def learn_one(self, label: str | None) -> int:
        """`learn` for one label."""
        code = self._codes.get(label)
        return code if code is not None else int(self.learn((label,))[0])
