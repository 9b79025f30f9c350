"""What a run exports to Prometheus.

Names, units and types follow its conventions: base units, `_total` for what only grows, shares as `_ratio`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.core import Metric as Family

from streamlin.evaluation.metric import Group, Metric
from streamlin.evaluation.metrics import all_metrics
from streamlin.evaluation.spans import PREFIXES
from streamlin.version import __version__

if TYPE_CHECKING:
    from streamlin.running.watching import RunView

_LABELS: dict[Group, str] = {"learners": "learner", "baselines": "baseline"}
"""The label that names a predictor, by group."""
_COUNTS = {
    "events": "Events that were predicted.",
    "labelled": "Predicted events that have a label.",
    "dead_letters": "Records that could not become an event.",
    "tombstones": "Records without a value, which delete a key.",
    "lost": "Records that were deleted before they could be read.",
}
_TOO_LONG = "too_long", "Sentences with a tree that were too long to be parsed."
"""Of parsers only."""
_GO_UP_AND_DOWN = ("waiting", "labels_waiting", "wanted", "delay")

Labelled = Iterable[tuple[tuple[str, ...], float | None]]
"""The values of the labels, and the value of the metric; None is left out."""


def families(run: "RunView") -> list[Family]:
    """Everything that is exported, in order; call it on the thread that learns."""
    report = run.report(details=False)
    return [
        gauge("build_info", "The version of streamlin; the value is always 1.", [((__version__,), 1)], ("version",)),
        *(counter(name, text, [((), report[name])]) for name, text in (*_COUNTS.items(), _TOO_LONG) if name in report),
        counter(
            "dead_letters_by_kind",
            "Records that could not become an event, by the error without its particulars.",
            [((kind,), count) for kind, count in report["dead_letters_by_kind"].items()],
            ("kind",),
        ),
        gauge("labels", "Labels seen so far.", [((), len(report["labels"]))]),
        *_metrics(report),
        *_drift(report.get("drift")),
        *_templates(report.get("templates")),
        *_keys(report.get("keys")),
        *_novelty(report.get("novelty")),
        *_surprise(report.get("surprise")),
        *_lag(report.get("lag")),
        *_rounds(report.get("rounds")),
        *_workers(report.get("workers")),
        *_delayed_labels(report.get("delayed_labels")),
        *_work(run),
        *_tables(run),
        *_checkpoint(run),
    ]


def counter(name: str, text: str, values: Labelled, labels: tuple[str, ...] = ()) -> Family:
    """A number that only grows."""
    return _filled(CounterMetricFamily(f"streamlin_{name}", text, labels=labels), values)


def gauge(name: str, text: str, values: Labelled, labels: tuple[str, ...] = ()) -> Family:
    """A number that goes up and down."""
    return _filled(GaugeMetricFamily(f"streamlin_{name}", text, labels=labels), values)


def _filled(family: CounterMetricFamily | GaugeMetricFamily, values: Labelled) -> Family:
    for labels, value in values:
        if value is not None:
            family.add_metric(list(labels), value)
    return family


def _metrics(report: Mapping[str, Any]) -> Iterator[Family]:
    """What each metric exports; first those of learners and baselines, then those of learners alone."""
    exported = [metric for metric in all_metrics() if metric.prometheus]
    shared = [metric for metric in exported if len(metric.prometheus) == len(_LABELS)]
    for metrics in (shared, [metric for metric in exported if metric not in shared]):
        for group, label in _LABELS.items():
            for metric in metrics:
                if group in metric.prometheus:
                    yield from _metric(metric, metric.prometheus[group], report[group], label)


def _metric(metric: type[Metric], name: str, rows: Mapping[str, Any], label: str) -> Iterator[Family]:
    """A count as a counter, anything else as a gauge with a value for each span it has; nothing if it has none."""
    if metric.format == "count":
        values = [((predictor,), row[metric.name]) for predictor, row in rows.items() if metric.name in row]
        families = [counter(name, metric.meaning, values, (label,))] if values else []
    else:
        found = [
            ((predictor, span), row[metric.key(span)])
            for predictor, row in rows.items()
            for span in PREFIXES
            if metric.key(span) in row
        ]
        families = [gauge(name, metric.meaning, found, (label, "span"))] if found else []
    yield from families


def _drift(drift: Mapping[str, Any] | None) -> Iterator[Family]:
    if drift is not None:
        yield counter("drift_alarms", "Changes found in a learner's accuracy.", [((), drift["alarms"])])


def _templates(templates: Mapping[str, Any] | None) -> Iterator[Family]:
    if templates is not None:
        yield counter("new_templates", "Templates of log lines that no line before had.", [((), templates["new"])])
        text = "Lines without a template, because there are too many."
        yield counter("lines_without_template", text, [((), templates["beyond"])])


def _keys(keys: Mapping[str, Any] | None) -> Iterator[Family]:
    """Of all keys together: a key may be a person, and there may be too many."""
    if keys is None:
        return
    yield gauge("keys", "Keys that have a model.", [((), keys["keys"])])
    yield counter("keys_dropped", "Keys whose model was dropped for that of a new key.", [((), keys["dropped"])])
    yield counter("events_without_key", "Events that have no key.", [((), keys["without_key"])])
    rows = [((view,), count) for view, count in keys["rows"].items()]
    yield gauge("key_feature_rows", "Feature rows of all keys in use.", rows, ("view",))
    models = ("accuracy", "answer"), ("own", "own"), ("shared", "shared")
    found = [((n, m), row[key]) for n, row in keys["learners"].items() for key, m in models if key in row]
    text = "Accuracy on events with a key: of the answers, of the keys' own models, of the shared one."
    yield gauge("keyed_accuracy_ratio", text, found, ("learner", "model"))
    ahead = [((n,), row["keys_ahead"]) for n, row in keys["learners"].items() if "keys_ahead" in row]
    if ahead:
        yield gauge("keys_ahead", "Keys whose own model is ahead of the shared one.", ahead, ("learner",))
    quantiles = ("0", "lowest"), ("0.1", "p10"), ("0.5", "median"), ("0.9", "p90"), ("1", "highest")
    over = [((n, q), row[key]) for n, row in keys["learners"].items() for q, key in quantiles]
    text = "Accuracy by key, of keys with 10 labelled events or more."
    yield gauge("key_accuracy_quantile_ratio", text, over, ("learner", "quantile"))


def _novelty(novelty: Mapping[str, Any] | None) -> Iterator[Family]:
    if novelty is not None:
        yield counter("tokens", "Tokens of all events.", [((), novelty["tokens"])])
        yield counter("new_tokens", "Tokens that no event before had.", [((), novelty["new"])])
        shares = [(("running",), novelty["share"]), (("window",), novelty["window_share"])]
        yield gauge("new_tokens_ratio", "Share of tokens that no event before had.", shares, ("span",))
        yield counter("new_words_alarms", "Rises found in the share of new tokens.", [((), novelty["alarms"])])


def _surprise(surprise: Mapping[str, Any] | None) -> Iterator[Family]:
    if surprise is not None:
        bits = [(("running",), surprise["bits"]), (("window",), surprise["window_bits"])]
        yield gauge("surprise_bits", "Bits of a token by the language model, on average.", bits, ("span",))
        yield gauge("surprise_pairs", "Pairs of words that the language model knows.", [((), surprise["pairs"])])


def _lag(lag: Mapping[str, int] | None) -> Iterator[Family]:
    if lag is not None:
        waiting = [((part,), events) for part, events in lag.items()]
        yield gauge("lag_events", "Waiting events in each part of the source.", waiting, ("part",))


def _rounds(rounds: Mapping[str, Any] | None) -> Iterator[Family]:
    if rounds is not None:
        yield counter("rounds", "Rounds of shards.", [((), rounds["rounds"])])


def _workers(workers: Sequence[Mapping[str, Any]] | None) -> Iterator[Family]:
    for name, key, text in (
        ("worker_events", "events", "Events that a worker has learned in this run."),
        ("worker_learning_seconds", "learning_seconds", "Time of its processor."),
        ("worker_mixing_seconds", "mixing_seconds", "As far as it was for mixing what all shards brought."),
        ("worker_restarts", "restarts", "How often it was restored."),
    ):
        if workers is not None:
            yield counter(name, text, [((str(worker["worker"]),), worker[key]) for worker in workers], ("worker",))


def _delayed_labels(delays: Mapping[str, Any] | None) -> Iterator[Family]:
    """A gauge for each number that goes up and down, a counter for each that only grows, quantiles for delays."""
    for key, value in (delays or {}).items():
        text = f"Delayed labels: {key.replace('_', ' ')}."
        if isinstance(value, Mapping):
            quantiles = [(("0.5",), value["median"]), (("0.95",), value["p95"])]
            yield gauge(f"delayed_labels_{key}", text, quantiles, ("quantile",))
        elif value is not None:
            kind = gauge if key in _GO_UP_AND_DOWN else counter
            yield kind(f"delayed_labels_{key}", text, [((), value)])


def _work(run: "RunView") -> Iterator[Family]:
    stages = [((stage,), seconds) for stage, seconds in run.stages.seconds.items()]
    yield counter("stage_seconds", "Time spent in each stage; read includes waiting.", stages, ("stage",))
    yield counter("run_seconds", "Time since this run began.", [((), run.seconds)])
    yield counter("batches", "Batches learned by this run.", [((), run.batches)])
    yield gauge("batch_events", "Events of the last batch.", [((), run.batch_size)])


def _tables(run: "RunView") -> Iterator[Family]:
    views = {view: (len(rows), 1 << rows.bits) for view, rows in run.model.rows.items()}
    yield gauge(
        "feature_rows", "Feature rows in use.", [((view,), used) for view, (used, _) in views.items()], ("view",)
    )
    shares = [((view,), used / buckets) for view, (used, buckets) in views.items()]
    yield gauge("feature_buckets_used_ratio", "Share of the hash buckets in use.", shares, ("view",))
    collisions = [((view,), collision_share(used, buckets)) for view, (used, buckets) in views.items()]
    yield gauge(
        "feature_collisions_ratio",
        "Share of features whose bucket was already taken by another feature, estimated.",
        collisions,
        ("view",),
    )


def collision_share(used: int, buckets: int) -> float:
    """n features hashed into B buckets take B (1 - (1 - 1/B)^n) of them; solve for n, the rest collided."""
    if used in (0, buckets):
        return float(used == buckets)
    features = math.log1p(-used / buckets) / math.log1p(-1 / buckets)
    return max(0.0, 1 - used / features)


def _checkpoint(run: "RunView") -> Iterator[Family]:
    if run.state.written is not None:
        written = [((), run.state.written)]
        yield gauge("checkpoint_timestamp_seconds", "When the last checkpoint was written, Unix time.", written)
