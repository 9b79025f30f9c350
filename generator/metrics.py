"""What docs/watching.md says of the metrics that Prometheus gets."""

from generator.blocks import table
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics import all_metrics


def exported() -> dict[str, str]:
    """The table of what is exported for each learner or baseline."""
    rows = [_row(metric) for metric in all_metrics() if metric.prometheus]
    return {"metrics of learners": table(["metric", "labels", "meaning"], rows)}


def _row(metric: type[Metric]) -> list[str]:
    """A count is a counter, whose name gets a suffix; anything else has a value for each span."""
    suffix, span = ("_total", "") if metric.format == "count" else ("", ", span")
    names = ", ".join(f"`{name}{suffix}`" for name in metric.prometheus.values())
    predictor = " or ".join(group.removesuffix("s") for group in metric.prometheus)
    return [names, predictor + span, metric.meaning.removesuffix(".")]
