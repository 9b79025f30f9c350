"""What a report says of each predictor, as JSON-able values; None where nothing was labelled."""

from typing import Any

from streamlin.evaluation.accuracy import Accuracy
from streamlin.evaluation.baselines import MAJORITY, NO_CHANGE
from streamlin.evaluation.f1 import by_label, mean_f1
from streamlin.evaluation.intervals import wilson
from streamlin.evaluation.kappa import chance_of, kappa
from streamlin.evaluation.label_sums import LabelSums, Totals
from streamlin.evaluation.numbers import numbers

Row = dict[str, Any]


def accuracy_rows(accuracy: Accuracy) -> list[Row]:
    """Accuracies, their interval, and the counts behind them; a row a predictor."""
    n = int(accuracy.count[0])
    columns: dict[str, list[Any]] = {
        "accuracy": numbers(accuracy.running()),
        "interval": [wilson(correct, n) for correct in accuracy.correct.tolist()],
        "correct": accuracy.correct.tolist(),
        "window_accuracy": numbers(accuracy.windowed()),
        "fading_accuracy": numbers(accuracy.faded()),
        "abstained": accuracy.abstained.tolist(),
    }
    return rows_of(columns)


def agreement_rows(accuracy: Accuracy, sums: LabelSums, first_baseline: int) -> list[Row]:
    """The three kappas and mean F1, each over all time, over the window and fading; a row a predictor.

    first_baseline : the number of the first of the predictors that read no text.
    """
    accuracies = (accuracy.running(), accuracy.windowed(), accuracy.faded())
    columns: dict[str, list[Any]] = {}
    for (span, totals), right in zip(_totals(accuracy, sums).items(), accuracies, strict=True):
        columns[f"{span}kappa"] = numbers(kappa(right, chance_of(totals.labels, totals.predicted)))
        columns[f"{span}kappa_m"] = numbers(kappa(right, right[first_baseline + MAJORITY]))
        columns[f"{span}kappa_temporal"] = numbers(kappa(right, right[first_baseline + NO_CHANGE]))
        macro, weighted = mean_f1(totals)
        columns |= {f"{span}macro_f1": numbers(macro), f"{span}weighted_f1": numbers(weighted)}
    return rows_of(columns)


def label_rows(accuracy: Accuracy, sums: LabelSums, names: list[str]) -> list[dict[str, Row]]:
    """For each predictor: label -> precision, recall and F1 over all time, over the window and fading.

    Of the labels that were seen.
    """
    figures = {
        f"{span}{key}": table
        for span, totals in _totals(accuracy, sums).items()
        for key, table in by_label(totals)._asdict().items()
    }
    return [
        dict(zip(names, rows_of({key: numbers(table[m]) for key, table in figures.items()}), strict=True))
        for m in range(sums.sums.shape[0])
    ]


def _totals(accuracy: Accuracy, sums: LabelSums) -> dict[str, Totals]:
    """By what stands before the names of their figures."""
    return {"": sums.running(), "window_": sums.windowed(accuracy.window()), "fading_": sums.faded()}


def rows_of(columns: dict[str, list[Any]]) -> list[Row]:
    """Columns by name as rows."""
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
