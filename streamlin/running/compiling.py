"""`main` compiles what a run of a configuration, JSON on standard input, needs.

With the argument `lines` the run writes predictions, too. It begins with what learns, at which Python is slowest, see
`streamlin.kernel.late`, and ends with what hashes. Of either it begins with what is needed last, see `SecondCompiler`.
Each kernel is called by itself, with arrays like a run's.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from streamlin.checkpoint.models import new_model
from streamlin.config import RunConfig
from streamlin.evaluation import Predictions
from streamlin.evaluation.report import report_of
from streamlin.events import Batch
from streamlin.features import Buckets
from streamlin.kernel.late import rely_on
from streamlin.learners.targets import targets
from streamlin.model import Model
from streamlin.running.warming import TAGS, small, two_events

Calls = list[Callable[[], object]]


class _Python:
    """Has Python do what late kernels would, so that none of them is compiled before its turn."""

    def is_compiling(self) -> bool:
        return True


def main() -> None:
    """What the second process does, see `SecondCompiler`."""
    compile_from_the_end(RunConfig.model_validate_json(sys.stdin.buffer.read()), "lines" in sys.argv[1:])


def compile_from_the_end(config: RunConfig, lines: bool = False) -> None:
    """Compile what runs of a configuration need, beginning with what they need last. lines : they write predictions."""
    config = small(config)
    model = new_model(config)
    rely_on(_Python())
    if config.task == "tagging":
        learning, other = _of_sentences(model)
    else:
        learning, other = _of_texts(model, two_events(config), lines)
    rely_on(None)
    for call in [*reversed(learning), *reversed(other)]:
        call()
    model.close()


def _of_texts(model: Model, batch: Batch, lines: bool) -> tuple[Calls, Calls]:
    """What learns two events, and what else uses kernels, each kernel by itself, in order."""
    codes, weights, places = model.labels.learn(["1", "2"]), np.ones(2), np.arange(2, dtype=np.int32)
    buckets, goals = Buckets(np.arange(3), places, np.ones(2, np.float32)), targets(codes, weights, 0)
    examples = {view: rows.examples(buckets, weights > 0) for view, rows in model.rows.items()}
    scores, learning = np.zeros((len(model.names), 2, 2)), Calls()
    for number, name in enumerate(model.names):
        if name in model.mixtures:
            mixture = model.mixtures[name]
            mixture.grow(2)
            learning.append(partial(mixture.score_then_learn, scores[model.members[name]], goals, scores[number]))
        else:
            learner = model.learners[name]
            learner.grow(model.n_rows(name), 2)
            learning.append(partial(learner.score_then_learn, model.examples(name, examples), goals, scores[number]))
    extra: dict[str, list[str | None]] = {name: [None, None] for name in model.further_fields}
    columns = np.zeros_like(scores), codes, weights, model.labels, extra
    predicted, lead = np.zeros(scores.shape[:2], np.int32), np.zeros(2, np.int32)
    other: Calls = [
        partial(model.featurize, batch),
        *(partial(rows.examples, buckets, weights > 0) for rows in model.rows.values()),
        partial(model.prequential.count_features, examples, weights),
        partial(_count, model, model.prequential.predict_and_count, columns),
        partial(model.prequential.drift.update, predicted, codes, 0, None),
        partial(model.prequential.calibration.update, np.zeros_like(scores), predicted, lead, codes, weights, 0),
    ]
    if lines:
        baselines, measures = np.zeros((2, 2), np.int32), np.zeros((len(model.measures.names), 2))
        predictions = Predictions(predicted, lead, np.ones(2), baselines, measures)
        other.append(partial(model.lines().encode, batch, predictions))
    return learning, other


def _of_sentences(model: Any) -> tuple[Calls, Calls]:
    """The same for a tagger, once sentences are featurized; one sentence of two tokens.

    model : a `TaggingModel`, whose module is imported for taggers only.
    """
    from streamlin.tagging.features import TokenBuckets
    from streamlin.tagging.sentences import TagTargets, no_predictions
    from streamlin.tagging.templates import LEVELS

    bounds, weights, contexts = np.array([0, 2]), np.ones(1), np.zeros((2, LEVELS), np.int32)
    buckets, codes = np.zeros((2, model.view.n_templates), np.int32), model.labels.learn(TAGS)
    features = TokenBuckets(bounds, np.zeros(2, np.uint32), buckets, contexts)
    sentences = model.features.sentences(features, weights > 0)
    goals, learning = TagTargets(codes, np.zeros(1, np.int64), weights), Calls()
    for tagger in model.learners.values():
        tagger.grow(*model.features.sizes, len(TAGS))
        learning.append(partial(tagger.tag_then_learn, sentences, goals, no_predictions(1, 2, False)))
    tags, extra = np.zeros((len(model.names), 2), np.int32), {name: [None] for name in model.further_fields}
    columns = tags, codes, bounds, weights, features.words, model.labels, extra
    learning.append(partial(_count, model, model.prequential.count, columns))
    return learning, [partial(model.prequential.drift.update, tags, codes, 0, None)]


def _count(model: Any, count: Callable[..., object], columns: tuple[Any, ...]) -> None:
    """Count predictions, and report."""
    count(*columns)
    report_of(model.prequential, model.labels)
