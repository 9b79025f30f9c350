"""A text that waits for its label, and many such texts as arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.delayed_labels.form import Form
from streamlin.delayed_labels.packing import expected_packed, packed, unpacked, unpacked_texts
from streamlin.errors import CheckpointError
from streamlin.storage.arrays import Expected, expected


class WaitingText:
    """What is kept of a text until its label arrives.

    id : may be None only for a fixed delay, where no label refers to it. extra : further fields.
    texts : its pieces; of a sentence the JSON of its tokens, and that of each further column.
    values : of the pieces; None if all are 1.
    weight, time : of the event; seconds, NaN without a time.
    number : its number in the stream of texts.
    label : the label to come, for a fixed delay.
    scores : float64[L, known], each learner's scores of the labels known then; of a sentence float64[L, 1], each
        tagger's confidence.
    codes : int32[2], `baselines` of `Predictions`; of a sentence int32[L + 2, tokens]: each tagger's tags, those of
        the baseline, and 1 for each token whose word was known.
    asked : the probability with which its label was asked for; 0 if it was not.
    row, source : its row, and its event, in the batch that is being processed; -1 if it is not in it.
    """

    __slots__ = (
        *("asked", "codes", "extra", "id", "label", "number", "row"),
        *("scores", "source", "texts", "time", "values", "weight"),
    )

    scores: NDArray[np.float64]
    codes: NDArray[np.int32]

    def __init__(
        self,
        id_: str | None,
        texts: tuple[str, ...],
        extra: tuple[str | None, ...],
        weight: float,
        time: float,
        number: int,
        label: str | None = None,
        values: tuple[float, ...] | None = None,
    ) -> None:
        self.id, self.texts, self.extra = id_, texts, extra
        self.weight, self.time, self.number, self.label, self.values = weight, time, number, label, values
        self.row = self.source = -1
        self.asked = 0.0

    @property
    def size(self) -> int:
        """Size in characters, of texts, id, label and further fields."""
        return sum(map(len, (*self.texts, *filter(None, (self.id, self.label, *self.extra)))))


class Due(NamedTuple):
    """What is learned when an event arrives: a text that waits, or the event's own if None; its label and weight.

    label : None for a text that is learned without one.
    """

    text: WaitingText | None
    label: str | None
    weight: float


def to_arrays(waiting: Sequence[WaitingText], form: Form) -> dict[str, NDArray[Any]]:
    """Texts as arrays, for a checkpoint."""
    arrays = packed("ids", [text.id for text in waiting])
    arrays |= packed("labels", [text.label for text in waiting])
    arrays |= packed("texts", [piece for text in waiting for piece in text.texts])
    for number, name in enumerate(form.names):
        arrays |= packed(f"extra/{name}", [text.extra[number] for text in waiting])
    arrays["pieces"] = np.array([len(text.texts) for text in waiting], np.int64)
    arrays["values"] = piece_values(waiting)
    arrays["known"] = np.array([text.scores.shape[1] for text in waiting], np.int64)
    arrays["scores"] = np.concatenate([np.empty(0), *(text.scores.ravel() for text in waiting)])
    arrays[form.array] = form.packed([text.codes for text in waiting])
    arrays["weights"] = np.array([text.weight for text in waiting])
    arrays["times"] = np.array([text.time for text in waiting])
    arrays["numbers"] = np.array([text.number for text in waiting], np.int64)
    if form.asks:
        arrays["asked"] = np.array([text.asked for text in waiting])
    return arrays


def expected_arrays(form: Form, n_labels: int) -> dict[str, Expected]:
    """What the arrays that `to_arrays` makes must be, where so many labels are known."""
    arrays = expected_packed("ids", "labels", "texts", *(f"extra/{name}" for name in form.names))
    arrays |= {name: expected(np.int64, None) for name in ("pieces", "numbers")}
    arrays |= {name: expected(np.float64, None) for name in ("scores", "weights", "times")}
    arrays["values"] = expected(np.float32, None)
    arrays["known"] = expected(np.int64, None, highest=max(n_labels, 1))
    arrays[form.array] = form.expected(n_labels)
    return arrays | ({"asked": expected(np.float64, None)} if form.asks else {})


def _check(arrays: Mapping[str, NDArray[Any]], extras: Sequence[Sequence[Any]], pieces: int, learners: int) -> None:
    """Raise CheckpointError unless the arrays are of the same texts."""
    n = arrays["ids_lengths"].size
    names = ("labels_lengths", "pieces", "weights", "times", "numbers", "known", "asked")
    columns = [arrays[name] for name in names if name in arrays]
    if not (
        all(len(column) == n for column in [*columns, *extras])
        and ((arrays["weights"] >= 0.0) & (arrays["weights"] < np.inf)).all()
        and all(0.0 <= share <= 1.0 for share in arrays.get("asked", ()))
        and sum(arrays["pieces"].tolist()) == pieces == arrays["values"].size
        and sum(arrays["known"].tolist()) * learners == arrays["scores"].size
    ):
        raise CheckpointError("the checkpoint's arrays of texts that wait for labels do not fit together")


def piece_values(texts: Sequence[WaitingText]) -> NDArray[np.float32]:
    """float32[pieces]: the values of the pieces of all texts."""
    return np.array([value for text in texts for value in text.values or (1.0,) * len(text.texts)], np.float32)


def from_arrays(arrays: Mapping[str, NDArray[Any]], form: Form) -> list[WaitingText]:
    """The texts that `to_arrays` was given. Raises CheckpointError if the arrays do not fit together."""
    pieces = unpacked_texts("texts", arrays)
    extras = [unpacked(f"extra/{name}", arrays) for name in form.names]
    learners = form.learners
    _check(arrays, extras, len(pieces), learners)
    ends = np.cumsum(arrays["pieces"]).tolist()
    owned = [tuple(pieces[end - count : end]) for end, count in zip(ends, arrays["pieces"].tolist(), strict=True)]
    codes = form.unpacked(arrays[form.array], owned)
    values = arrays["values"].tolist()
    columns = zip(
        unpacked("ids", arrays),
        unpacked("labels", arrays),
        ends,
        arrays["pieces"].tolist(),
        arrays["weights"].tolist(),
        arrays["times"].tolist(),
        arrays["numbers"].tolist(),
        strict=True,
    )
    found = []
    score_end = np.cumsum(arrays["known"] * learners)
    for i, (id_, label, end, count, weight, time, number) in enumerate(columns):
        extra = tuple(column[i] for column in extras)
        own = tuple(values[end - count : end])
        text = WaitingText(id_, owned[i], extra, weight, time, number, label, own if set(own) != {1.0} else None)
        known = int(arrays["known"][i])
        text.scores = arrays["scores"][score_end[i] - known * learners : score_end[i]].reshape(learners, known)
        text.codes = codes[i]
        text.asked = float(arrays["asked"][i]) if form.asks else 0.0
        if label is not None:
            form.check(label)
            if form.misfit(label, form.length(owned[i])) is not None:
                raise CheckpointError("the checkpoint's labels of texts that wait do not fit these")
        found.append(text)
    return found
