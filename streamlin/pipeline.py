"""The Python interface: `streamlin.Pipeline`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from streamlin.checkpoint.loading import load_into
from streamlin.checkpoint.run_state import RunState, save_copy
from streamlin.config import RunConfig
from streamlin.config.loading import load_config
from streamlin.errors import ConfigError
from streamlin.evaluation.report import report_of
from streamlin.events import Batch
from streamlin.model import Model
from streamlin.running.admission import new_admission
from streamlin.running.beside_metrics import beside_metrics
from streamlin.running.inputs_and_outputs import outputs_of
from streamlin.running.loop import Run
from streamlin.running.results import Results
from streamlin.running.watching import Progress
from streamlin.streams.overlap import file_place, refuse_overlaps
from streamlin.streams.python_objects import IterableSource, rows_of

if TYPE_CHECKING:
    from streamlin.explanation import Explanation
    from streamlin.explanation.tag_explanation import TagExplanation

X = str | Sequence[str] | Mapping[str, Any]
"""A text, for taggers also a list of tokens, or the fields of an event by name, as in JSON lines."""


class Pipeline:
    """Features, learners and metrics as one classifier, which is tested, then trained, on one event after the other.

    ::

        pipeline = Pipeline(learners=["naive_bayes", "logistic_regression"], features={"bits": 22})
        pipeline.learn_one("Win a prize now", "spam")
        pipeline.predict_one("a prize for you")
        for prediction in pipeline.run("tickets.jsonl.gz"):
            print(prediction.id, prediction.predicted, prediction.label)
        pipeline.metrics["learners"]["naive_bayes"]["accuracy"]

    Parameters
    ----------
    config : a TOML file, or a loaded configuration. Environment variables are ignored.
    tables : the tables of such a file as keywords, which win over the file; `learners` may be names of kinds. With
        `checkpoint={"path": "state"}` the pipeline resumes from the checkpoint in that folder, `run` saves to it, and
        sources resume after what was learned.

    Not safe for use by several threads at a time. If it has a checkpoint, close it, or use it in a `with` statement.

    Raises
    ------
    ConfigError, CheckpointError : the configuration is wrong, or the checkpoint can't be used.
    """

    def __init__(self, config: RunConfig | str | PathLike[str] | None = None, **tables: Any) -> None:
        self.config = _configured(config, tables)
        self._config_file = config if isinstance(config, str | PathLike) else None
        self._state = RunState(self.config)
        self._admission = new_admission(self._state.model, self.config)
        self._rows = IterableSource((), self.config)
        self._run: Run | None = None

    @classmethod
    def load(
        cls,
        folder: str | PathLike[str],
        previous: bool = False,
        allow_pickle: bool = False,
        external_models: bool = True,
    ) -> Self:
        """A pipeline with the model of a checkpoint; it does not save to that folder by itself.

        previous : load the checkpoint before the last.
        allow_pickle : external models in it may be unpickled, which runs code.
        external_models : False: do without them; they are retired.

        Raises
        ------
        CheckpointError : it is missing, can't be used, or holds external models that may not be unpickled.
        """
        made: list[Self] = []

        def make(config: RunConfig) -> Model:
            made.append(cls(config))
            return made[0]._state.model

        load_into(make, Path(folder), previous, allow_pickle, external_models)
        return made[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        measured = self._state.model.prequential
        names = ", ".join(self._state.model.names)
        return f"<Pipeline {names}: {measured.events:,} events, {len(self.labels):,} labels>"

    def _repr_html_(self) -> str:
        from streamlin.terminal.printing import as_html
        from streamlin.terminal.summary import summary

        return as_html(summary(self.metrics, self.config.evaluation.window))

    @property
    def labels(self) -> list[str]:
        """The labels seen so far, in order of first appearance."""
        return list(self._state.model.labels.names)

    @property
    def metrics(self) -> dict[str, Any]:
        """The report: counts, and the accuracy and other metrics of every learner."""
        if self._run is not None:
            return self._run.report()
        model = self._state.model
        pace = {"seconds": 0.0, "events_per_second": None}
        return pace | beside_metrics(model) | report_of(model.prequential, model.labels)

    def learn_one(self, x: X, y: Any = None, w: float = 1.0) -> Self:
        """Predict, evaluate, then learn one event. A label that is not a string is learned as `str(y)`.

        For the task "tagging", x is a list of tokens or a text, and y a list of tags, None for an unknown one; for
        "parsing", y is a tree in brackets, whose words are read in place of x; for "topics" there need be no y.

        Raises
        ------
        RecordError : it can't become an event; nothing was learned.
        """
        return self.learn_many([x], [y], [w])

    def learn_many(self, xs: Sequence[X], ys: Sequence[Any], ws: Sequence[float] = ()) -> Self:
        """`learn_one` for each event, in order.

        Raises
        ------
        RecordError : one can't become an event; none was learned.
        ConfigError : a limit of labels or tables was exceeded; the events before that one were learned.
        ValueError : the arguments have different lengths.
        GuestError : an external model failed, and its `on_error` is "stop"; some of the events may be learned.
        """
        if ws:
            xs = [self._weighted(x, w) for x, w in zip(xs, ws, strict=True)]
        batch = self._rows.batch(list(zip(xs, ys, strict=True)))
        self._learn(batch)
        self._show_notices()
        return self

    def predict_one(self, x: X) -> Any:
        """The prediction of the leading learner; None while no label is known. Nothing is learned or evaluated.

        For the task "tagging", a list of tags, for "parsing" a tree in brackets, for "topics" a cluster's number.
        """
        return self.predict_many([x])[0]

    def predict_many(self, xs: Iterable[X]) -> list[Any]:
        """`predict_one` for each event. Raises RecordError."""
        batch, model = self._rows.texts(list(xs)), self._state.model
        _, predictions = model.predict(batch, model.featurize(batch))
        self._show_notices()
        return model.given_out(batch, predictions)

    def predict_proba_one(self, x: X) -> dict[str, float]:
        """The calibrated probability of each label, by the leading learner; empty while no label is known."""
        self._refuse(
            "predict_proba_one",
            tagging="pipeline.token_confidence adds probabilities to prediction lines",
            parsing="prediction lines have probabilities",
            topics="predictions have the similarity to their cluster",
        )
        batch, model = self._rows.texts([x]), self._state.model
        shares = model.probabilities(batch, model.featurize(batch))
        self._show_notices()
        return dict(zip(model.labels.names, shares[0].tolist(), strict=False))

    def explain(self, x: X, learners: Sequence[str] | None = None) -> "Explanation | TagExplanation":
        """Why each learner, or those that are named, labels an event as it does; a notebook shows its text shaded.

        For the task "tagging", why it gives each token its tag.

        Raises ConfigError for an unknown learner, and RecordError.
        """
        self._refuse("explain", parsing="only texts and tokens are explained", topics="metrics have the words")
        from streamlin.explanation import explain_event

        return explain_event(self._state.model, self._rows.texts([x]), learners)

    def run(self, source: Any, *, limit: int | None = None, progress: Progress | None = None) -> Results:
        """Test, then train, on every event of a source; returns an iterator of the predictions, which drives the run.

        Parameters
        ----------
        source : a path or URL, as for `streamlin run`; (x, y) pairs; mappings of fields; a river dataset; a pandas or
            polars data frame, or an Arrow table, with the column names that `fields` configures.
        limit : events after which to stop; None: never.
        progress : the progress display; by default one in a notebook, and none elsewhere.

        When a prediction is read, its whole batch has been learned; `pipeline={"batch_size": 1}` learns no further than
        is read. Raises ConfigError at once, and any other error of the run while the predictions are read.
        """
        from streamlin.terminal.notebook import default_progress

        config, opened = self.config, None
        if isinstance(source, str | PathLike):
            tables = {"source": config.source.model_copy(update={"url": fspath(source)})}
            config = config.model_copy(update=tables)
        else:
            opened = IterableSource(rows_of(source), config)
        if self._config_file is not None:
            refuse_overlaps([file_place("config", self._config_file)], outputs_of(config))
        if not self._state.has_checkpoint:
            self._state.positions.clear()  # each run reads its source from the start
        shown = default_progress() if progress is None else progress
        run = self._run = Run(config, shown, state=self._state, source=opened, limit=limit)
        return Results(run)

    def save(self, folder: str | PathLike[str] | None = None) -> None:
        """Save what was learned, for `load` and for the command line; by default to the pipeline's own checkpoint.

        Raises
        ------
        ConfigError : no folder is given, and the pipeline has no checkpoint; or texts wait for labels on disk, which a
            copy in another folder would lose.
        ConnectorError : the checkpoint can't be written.
        """
        if folder is not None:
            save_copy(self._state, Path(folder))
        elif self._state.has_checkpoint:
            self._state.save(wait=True)
        else:
            raise ConfigError("save: the pipeline has no checkpoint of its own; name a folder")

    def close(self) -> None:
        """Release the checkpoint, without saving what was learned since the last save."""
        self._state.close()

    def _refuse(self, method: str, **instead: str) -> None:
        """Raise ConfigError if the task is one of those given, each with what to do instead."""
        if self.config.task in instead:
            raise ConfigError(f"{method}: not for task = '{self.config.task}'; {instead[self.config.task]}")

    def _learn(self, batch: Batch) -> None:
        """Learn a batch; event by event where it may exceed a limit."""
        if self.config.mixing.shards is not None:
            raise ConfigError("mixing.shards: shards learn whole rounds; use run")
        model, features = self._state.model, self._state.model.featurize(batch)
        if self._admission.fits(batch, features):
            model.step(batch, features)
            return
        for event in (batch[number : number + 1] for number in range(len(batch))):
            features = model.featurize(event)
            self._admission.check(event, features)
            model.step(event, features)

    def _show_notices(self) -> None:
        """Show the notices of external models."""
        lines = self._state.model.pop_notices()
        if lines:
            from streamlin.terminal.notebook import default_progress

            shown = default_progress()
            for line in lines:
                shown.notice(line)

    def _weighted(self, x: X, w: float) -> X:
        if w == 1.0:
            return x
        fields = self.config.fields
        if isinstance(x, Mapping):
            return {**x, fields.weight: w}
        return {fields.text[0] if isinstance(x, str) else fields.tokens: x, fields.weight: w}


def _configured(config: RunConfig | str | PathLike[str] | None, tables: Mapping[str, Any]) -> RunConfig:
    """The configuration of a file, or the default one, overridden by tables."""
    if isinstance(config, RunConfig):
        if tables:
            raise ConfigError("a loaded configuration can't be combined with tables; pass them to load_config")
        return config
    if not isinstance(config, str | PathLike | None):
        raise ConfigError(f"expected a TOML file, a RunConfig or tables by name, got {config!r:.60}")
    tables = dict(tables)
    if isinstance(tables.get("learners"), Sequence) and not isinstance(tables["learners"], str):
        tables["learners"] = [{"kind": kind} if isinstance(kind, str) else kind for kind in tables["learners"]]
    return load_config(None if config is None else fspath(config), dict(_flat(tables, "")), environment={})


def _flat(tables: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """The values of nested tables by dotted key."""
    for key, value in tables.items():
        if key == "priors" and not prefix:
            yield key, value  # as a whole: labels and words may contain dots
        elif isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, PathLike):
            yield prefix + key, fspath(value)
        else:
            yield prefix + key, value
