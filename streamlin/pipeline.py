"""All of it from Python: `streamlin.Pipeline`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from streamlin.checkpoint.loading import config_of, refuse_pickled
from streamlin.checkpoint.run_state import RunState, save_copy
from streamlin.config import RunConfig
from streamlin.config.loading import load_config
from streamlin.errors import ConfigError, RecordError
from streamlin.evaluation.report import report_of
from streamlin.events import Batch
from streamlin.running.loop import Progress, Run
from streamlin.running.results import Results
from streamlin.streams.python_objects import IterableSource, rows_of

if TYPE_CHECKING:
    from streamlin.explanation import Explanation

X = str | Mapping[str, Any]
"""A text, or an event's fields by name, as JSON lines have them."""


class Pipeline:
    """Features, learners and measures as one classifier that is tested, then trained, on one event after the other.

    ::

        pipeline = Pipeline(learners=["naive_bayes", "logistic_regression"], features={"bits": 22})
        pipeline.learn_one("Win a prize now", "spam")
        pipeline.predict_one("a prize for you")
        for prediction in pipeline.run("tickets.jsonl.gz"):
            print(prediction.id, prediction.predicted, prediction.label)
        pipeline.metrics["learners"]["naive_bayes"]["accuracy"]

    Parameters
    ----------
    config : a TOML file, or a configuration that was loaded. The environment is not looked at.
    tables : what such a file holds, table by table, and wins over it; `learners` may be names of kinds. With
        `checkpoint={"path": "state"}` what was learned before is taken from there, `run` saves to it, and a source goes
        on behind what was learned.

    Not for several threads at a time. Close it, or use it in a `with`, if it has a checkpoint.

    Raises
    ------
    ConfigError, CheckpointError : something is wrong with what is given.
    """

    def __init__(self, config: RunConfig | str | PathLike[str] | None = None, **tables: Any) -> None:
        self.config = _configured(config, tables)
        self._state = RunState(self.config)
        self._rows = IterableSource((), self.config)
        self._run: Run | None = None

    @classmethod
    def load(cls, folder: str | PathLike[str], previous: bool = False, allow_pickle: bool = False) -> Self:
        """What a checkpoint has learned, as a pipeline of its own: it saves nothing to that folder by itself.

        previous : from the checkpoint before the last.
        allow_pickle : external models in it may be unpickled, which runs code.

        Raises
        ------
        CheckpointError : there is none, it can't be used, or it holds external models that may not be unpickled.
        """
        from streamlin.checkpoint.file import load

        arrays, state = load(Path(folder), previous)
        config = config_of(state)
        if not allow_pickle:
            refuse_pickled(config)
        pipeline = cls(config)
        pipeline._state.model.restore(arrays, state)
        return pipeline

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
        """In order of first sight."""
        return list(self._state.model.labels.names)

    @property
    def metrics(self) -> dict[str, Any]:
        """The report: counts, and every learner's accuracy and other figures."""
        if self._run is not None:
            return self._run.report()
        report = report_of(self._state.model.prequential, self._state.model.labels)
        return {"seconds": 0.0, "events_per_second": None} | report

    def learn_one(self, x: X, y: Any, w: float = 1.0) -> Self:
        """Predict, measure, then learn one event. A label is a text; what is none is learned as `str(y)`.

        Raises
        ------
        RecordError : it can't become an event; nothing was learned.
        """
        return self.learn_many([x], [y], [w])

    def learn_many(self, xs: Sequence[X], ys: Sequence[Any], ws: Sequence[float] = ()) -> Self:
        """`learn_one`, one after the other.

        Raises
        ------
        RecordError : one can't become an event; none was learned.
        ValueError : they are of different lengths.
        GuestError : an external model failed, and `on_error` is to stop then; some of it may be learned.
        """
        if ws:
            xs = [self._weighted(x, w) for x, w in zip(xs, ws, strict=True)]
        batch = self._batch(list(zip(xs, ys, strict=True)))
        model = self._state.model
        model.admit(batch)
        model.step(batch, model.featurize(batch))
        self._tell()
        return self

    def predict_one(self, x: X) -> str | None:
        """What the learner that leads says; None while no label is known. Nothing is learned, nothing measured."""
        return self.predict_many([x])[0]

    def predict_many(self, xs: Iterable[X]) -> list[str | None]:
        """`predict_one` of each. Raises RecordError."""
        batch, model = self._batch(list(xs)), self._state.model
        _, predictions = model.predict(batch, model.featurize(batch))
        self._tell()
        names = [*model.labels.names, None]
        return [names[code] for code in predictions.predicted[predictions.lead, range(len(batch))].tolist()]

    def predict_proba_one(self, x: X) -> dict[str, float]:
        """Each label's calibrated probability, by the learner that leads; empty while no label is known."""
        batch, model = self._batch([x]), self._state.model
        shares = model.probabilities(batch, model.featurize(batch))
        self._tell()
        return dict(zip(model.labels.names, shares[0].tolist(), strict=False))

    def explain(self, x: X, learners: Sequence[str] | None = None) -> "Explanation":
        """Why each learner, or those that are named, labels an event as it does; a notebook shows its text shaded.

        Raises ConfigError where there is no such learner, RecordError.
        """
        from streamlin.explanation import explain

        batch = self._batch([x])
        categories = {name: batch.extra[name][0] for name in self.config.fields.categories}
        return explain(self._state.model, batch.texts, learners, categories)

    def run(self, source: Any, *, limit: int | None = None, progress: Progress | None = None) -> Results:
        """Test, then train, on every event of a source; an iterator of the predictions, which drives it.

        Parameters
        ----------
        source : a path or URL, as for `streamlin run`; (x, y) pairs; mappings of fields; a river dataset; a pandas or
            polars frame, or an Arrow table, with columns called as `fields` says.
        limit : events after which to stop; None: never.
        progress : is told how far it is; by default a notebook shows it, and nobody else.

        When a prediction is read, its whole batch has been learned; `pipeline={"batch_size": 1}` learns no further than
        is read. Raises ConfigError at once, what a run raises while it is read.
        """
        from streamlin.terminal.notebook import progress_here

        config, opened = self.config, None
        if isinstance(source, str | PathLike):
            tables = {"source": config.source.model_copy(update={"url": fspath(source)})}
            config = config.model_copy(update=tables)
        else:
            opened = IterableSource(rows_of(source), config)
        if not self._state.is_kept:
            self._state.positions.clear()  # nobody asked to go on
        shown = progress_here() if progress is None else progress
        run = self._run = Run(config, shown, state=self._state, source=opened, limit=limit)
        return Results(run)

    def save(self, folder: str | PathLike[str] | None = None) -> None:
        """Save what was learned, for `load` and for the command line; by default to the pipeline's own checkpoint.

        Raises
        ------
        ConfigError : it has none.
        ConnectorError : it can't be written.
        """
        if folder is not None:
            save_copy(self._state, Path(folder))
        elif self._state.is_kept:
            self._state.save(wait=True)
        else:
            raise ConfigError("save: the pipeline has no checkpoint of its own; name a folder")

    def close(self) -> None:
        """Let go of the checkpoint; what was learned since it was saved is not in it."""
        self._state.close()

    def _tell(self) -> None:
        """Show what external models have to tell."""
        lines = self._state.model.take_news()
        if lines:
            from streamlin.terminal.notebook import progress_here

            shown = progress_here()
            for line in lines:
                shown.notice(line)

    def _batch(self, rows: list[Any]) -> Batch:
        batch, dead = self._rows.format.decode(self._rows.records(rows))
        if dead:
            raise RecordError(dead[0].error)
        return batch

    def _weighted(self, x: X, w: float) -> X:
        if w == 1.0:
            return x
        fields = self.config.fields
        return {**({fields.text[0]: x} if isinstance(x, str) else x), fields.weight: w}


def _configured(config: RunConfig | str | PathLike[str] | None, tables: Mapping[str, Any]) -> RunConfig:
    """The configuration of a file or of nothing, with tables put over it."""
    if isinstance(config, RunConfig):
        if tables:
            raise ConfigError("a loaded configuration takes no more tables; give them to load_config, or alone")
        return config
    if not isinstance(config, str | PathLike | None):
        raise ConfigError(f"a pipeline is made of a TOML file, a RunConfig or tables by name, got {config!r:.60}")
    tables = dict(tables)
    if isinstance(tables.get("learners"), Sequence) and not isinstance(tables["learners"], str):
        tables["learners"] = [{"kind": kind} if isinstance(kind, str) else kind for kind in tables["learners"]]
    return load_config(None if config is None else fspath(config), dict(_flat(tables, "")), environment={})


def _flat(tables: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Dotted keys and values."""
    for key, value in tables.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, PathLike):
            yield prefix + key, fspath(value)
        else:
            yield prefix + key, value
