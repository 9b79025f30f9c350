"""The list of what the lead got wrong."""

import numpy as np
import pytest

from streamlin.evaluation import Predictions
from streamlin.events import Batch, single_records
from streamlin.model import Learned
from streamlin.monitoring.dashboard.mistakes import KEPT, Mistakes, last_wrong

LABELS = ["ham", "spam"]


def batch_of(texts: list[str], labels: list[str | None], pieces: list[int] | None = None) -> Batch:
    n = len(labels)
    return Batch(
        ids=[None if i == 0 else f"id{i}" for i in range(n)],
        texts=texts,
        labels=labels,
        weights=np.ones(n),
        times=np.full(n, np.nan),
        extra={},
        records=single_records([b"x"] * n, "in.jsonl"),
        kept=np.arange(n),
        pieces=None if pieces is None else np.array(pieces),
    )


def predictions_of(first: list[int], second: list[int], lead: list[int], confidences: list[float]) -> Predictions:
    predicted = np.array([first, second], np.int32)
    return Predictions(predicted, np.array(lead, np.int32), np.array(confidences), predicted, np.empty((0, len(lead))))


def learned(batch: Batch, codes: list[int], predictions: Predictions) -> Learned:
    return Learned(batch, np.array(codes, np.int32), predictions, (batch, batch[:0]))


def test_only_labelled_events_the_lead_got_wrong_are_listed() -> None:
    """Event 0: the lead, learner 0, says ham, it is spam. Event 1 has no label. Event 2: learner 1 leads and is right.
    Event 3: no prediction."""
    mistakes = Mistakes(hide_text=False)
    batch = batch_of(["a", "b", "c", "d"], ["spam", None, "ham", "ham"])
    predictions = predictions_of([0, 0, 1, 0], [1, 0, 0, -1], [0, 0, 1, 1], [0.75, 0.5, 0.5, np.nan])
    mistakes.learned(learned(batch, [1, -1, 0, 0], predictions))
    assert mistakes.listed(LABELS) == [
        {"event": "id3", "text": "d", "label": "ham", "predicted": None, "confidence": None},
        {"event": "in.jsonl:0", "text": "a", "label": "spam", "predicted": "ham", "confidence": 0.75},
    ]


def test_last_twenty_mistakes_do_not_depend_on_batches() -> None:
    """Of 50 mistakes the ids 31 to 50, in batches of 50 and of 7 alike."""
    listed = []
    for size in (50, 7):
        mistakes = Mistakes(hide_text=False)
        for begin in range(0, 50, size):
            n = min(size, 50 - begin)
            batch = batch_of([str(begin + i) for i in range(n)], ["spam"] * n)
            wrong = predictions_of([0] * n, [0] * n, [0] * n, [0.5] * n)
            mistakes.learned(learned(batch, [1] * n, wrong))
        listed.append([mistake["text"] for mistake in mistakes.listed(LABELS)])
    assert listed[0] == listed[1] == [str(i) for i in range(49, 49 - KEPT, -1)]


def test_text_fields_are_joined_and_cut() -> None:
    mistakes = Mistakes(hide_text=False)
    batch = batch_of(["subject", "body " * 300_000, "other"], ["spam", "spam"], pieces=[0, 2, 3])
    mistakes.learned(learned(batch, [1, 1], predictions_of([0, 1], [0, 0], [0, 0], [0.5, 0.5])))
    [mistake] = mistakes.listed(LABELS)
    assert mistake["text"].startswith("subject body body")
    assert len(mistake["text"]) == 200


def test_hidden_texts_are_not_kept() -> None:
    mistakes = Mistakes(hide_text=True)
    batch = batch_of(["secret"], ["spam"])
    mistakes.learned(learned(batch, [1], predictions_of([0], [0], [0], [0.5])))
    [mistake] = mistakes.listed(LABELS)
    assert mistake["text"] is None
    assert "secret" not in repr(mistakes.__dict__)


@pytest.mark.parametrize("wrong", [0.0, 0.01, 0.3, 1.0])
def test_kernel_finds_the_mistakes_that_numpy_finds(wrong: float) -> None:
    """Random predictions of three learners, one of which leads at each event; a tenth has no label."""
    draw = np.random.default_rng(int(100 * wrong))
    codes = np.where(draw.random(500) < 0.1, -1, draw.integers(0, 4, 500)).astype(np.int32)
    predicted = np.where(draw.random((3, 500)) < wrong, draw.integers(-1, 4, (3, 500)), codes).astype(np.int32)
    lead = draw.integers(0, 3, 500).astype(np.int32)
    expected = np.flatnonzero((codes >= 0) & (predicted[lead, np.arange(500)] != codes))[-KEPT:]
    rows = np.full(KEPT, -7)
    found = last_wrong(predicted, lead, codes, rows)
    assert found == expected.size
    assert rows[KEPT - found :].tolist() == expected.tolist()
    assert (rows[: KEPT - found] == -7).all()
