"""The texts that wait for a label that was asked for."""

from collections.abc import Iterator, Mapping
from itertools import dropwhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.delayed_labels.packing import expected_packed, packed, unpacked_texts
from streamlin.errors import CheckpointError
from streamlin.storage.arrays import Expected, expected

_UNFIT = "the checkpoint's arrays of labels that are asked for do not fit together"


class Request(NamedTuple):
    """Why a label was asked for, and what was predicted then.

    number : of the text, in the stream of texts. predicted : the leading learner's label code, -1 for none.
    confidence : NaN for none. reason : see `streamlin.asking.decisions`. probability : of asking.
    """

    number: int
    predicted: int
    confidence: float
    reason: int
    probability: float


class Wanted:
    """The requests that are not answered yet, by the id of the text, the oldest first."""

    def __init__(self) -> None:
        self._requests: dict[str, Request] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def add(self, id_: str, request: Request) -> None:
        """Add a request of a text that arrived after all others."""
        self._requests[id_] = request

    def discard(self, id_: str) -> None:
        """Remove the request of a text that no longer waits, if there is one."""
        self._requests.pop(id_, None)

    def after(self, number: int) -> Iterator[tuple[str, Request]]:
        """Those of texts behind the text of this number."""
        return dropwhile(lambda pair: pair[1].number <= number, self._requests.items())

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays by name."""
        requests = self._requests.values()
        return packed("ids", list(self._requests)) | {
            "numbers": np.array([one.number for one in requests], np.int64),
            "predicted": np.array([one.predicted for one in requests], np.int32),
            "confidences": np.array([one.confidence for one in requests]),
            "reasons": np.array([one.reason for one in requests], np.int32),
            "probabilities": np.array([one.probability for one in requests]),
        }

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """What the arrays of a `state` must be, where so many labels are known."""
        return expected_packed("ids") | {
            "numbers": expected(np.int64, None),
            "predicted": expected(np.int32, None, lowest=-1, highest=max(n_labels - 1, 0)),
            "confidences": expected(np.float64, None),
            "reasons": expected(np.int32, None, lowest=1, highest=3),
            "probabilities": expected(np.float64, None),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state` returned. Raises CheckpointError if it does not fit together."""
        names = ("numbers", "predicted", "confidences", "reasons", "probabilities")
        columns = [arrays[name].tolist() for name in names]
        ids = unpacked_texts("ids", arrays)
        if any(len(column) != len(ids) for column in columns) or len({*ids}) != len(ids):
            raise CheckpointError(_UNFIT)
        self._requests = dict(zip(ids, map(Request, *columns), strict=True))
