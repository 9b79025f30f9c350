"""What a report says beside metrics."""

from typing import Any

from streamlin.model import Model


def beside_metrics(model: Model) -> dict[str, Any]:
    """Of labels that come later, and of those that are asked for."""
    parts = {"delayed_labels": model.delayed_labels, "asking": model.asking}
    return {key: part.report() for key, part in parts.items() if part is not None}
