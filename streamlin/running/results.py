"""The results of a run in Python: predictions, one by one or as a data frame."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from streamlin.errors import ConfigError
from streamlin.running.loop import Run


class Prediction(NamedTuple):
    """The prediction for one event, made before its label was seen.

    id : the event's id; its position in the source if it has no id.
    predicted : by the leading learner; None if it knew no label. Of a sentence, and so below, a list of tags.
    confidence : 0 to 1; None if it can't be computed.
    learners : the prediction of each learner, by name.
    label : the true label; None if the event has no label.
    measures : the measures of the event that are configured, by name: with `pipeline.novelty` the share of tokens that
        no event before had, with `surprise.model` the bits of a token; None where there is no token.
    template, template_number, new_template : of a log line; None where templates are not looked for.
    """

    id: str
    predicted: str | None
    confidence: float | None
    learners: Mapping[str, str | None]
    label: str | None
    measures: Mapping[str, float | None]
    template: str | None = None
    template_number: int | None = None
    new_template: bool | None = None


_OF_TEMPLATES = ("template", "template_number", "new_template")


class Results(Iterator[Prediction]):
    """An iterator of predictions. Reading it drives the run, a batch at a time.

    To stop before the end, call `close` or use it in a `with` statement: then what was learned is saved, if the
    pipeline has a checkpoint.
    """

    def __init__(self, run: Run) -> None:
        self._run, self._steps, self._learners = run, run.steps(), run.model.names
        self._further = _OF_TEMPLATES if run.config.drain.enabled else ()
        self._measures = run.model.measures.names
        self._rows: Iterator[Prediction] = iter(())
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Prediction:
        while True:
            for row in self._rows:
                return row
            columns = self._next_columns()
            if columns is None:
                raise StopIteration
            shared = (columns[name] for name in ("id", "predicted", "confidence"))
            learners, measures = _by_row(columns, self._learners), _by_row(columns, self._measures)
            further = (columns[name] for name in self._further)
            self._rows = map(Prediction, *shared, learners, columns["label"], measures, *further)

    def finish(self) -> dict[str, Any]:
        """Run to the end, discarding the predictions; returns the report."""
        for _ in self._steps:
            pass
        self.close()
        return self._run.report()

    def columns(self) -> dict[str, list[Any]]:
        """The remaining predictions as columns: id, predicted, confidence, measures, one for each learner, label; of
        log lines with templates also theirs."""
        names = ("id", "predicted", *self._further, "confidence", *self._measures, *self._learners, "label")
        whole: dict[str, list[Any]] = {name: [] for name in names}
        for row in self._rows:
            for name, value in {**row._asdict(), **row.learners, **row.measures}.items():
                if name in whole:
                    whole[name].append(value)
        while (columns := self._next_columns()) is not None:
            for name, values in columns.items():
                whole[name] += values
        return whole

    def to_pandas(self) -> Any:
        """The remaining predictions as a pandas DataFrame."""
        return _library("pandas").DataFrame(self.columns())

    def to_polars(self) -> Any:
        """The remaining predictions as a polars DataFrame."""
        return _library("polars").DataFrame(self.columns(), infer_schema_length=None)

    def to_arrow(self) -> Any:
        """The remaining predictions as a pyarrow Table."""
        return _library("pyarrow").table(self.columns())

    def close(self) -> None:
        """End the run cleanly; everything learned so far is kept."""
        if not self._closed:
            self._closed = True
            self._steps.close()
            self._run.close()

    def __del__(self) -> None:
        self.close()

    def _next_columns(self) -> dict[str, list[Any]] | None:
        """The next batch as columns; None at the end, when everything is closed."""
        try:
            batch, predictions = next(self._steps)
        except BaseException as error:
            self.close()
            if isinstance(error, StopIteration):
                return None
            raise
        return {"id": list(batch.keys()), **self._run.model.columns(batch, predictions)}


def _by_row(columns: Mapping[str, list[Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """The values of some columns as a mapping for each row."""
    if not names:
        return [{} for _ in columns["id"]]
    return [dict(zip(names, row, strict=True)) for row in zip(*(columns[name] for name in names), strict=True)]


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"{name} is not installed: pip install {name}") from None
