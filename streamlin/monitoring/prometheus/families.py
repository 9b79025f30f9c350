"""A run's figures as metrics of Prometheus.

Names, units and types follow its conventions: base units, `_total` for what only grows, shares as `_ratio`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from streamlin.version import __version__

if TYPE_CHECKING:
    from streamlin.running.watching import RunView

_SPANS = {"running": "", "window": "window_", "fading": "fading_"}
"""What stands before the name of a figure in the report."""
_COUNTS = {
    "events": "Events that were predicted.",
    "labelled": "Of them those with a label.",
    "dead_letters": "Records that could not become an event.",
    "tombstones": "Records that only say that something is gone.",
    "lost": "Records that were gone before they could be read.",
}
_GO_UP_AND_DOWN = ("waiting", "labels_waiting", "delay")

Labelled = Iterable[tuple[tuple[str, ...], float | None]]
"""Values of labels, and the value; None is left out."""


def families(run: "RunView") -> list[Metric]:
    """All that is exported, in order; on the thread that learns."""
    report = run.report(details=False)
    return [
        gauge("build_info", "The version of streamlin; the value is always 1.", [((__version__,), 1)], ("version",)),
        *(counter(name, text, [((), report[name])]) for name, text in _COUNTS.items()),
        gauge("labels", "Labels that were seen.", [((), len(report["labels"]))]),
        *_accuracies(report),
        *_drift(report.get("drift")),
        *_lag(report.get("lag")),
        *_delayed_labels(report.get("delayed_labels")),
        *_work(run),
        *_tables(run),
        *_checkpoint(run),
    ]


def counter(name: str, text: str, values: Labelled, labels: tuple[str, ...] = ()) -> Metric:
    """A number that only grows."""
    return _filled(CounterMetricFamily(f"streamlin_{name}", text, labels=labels), values)


def gauge(name: str, text: str, values: Labelled, labels: tuple[str, ...] = ()) -> Metric:
    """A number that goes up and down."""
    return _filled(GaugeMetricFamily(f"streamlin_{name}", text, labels=labels), values)


def _filled(family: CounterMetricFamily | GaugeMetricFamily, values: Labelled) -> Metric:
    for labels, value in values:
        if value is not None:
            family.add_metric(list(labels), value)
    return family


def _accuracies(report: Mapping[str, Any]) -> Iterator[Metric]:
    for group, singular in (("learners", "learner"), ("baselines", "baseline")):
        yield gauge(
            f"{singular}_accuracy_ratio",
            "Share of labelled events predicted right before they were learned: of all, of the last ones, fading.",
            _spans(report[group], "accuracy"),
            (singular, "span"),
        )
        yield counter(
            f"{singular}_abstentions",
            "Labelled events without a prediction, counted as wrong.",
            [((name,), row["abstained"]) for name, row in report[group].items()],
            (singular,),
        )
    for key, text in (
        ("kappa", "Cohen's kappa: 1 is perfect, 0 no better than chance."),
        ("macro_f1", "Mean F1 of the labels."),
        ("log_loss", "Mean negative logarithm of the true label's probability."),
        ("ece", "Expected calibration error: how far confidence is from accuracy."),
    ):
        found = _spans(report["learners"], key)
        if found:
            name = f"learner_{key}_ratio" if key == "ece" else f"learner_{key}"
            yield gauge(name, text, found, ("learner", "span"))


def _spans(rows: Mapping[str, Any], key: str) -> list[tuple[tuple[str, ...], float | None]]:
    """A figure of each learner or baseline over each span that it is there for."""
    return [
        ((name, span), row[before + key])
        for name, row in rows.items()
        for span, before in _SPANS.items()
        if before + key in row
    ]


def _drift(drift: Mapping[str, Any] | None) -> Iterator[Metric]:
    if drift is not None:
        yield counter("drift_alarms", "Changes of a learner's accuracy that were found.", [((), drift["alarms"])])


def _lag(lag: Mapping[str, int] | None) -> Iterator[Metric]:
    if lag is not None:
        waiting = [((part,), events) for part, events in lag.items()]
        yield gauge("lag_events", "Events that wait in each part of the source.", waiting, ("part",))


def _delayed_labels(delays: Mapping[str, Any] | None) -> Iterator[Metric]:
    """Each number of them: what waits goes up and down, what it became only grows; delays are quantiles."""
    for key, value in (delays or {}).items():
        text = f"Late labels: {key.replace('_', ' ')}."
        if isinstance(value, Mapping):
            quantiles = [(("0.5",), value["median"]), (("0.95",), value["p95"])]
            yield gauge(f"delayed_labels_{key}", text, quantiles, ("quantile",))
        elif value is not None:
            kind = gauge if key in _GO_UP_AND_DOWN else counter
            yield kind(f"delayed_labels_{key}", text, [((), value)])


def _work(run: "RunView") -> Iterator[Metric]:
    stages = [((stage,), seconds) for stage, seconds in run.stages.seconds.items()]
    yield counter("stage_seconds", "Time that each stage took; read includes waiting.", stages, ("stage",))
    yield counter("run_seconds", "Time since this run began.", [((), run.seconds)])
    yield counter("batches", "Batches that this run has learned.", [((), run.batches)])
    yield gauge("batch_events", "Events of the last batch.", [((), run.batch_size)])


def _tables(run: "RunView") -> Iterator[Metric]:
    views = {view: (len(rows), 1 << rows.bits) for view, rows in run.model.rows.items()}
    yield gauge("feature_rows", "Rows in use.", [((view,), used) for view, (used, _) in views.items()], ("view",))
    shares = [((view,), used / buckets) for view, (used, buckets) in views.items()]
    yield gauge("feature_buckets_used_ratio", "Share of the hash buckets that are taken.", shares, ("view",))
    collisions = [((view,), collision_share(used, buckets)) for view, (used, buckets) in views.items()]
    yield gauge(
        "feature_collisions_ratio",
        "Share of features that found their bucket taken by another one, estimated.",
        collisions,
        ("view",),
    )


def collision_share(used: int, buckets: int) -> float:
    """n features thrown into B buckets take B (1 - (1 - 1/B)^n) of them; from those taken n follows, and n - taken."""
    if used in (0, buckets):
        return float(used == buckets)
    features = math.log1p(-used / buckets) / math.log1p(-1 / buckets)
    return max(0.0, 1 - used / features)


def _checkpoint(run: "RunView") -> Iterator[Metric]:
    if run.state.written is not None:
        written = [((), run.state.written)]
        yield gauge("checkpoint_timestamp_seconds", "When the last checkpoint was written, Unix time.", written)
