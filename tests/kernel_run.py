"""Every kernel that learns, evaluates or writes, run over one made-up stream.

`python -m tests.kernel_run FILE EVENTS` saves the outcome, to compare runs with different settings of numba.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig, RunConfig
from streamlin.evaluation.drift import detector_of
from streamlin.events import Event
from streamlin.kernel import kernel
from streamlin.learners import KINDS
from streamlin.model import Model
from streamlin.streams.prediction_lines import PredictionLines
from tests.sample_streams import batches

SYLLABLES = ["ba", "ce", "di", "fo", "gu", "la", "ne", "pi", "ro", "su"]


def made_up_events(n: int, seed: int = 0) -> list[Event]:
    """Texts of 0 to 14 invented words; the first word decides the label, and the labels grow from 2 to 40."""
    random = np.random.default_rng(seed)
    events = []
    for i in range(n):
        words = ["".join(random.choice(SYLLABLES, 2)) for _ in range(random.integers(0, 15))]
        label = f"label {(sum(map(ord, words[0])) if words else 0) % (2 + 38 * i // n)}"
        events.append(
            Event(
                " ".join(words).upper() if i % 3 else " ".join(words) + " é文",
                None if i % 11 == 5 else label,
                None if i % 7 == 0 else str(i),
                [1.0, 0.0, 0.3, 2.0][i % 4 if i % 5 == 0 else 0],
                extra={"half": None if i % 13 == 0 else f"half {2 * i // n}"},
            )
        )
    return events


def outcome(n: int) -> dict[str, NDArray[np.generic]]:
    """Predictions, prediction lines and every table after n events."""
    features = {
        "bits": 11,
        "names": 3000,
        "words": {"ngrams": [1, 2]},
        "letters": {"tokens": "char_wb", "values": "log"},
    }
    learners = [
        {"kind": kind, "name": f"{kind} of {view}", "features": view} for kind in KINDS for view in ("words", "letters")
    ]
    learners.append({"kind": "mixture"})
    evaluation = {"window": 13, "slice_by": "half", "slice_values": 1, "confusion_labels": 30}
    model = Model(RunConfig(features=features, learners=learners, evaluation=evaluation))
    lines, left = PredictionLines(model.names, model.labels), {}
    for number, batch in enumerate(batches(made_up_events(n), 50)):
        features = model.featurize(batch)
        for how in (model.predict, model.step):
            given, predictions = how(batch, features)
            left |= {
                f"{name}/{how.__name__} {number}": column
                for name, column in predictions._asdict().items()
                if column is not None
            }
            left[f"lines/{how.__name__} {number}"] = np.frombuffer(
                bytes(lines.encode(given, predictions).text), np.uint8
            )
    return left | model.state()[0] | drift_outcome(n)


def drift_outcome(n: int) -> dict[str, NDArray[np.generic]]:
    """Changes that each detector finds in 10 n events, whose errors grow rarer and at once become frequent again."""
    random, found = np.random.default_rng(n), {}
    times = np.arange(10 * n) % (4 * n) / (4 * n)
    predicted = (random.random((2, times.size)) > times).astype(np.int32)
    labels = np.where(random.random(times.size) < 0.1, -1, 0).astype(np.int32)
    for kind in ("adwin", "page_hinkley", "ddm", "kswin"):
        detector = detector_of(2, EvaluationConfig(drift=kind, page_hinkley_threshold=5.0))
        changes = detector.watch(predicted, labels)
        found |= {f"{kind}/{name}": column for name, column in (changes._asdict() | detector.state()).items()}
    return found


@kernel
def beyond(array, i):
    """Item i of the array, which may be out of bounds."""
    return array[i]


def bounds_are_checked() -> bool:
    """Whether kernels raise IndexError for an index out of bounds."""
    try:
        beyond(np.zeros(3), 3)
    except IndexError:
        return True
    return False


if __name__ == "__main__":
    np.savez(sys.argv[1], checked=bounds_are_checked(), **outcome(int(sys.argv[2])))
