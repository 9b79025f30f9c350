"""Clusters of texts as JSON lines."""

from collections.abc import Sequence

import msgspec
import numpy as np

from streamlin.evaluation.topics import TopicPredictions
from streamlin.events import Batch, Distinct
from streamlin.kernel.byte_buffers import concatenate
from streamlin.streams.prediction_lines import NO_ASKS, Lines, write_lines

_PUNCTUATION = (
    b'{"id": ',
    b'{"position": ',
    b', "cluster": ',
    b', "similarity": ',
    b"null",
    b'}, "label": ',
    b"}}\n",
    b"}\n",
)
_NEW = b', "new": true', b', "new": false'


class TopicLines:
    """Makes `{"id": …, "cluster": …, "similarity": …, "new": …, "learners": {…}, "label": …}`, one line per text.

    A text without words has null for its cluster and the similarity; one that is new and not learned has null for its
    cluster. A text without a label has no `label`.
    """

    def __init__(self, learners: Sequence[str]) -> None:
        heads = [b', "learners": {', *[b", "] * (len(learners) - 1)]
        names = [head + msgspec.json.encode(name) + b": " for head, name in zip(heads, learners, strict=True)]
        self._texts = concatenate([*_PUNCTUATION, *names])

    def encode(self, batch: Batch, predictions: TopicPredictions) -> Lines:
        """The lines of a batch, each with its line feed."""
        numbers, codes = np.unique(predictions.numbers, return_inverse=True)
        shown = codes.reshape(predictions.numbers.shape).astype(np.int32)
        shown[predictions.numbers == 0] = -1
        given = Distinct.of(batch.labels)
        labels = given.coded(np.arange(numbers.size, numbers.size + len(given.values), dtype=np.int32))
        texts = [b"null", *(b"%d" % number for number in numbers), *map(msgspec.json.encode, given.values)]
        each = np.arange(len(batch))
        marks = [_NEW[not new] for new in predictions.new[predictions.lead, each].tolist()]
        similarities = predictions.similarities[predictions.lead, each]
        nothing = np.empty((0, len(batch))), NO_ASKS
        return write_lines(
            *(batch, shown, predictions.lead, similarities, *nothing, concatenate(marks)),
            *(labels, texts, self._texts),
        )
