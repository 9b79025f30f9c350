"""All learners of a run and their metrics, with one common state."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.asking.asking import TOO_FEW, Asking
from streamlin.asking.turns import Turns
from streamlin.config import (
    TEMPLATE,
    ClustererConfig,
    DrainConfig,
    ExternalModelConfig,
    MixtureConfig,
    ParserConfig,
    PriorsConfig,
    RunConfig,
    TaggerConfig,
    kept_fields,
)
from streamlin.config.features import WITH_UNLABELLED
from streamlin.delayed_labels import Form, LabelsById, Plan, open_delayed_labels
from streamlin.delayed_labels.plan import gathered, text_of_row
from streamlin.delayed_labels.scores import keep, recall
from streamlin.errors import CheckpointError
from streamlin.evaluation import Predictions, Prequential
from streamlin.evaluation.measures import Measures
from streamlin.events import Batch, LabelIndex
from streamlin.external_models import ExternalModel, Inputs
from streamlin.features import Buckets, View
from streamlin.features.joint import JointRows
from streamlin.features.names import Names
from streamlin.features.rows import Examples, RowIndex
from streamlin.features.token_hashes import TokenHashes
from streamlin.kernel.late import expect
from streamlin.learners import Learner, Mixture, Targets, from_config, learn_labels, no_targets
from streamlin.learners.priors import Priors, learn_priors, words_of
from streamlin.learners.side_by_side import SideBySide
from streamlin.learners.targets import NOT_LEARNED, with_unlabelled, without_label
from streamlin.storage.arrays import arrays_under
from streamlin.streams.prediction_lines import PredictionLines

if TYPE_CHECKING:
    from streamlin.features.drain import Drain
    from streamlin.keyed.models import Batched, KeyModels

_WORTH_A_THREAD = 10_000
"""Features of a batch from which on handing learners to another thread takes less time than it saves."""


class Features(dict[str, Buckets]):
    """The features of a batch, by view.

    tokens : the tokens of its texts; None if nothing needs them.
    """

    tokens: TokenHashes | None = None


class Learned(NamedTuple):
    """The rows that a step has learned: one for each event, and one for each delayed label.

    rows : their labels and positions. codes : int32[n], -1 without a label. predictions : those for each row.
    texts : the batch, and the earlier texts whose labels have arrived. sources : int64[n], the index of each row's text
        in the two; None: row i is event i.
    """

    rows: Batch
    codes: NDArray[np.int32]
    predictions: Predictions
    texts: tuple[Batch, Batch]
    sources: NDArray[np.int64] | None = None

    def text(self, row: int) -> tuple[Batch, int]:
        """The batch that holds a row's text, and the index of the event in it."""
        return text_of_row(self.texts, self.sources, row)


class Model:
    """The views, their row indexes, the labels, the learners with external models and mixtures, and their metrics.

    `featurize` reads no state, so it may run ahead on another thread; `step` must get the batches in order.
    """

    def __init__(self, config: RunConfig) -> None:
        self.labels = LabelIndex()
        self.learned: Learned
        """The rows of the last `step`."""
        self.further_fields = kept_fields(config)
        self._notices: list[str] = []
        self.clipped: set[str] = set()
        """The learners for which negative values were raised to 0."""
        self._noticed: set[str] = set()
        """Those of them of which a notice has said so."""
        self._side_by_side = SideBySide(config.pipeline.threads)
        self.learners: dict[str, Learner] = {}
        self.views_of: dict[str, tuple[str, ...]] = {}
        """The views that each learner reads; not for mixtures and external models of texts."""
        self.external_models: dict[str, ExternalModel] = {}
        self.mixtures: dict[str, Mixture] = {}
        self.members: dict[str, list[int]] = {}
        """Each mixture's members, as indexes of learners."""
        self.names = [learner.name for learner in config.learners]
        left_out = config.checkpoint.external_models == "leave_out"
        bits, categories = config.features.bits, config.fields.categories
        for number, learner in enumerate(config.learners):
            if isinstance(learner, ExternalModelConfig):
                self.external_models[learner.name] = ExternalModel(learner, bits, left_out)
                if learner.input == "features":
                    self.views_of[learner.name] = (learner.features,)
            elif isinstance(learner, MixtureConfig):
                members = learner.members or self.names[:number]
                first_variances = [learner.first_variances.get(member, np.inf) for member in members]
                self.mixtures[learner.name] = Mixture(len(members), learner.start, first_variances)
                self.members[learner.name] = [self.names.index(member) for member in members]
            else:
                assert not isinstance(
                    learner, TaggerConfig | ParserConfig | ClustererConfig
                )  # of another task, as the configuration checks
                made = self.learners[learner.name] = from_config(learner)
                self.views_of[learner.name] = tuple(
                    view + WITH_UNLABELLED * made.learns_unlabelled for view in learner.views
                )
        in_use = {view for views in self.views_of.values() for view in views}
        self.views: dict[str, View] = {}
        self.rows: dict[str, RowIndex] = {}
        for name, keys in config.features.views.items():
            kept = [used for used in (name, name + WITH_UNLABELLED) if used in in_use]
            self.views |= dict.fromkeys(kept, View(keys, bits, categories)) if kept else {}
            self.rows |= {used: RowIndex(bits, keys.min_count) for used in kept}
        self.joint_rows = {
            name: JointRows([self.rows[view] for view in views], self.learners[name].normalize)
            for name, views in self.views_of.items()
            if len(views) > 1
        }
        """Those of the learners that read several views."""
        self.learns_unlabelled = any(learner.learns_unlabelled for learner in self.learners.values())
        self.feature_names = {name: Names(config.features.names) for name in self.views}
        self.keys: KeyModels | None = None
        """The models per key, if there are any."""
        if config.keys.per is not None:
            self.keys = _new_keys(self, config)
        self.drain = _new_drain(config.drain) if config.drain.enabled else None
        """Finds the templates of log lines."""
        self.has_template_features = self.drain is not None and TEMPLATE in categories
        calibrated = [name in self.mixtures for name in self.names]
        self.measures = Measures.of(config)
        self.asking = None if config.ask.budget is None else Asking(config.ask.budget)
        asks = self.asking is not None
        views = list(self.views)
        self.prequential = Prequential(self.names, config.evaluation, calibrated, views, self.measures, asks)
        self.prequential.drain, self.prequential.keys = self.drain, self.keys
        self._words = next(iter(self.views.values()), None) or View(config.features.views["words"], bits)
        form = Form(self.further_fields, len(self.names), asks, self.learns_unlabelled)
        self.delayed_labels = open_delayed_labels(config, form)
        if self.asking is not None and self.asking.is_rough:
            self._notices.append(TOO_FEW)
        if config.priors.labels:
            self._start_with(config.priors)

    def _start_with(self, config: PriorsConfig) -> None:
        """Start with words set by hand: their labels are known, and their features have rows, before the first event.

        Raises
        ------
        ConfigError : a word is not an n-gram of a view that a learner reads.
        """
        able = {name: learner for name, learner in self.learners.items() if learner.takes_priors}
        views = dict.fromkeys(view for name in able for view in self.views_of[name] if self.views[view].takes_words)
        priors = {
            view: learn_priors(
                config, self.views[view], self.rows[view], self.labels, view.removesuffix(WITH_UNLABELLED)
            )
            for view in views
        }
        self.labels.learn([*config.labels])  # also where no learner takes them
        for rows in self.joint_rows.values():
            rows.take_in()
        able = {name: learner for name, learner in able.items() if not views.keys().isdisjoint(self.views_of[name])}
        for name, learner in able.items():
            learner.grow(self.n_rows(name), len(self.labels))
            for number, view in enumerate(self.views_of[name]):
                if view in views:
                    learner.start_with(self._own_priors(name, number, priors[view]))
        for view in views:
            self.feature_names[view].note_words(self.views[view], words_of(config), self.rows[view])
        self.prequential.start_with(self.labels, self.further_fields)
        others = [name for name in self.names if name not in (*able, *self.mixtures)]
        if others:
            self._notices.append(f"{', '.join(others)} can't start with the words of [priors], and learns without them")

    def _own_priors(self, name: str, number: int, priors: Priors) -> Priors:
        """The words as one view has them, with the rows of a learner of that view."""
        if name not in self.joint_rows:
            return priors
        return priors._replace(rows=self.joint_rows[name].rows[number][priors.rows])

    def n_rows(self, name: str) -> int:
        """The number of rows of a learner's tables."""
        return sum(len(self.rows[view]) for view in self.views_of[name])

    def examples(self, name: str, by_view: Mapping[str, Examples]) -> Examples:
        """A learner's examples, from those of its views."""
        own = [by_view[view] for view in self.views_of[name]]
        return self.joint_rows[name].examples(own) if name in self.joint_rows else own[0]

    def featurize(self, batch: Batch) -> Features:
        """The features of a batch, by view, and its tokens as the first view has them."""
        expect(batch.texts)
        features = Features()
        for name, view in self.views.items():
            same = features.get(name.removesuffix(WITH_UNLABELLED))
            if same is not None:
                features[name] = same
            elif view is self._words and self.measures.need_tokens:
                features[name], features.tokens = view.buckets_and_tokens(batch)
            else:
                features[name] = view.buckets(batch)
        if features.tokens is None and self.measures.need_tokens:
            _, features.tokens = self._words.buckets_and_tokens(batch)
        return features

    def step(self, batch: Batch, features: Features) -> tuple[Batch, Predictions]:
        """Test, then train, event by event: every learner predicts each event before its label is used.

        Returns the predicted events, which are all except those that bring only a delayed label, and their predictions.
        """
        if self.drain is not None:
            features = self._find_templates(self.drain, batch, features)
        plan = None if self.delayed_labels is None else self.delayed_labels.plan(batch)
        rows = batch if plan is None else plan.rows
        old = batch[:0]
        own: Mapping[str, Buckets] = features
        if plan is not None and not plan.is_plain:
            old = plan.old_batch()
            own = gathered(features, self.featurize(old), plan.sources)
        goals = learn_labels(self.labels, rows.labels, rows.weights)
        both = self._with_unlabelled(goals, rows, plan)
        learned = {view: self._is_learned(_of(view, goals, both)) for view in self.rows}
        examples = {view: index.examples(own[view], learned[view]) for view, index in self.rows.items()}
        sources = None if plan is None or plan.is_plain else plan.sources
        events = np.arange(len(batch)) if sources is None else sources
        self.name_features((batch, old), events, learned, examples)
        position = rows.place
        keyed = None if self.keys is None else self.keys.begin(rows.extra[self.keys.field], own, goals)
        scores = self.score_then_learn(
            examples, goals, both, Inputs(own, partial(_texts, batch, old, sources)), position, keyed
        )
        earlier = None if plan is None else recall(plan, scores)
        prequential = self.prequential
        prequential.count_features(examples, rows.weights if plan is None else plan.first_weights)
        codes = goals.codes if plan is None else None
        measures = self.measures.update(batch, features.tokens, prequential.events, codes, len(self.labels))
        prequential.events += batch.n_texts
        prequential.labelled += len(rows) - rows.labels.count(None)
        if self.asking is not None and plan is not None and earlier is not None:
            assert isinstance(self.delayed_labels, LabelsById)  # as the configuration checks
            turns = Turns(self.asking, self.delayed_labels, prequential, plan, rows, scores, goals.codes)
            predictions = turns.take(self.labels, earlier, position)
        else:
            predictions = prequential.predict_and_count(
                scores, goals.codes, rows.weights, self.labels, rows.extra, earlier, position
            )
        if self.keys is not None and keyed is not None:
            self.keys.finish(keyed, predictions.predicted)
            self.keys.without += _without_key(batch, self.keys.field)
        self.learned = Learned(rows, goals.codes, predictions, (batch, old), sources)
        if self.delayed_labels is None or plan is None:
            return batch, predictions._replace(measures=measures)
        keep(plan, scores, goals.known, predictions.baselines)
        self.delayed_labels.settle()
        given = predictions.take(plan.given)
        return batch.take(plan.events), given._replace(measures=measures[:, plan.events])

    def predict(self, batch: Batch, features: Features) -> tuple[Batch, Predictions]:
        """Predict without learning; nothing changes. Returns the same as `step`."""
        predictions = self.prequential.predict(self.scores(batch, features))
        predictions = predictions._replace(measures=self.measures.of_tokens(features.tokens, len(batch)))
        if batch.label_only is None:
            return batch, predictions
        texts = np.flatnonzero(~batch.label_only)
        return batch.take(texts), predictions.take(texts)

    def given_out(self, batch: Batch, predictions: Predictions) -> list[Any]:
        """The leading learner's prediction for each event; None for an abstention."""
        names = [*self.labels.names, None]  # code -1 is the last one, None
        return [names[code] for code in predictions.predicted[predictions.lead, range(len(batch))].tolist()]

    def columns(self, batch: Batch, predictions: Predictions) -> dict[str, list[Any]]:
        """What a data frame of predictions holds besides the ids."""
        names = [*self.labels.names, None]
        return {
            "predicted": self.given_out(batch, predictions),
            **({} if batch.templates is None else batch.templates.columns()),
            "confidence": [None if share != share else share for share in predictions.confidences.tolist()],
            **self.measures.columns(predictions.measures),
            **{
                learner: [names[code] for code in codes]
                for learner, codes in zip(self.names, predictions.predicted.tolist(), strict=True)
            },
            "label": batch.labels,
        }

    def lines(self) -> PredictionLines:
        """What makes the lines of its predictions."""
        return PredictionLines(self.names, self.labels, self.measures.names)

    def probabilities(self, batch: Batch, features: Features) -> NDArray[np.float64]:
        """float64[n, n_labels]: the leading learner's probabilities for n events; nothing changes."""
        return self.prequential.probabilities(self.scores(batch, features))

    def pop_notices(self) -> list[str]:
        """The notices of the model and its external models since the last call, which removes them."""
        lines = self._notices + [line for model in self.external_models.values() for line in model.notices]
        lines += self.measures.pop_notices()
        self._notices = []
        for model in self.external_models.values():
            model.notices.clear()
        return lines

    def scores(self, batch: Batch, features: Features) -> NDArray[np.float64]:
        """float64[L, n, n_labels]: each learner's scores of n events, without learning."""
        if self.drain is not None:
            features = self._find_templates(self.drain, batch, features, learn=False)
        examples = {view: rows.examples(features[view]) for view, rows in self.rows.items()}
        inputs = Inputs(features, batch.whole_texts)
        goals = no_targets(len(batch), len(self.labels))
        keyed = None if self.keys is None else self.keys.look_up(batch.extra[self.keys.field], features, goals)
        return self.score_then_learn(examples, goals, goals, inputs, None, keyed)

    def _is_learned(self, goals: Targets) -> NDArray[np.bool_]:
        """bool[n]: the events that the learners of all events learn; none if each key has its own model alone."""
        if self.keys is not None and not self.keys.shared:
            return np.zeros(goals.codes.size, np.bool_)
        learned: NDArray[np.bool_] = goals.codes != NOT_LEARNED
        return learned

    def _with_unlabelled(self, goals: Targets, rows: Batch, plan: Plan | None) -> Targets:
        """The targets for learners of texts without a label."""
        if not self.learns_unlabelled:
            return goals
        return with_unlabelled(goals, without_label(rows.labels) if plan is None else plan.unlabelled)

    def look_up_templates(self, batch: Batch) -> None:
        """Set the templates of a batch, if there are any, without learning."""
        if self.drain is not None:
            self.drain.assign(batch, learn=False)

    def _find_templates(self, drain: "Drain", batch: Batch, features: Features, learn: bool = True) -> Features:
        """Set the templates of a batch; returns its features, to which they belong if they are a category."""
        was_full = drain.is_full
        drain.assign(batch, learn)
        if drain.is_full and not was_full:
            self._notices.append(
                f"drain.max_templates: there are {len(drain):,} templates, and lines that fit none get none; raise the "
                "limit, or use a smaller drain.similarity"
            )
        return self.featurize(batch) if self.has_template_features else features

    def name_features(
        self,
        texts: tuple[Batch, Batch],
        sources: NDArray[np.int64],
        learned: Mapping[str, NDArray[np.bool_]],
        examples: Mapping[str, Examples],
    ) -> None:
        """Keep the names of new features. sources : int64[n], the index of each row's text in the two batches."""
        for view, names in self.feature_names.items():
            if not names.is_full:
                index, rows_before = self.rows[view], examples[view].rows_before
                names.note(self.views[view], texts, sources, learned[view], rows_before, index)

    def score_then_learn(
        self,
        examples: Mapping[str, Examples],
        goals: Targets,
        both: Targets,
        inputs: Inputs,
        position: Callable[[int], str] | None,
        keyed: "Batched | None",
    ) -> NDArray[np.float64]:
        """float64[L, n, n_labels]: each learner's scores, each made before its event was learned.

        both : the targets for learners of texts without a label.
        inputs : the same events in the form for external models.
        position : returns the name of the i-th event's place in its source; None if nothing is learned.
        keyed : the events with their keys, if there is a model per key.
        """
        scores = np.empty((len(self.names), goals.codes.size, len(self.labels)))
        calls = [
            partial(self._learn, name, examples, _of(self.views_of[name][0], goals, both), own_scores, keyed)
            for name, own_scores in zip(self.names, scores, strict=True)
            if name in self.learners
        ]
        if sum(int(each.indptr[-1]) for each in examples.values()) < _WORTH_A_THREAD:
            for call in calls:
                call()
        else:
            self._side_by_side.run(calls)
        self._notice_clipped()
        for name, own_scores in zip(self.names, scores, strict=True):
            if name in self.external_models:
                self.external_models[name].score_then_learn(inputs, goals, self.labels, own_scores, position)
            elif name in self.mixtures:
                mixture = self.mixtures[name]
                mixture.grow(len(self.labels))
                members = scores[self.members[name]]
                if self.keys is not None:
                    self.keys.complete(members, goals.known)
                mixture.score_then_learn(members, goals, own_scores)
        self._count_retired()
        return scores

    def _learn(
        self,
        name: str,
        examples: Mapping[str, Examples],
        goals: Targets,
        scores: NDArray[np.float64],
        keyed: "Batched | None",
    ) -> None:
        """Score, then learn, with one learner; another thread may do so with another one. keyed : as above."""
        learner = self.learners[name]
        learner.grow(self.n_rows(name), len(self.labels))
        if self.keys is None or self.keys.shared:
            learner.score_then_learn(self._allowed(name, self.examples(name, examples)), goals, scores)
        else:
            scores[:] = -np.inf
        if self.keys is not None and keyed is not None:
            self.keys.answer(name, keyed, self._allowed(name, keyed.examples[self.keys.view_of[name]]), scores)

    def _allowed(self, name: str, examples: Examples) -> Examples:
        """The examples as a learner may read them: for naive Bayes, which counts, a negative value is 0."""
        values = examples.values
        if not self.learners[name].nonnegative_values or values[: examples.indptr[-1]].min(initial=0.0) >= 0:
            return examples
        self.clipped.add(name)
        return examples._replace(values=np.maximum(values, np.float32(0.0)))

    def _notice_clipped(self) -> None:
        """Say once of each learner that counts that it takes negative values as 0."""
        for name in self.names:
            if name in self.clipped and name not in self._noticed:
                self._noticed.add(name)
                self._notices.append(f"{name} takes values below 0 as 0, since it counts; the other learners use them")

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and everything else as JSON-able values.

        Raises
        ------
        ConfigError : there is an external model without permission to be pickled.
        """
        arrays: dict[str, NDArray[Any]] = {}
        for view, rows in self.rows.items():
            arrays[f"rows/{view}"] = rows.buckets
            if rows.min_count > 1:
                arrays[f"sightings/{view}"] = rows.sightings
        for view, names in self.feature_names.items():
            arrays |= {f"names/{view}/{name}": array for name, array in names.state().items()}
        for name, learner in self.learners.items():
            tables = learner.state(self.n_rows(name), len(self.labels))
            arrays |= {f"learners/{name}/{table}": array for table, array in tables.items()}
        arrays |= {f"joint_rows/{name}": rows.state() for name, rows in self.joint_rows.items()}
        for name, mixture in self.mixtures.items():
            tables = mixture.state(len(self.labels))
            arrays |= {f"learners/{name}/{table}": array for table, array in tables.items()}
        external_models = {}
        for name, model in self.external_models.items():
            pickled, external_models[name] = model.state()
            arrays |= {f"learners/{name}/{part}": array for part, array in pickled.items()}
        self._count_retired()
        if self.drain is not None:
            arrays |= {f"drain/{name}": array for name, array in self.drain.state().items()}
        if self.keys is not None:
            arrays |= {f"keys/{name}": array for name, array in self.keys.state().items()}
        measured, counts = self.prequential.state()
        arrays |= {f"evaluation/{name}": array for name, array in measured.items()}
        if self.asking is not None:
            arrays |= {f"asking/{name}": array for name, array in self.asking.state().items()}
        rest = {"labels": self.labels.names, "evaluation": counts}
        if external_models:
            rest["external_models"] = external_models
        if self.delayed_labels is not None:
            waiting, rest["delayed_labels"] = self.delayed_labels.state()
            arrays |= {f"delayed_labels/{name}": array for name, array in waiting.items()}
        return arrays, rest

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Restore a `state` into a new model of the same configuration."""
        self.labels = LabelIndex(rest["labels"])
        for view, rows in self.rows.items():
            rows.restore(arrays[f"rows/{view}"], arrays.get(f"sightings/{view}"))
            self.feature_names[view].restore(arrays_under(arrays, f"names/{view}/"))
        for name, joint in self.joint_rows.items():
            joint.restore(arrays[f"joint_rows/{name}"])
        for name, learner in (self.learners | self.mixtures).items():
            learner.restore(arrays_under(arrays, f"learners/{name}/"))
        for name, model in self.external_models.items():
            model.restore(arrays_under(arrays, f"learners/{name}/"), rest["external_models"][name])
        if self.drain is not None:
            self.drain.restore(arrays_under(arrays, "drain/"))
        if self.keys is not None:
            self.keys.restore(arrays_under(arrays, "keys/"))
        self._count_retired()
        self.prequential.restore(arrays_under(arrays, "evaluation/"), rest["evaluation"])
        if self.asking is not None:
            self.asking.restore(arrays_under(arrays, "asking/"))
            if not self.asking.is_consistent():
                raise CheckpointError("the checkpoint's arrays asking/ contradict each other")
        if self.delayed_labels is not None:
            self.delayed_labels.restore(arrays_under(arrays, "delayed_labels/"), rest["delayed_labels"])

    def _count_retired(self) -> None:
        """Pass on to the report which external models are retired, and why."""
        retired = {name: model.retired for name, model in self.external_models.items()}
        self.prequential.retired = {name: why for name, why in retired.items() if why is not None}

    def close(self) -> None:
        """Close what is open."""
        self._side_by_side.close()
        if self.delayed_labels is not None:
            self.delayed_labels.close()


def _of(view: str, goals: Targets, both: Targets) -> Targets:
    """The targets of the learners that read a view; both : with texts without a label."""
    return both if view.endswith(WITH_UNLABELLED) else goals


def _without_key(batch: Batch, field: str) -> int:
    """How many texts have no key."""
    if batch.label_only is None:
        return batch.extra[field].count(None)
    return int((without_label(batch.extra[field]) & ~batch.label_only).sum())


def _new_keys(model: Model, config: RunConfig) -> "KeyModels":
    from streamlin.keyed.models import KeyModels  # its kernels take time to load

    view_of = {name: model.views_of[name][0] for name in model.learners}
    return KeyModels(config.keys, model.learners, view_of, config.features.bits, model.names)


def _new_drain(config: DrainConfig) -> "Drain":
    from streamlin.features.drain import Drain  # its kernels take time to load

    return Drain(config)


def _texts(batch: Batch, old: Batch, sources: NDArray[np.int64] | None) -> list[str]:
    """The text of each row; see `Learned`."""
    texts = [*batch.whole_texts(), *old.whole_texts()]
    return texts if sources is None else [texts[source] for source in sources.tolist()]
