"""Run a learner on a stream of examples as a pipeline does, and compare it with its twin."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from streamlin.events import LabelIndex
from streamlin.features.rows import RowIndex
from streamlin.learners import Learner, best, learn_labels
from streamlin.learners.priors import Priors
from streamlin.learners.targets import NOT_LEARNED, with_unlabelled, without_label
from tests import naive
from tests.sample_streams import BITS, Example, buckets_of

REAL_STREAMS = [
    ("sms-spam.jsonl.gz", 2000),
    ("trec-6.jsonl.gz", 1500),
    ("langid-ud.jsonl.gz", 500),
    ("clinc150.jsonl.gz", 600),
]
"""Files and the number of events to use; they have 2, 6, 22 and 151 labels."""

POSITIVE = "must be (greater than 0|a finite number)"
"""The message for a parameter that must be positive and finite."""


class Run:
    """A learner with rows and labels of its own."""

    def __init__(self, learner: Learner, bits: int = BITS) -> None:
        self.learner, self.rows, self.labels = learner, RowIndex(bits), LabelIndex()

    def step(self, examples: Sequence[Example]) -> NDArray[np.float64]:
        """Learn a batch; the scores float64[n, n_labels] made before each of its examples was learned."""
        weights = np.array([example.weight for example in examples])
        batch = learn_labels(self.labels, [example.label for example in examples], weights)
        if self.learner.learns_unlabelled:
            batch = with_unlabelled(batch, without_label([example.label for example in examples]))
        rows = self.rows.examples(buckets_of(examples), batch.codes != NOT_LEARNED)
        self.learner.grow(len(self.rows), len(self.labels))
        scores = np.empty((len(examples), len(self.labels)))
        self.learner.score_then_learn(rows, batch, scores)
        return scores

    def start_with(self, labels: Sequence[str], occurrences: Mapping[tuple[int, str], float]) -> None:
        """Words set by hand, as bucket and label."""
        self.labels.learn(labels)
        rows = self.rows.bring(np.array([bucket for bucket, _ in occurrences], np.int32))
        codes = self.labels.codes([label for _, label in occurrences])
        self.learner.grow(len(self.rows), len(self.labels))
        self.learner.start_with(Priors(rows, codes, np.array([*occurrences.values()]), len(labels)))

    def state(self) -> dict[str, NDArray[np.generic]]:
        """The learner's tables, cut to what is in use."""
        return self.learner.state(len(self.rows), len(self.labels))


def check_against_twin(
    learner: Learner,
    twin: naive.Naive,
    examples: Sequence[Example],
    bits: int = BITS,
    size: int = 64,
    occurrences: Mapping[tuple[int, str], float] | None = None,
) -> None:
    """Scores and predictions of learner and twin are the same, bit for bit.

    occurrences : (bucket, label) -> how often it is held to have occurred before the first event.
    """
    run = Run(learner, bits)
    if occurrences is not None:
        labels = [*dict.fromkeys(label for _, label in occurrences)]
        run.start_with(labels, occurrences)
        twin.start_with(labels, occurrences)
    for begin in range(0, len(examples), size):
        batch = examples[begin : begin + size]
        scores = run.step(batch)
        predicted = [run.labels.names[code] if code >= 0 else None for code in best(scores)]
        for example, ours, winner in zip(batch, scores, predicted, strict=True):
            theirs = twin.step(*example)
            assert winner == naive.best(theirs)
            assert_array_equal(ours[: len(theirs)], list(theirs.values()))
            assert np.isneginf(ours[len(theirs) :]).all()
    assert run.labels.names == twin.labels
    assert set(run.rows.buckets.tolist()) == twin.seen
