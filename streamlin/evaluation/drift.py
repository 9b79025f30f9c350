"""Drift alarms: where the accuracy of a learner changed."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation.adwin import Adwin
from streamlin.evaluation.ddm import Ddm
from streamlin.evaluation.detector import Detector
from streamlin.evaluation.kswin import Kswin
from streamlin.evaluation.page_hinkley import PageHinkley

KEPT = 100
"""How many alarms are kept: the last ones."""
Alarm = dict[str, Any]


class Drift:
    """The configured detector, and the alarms it gave.

    of : what the detector watches, in words. alarms : the last ones.
    total, falls : all alarms, and those after which it was lower.
    """

    def __init__(self, learners: list[str], config: EvaluationConfig, of: str = "accuracy") -> None:
        self.learners = learners
        self.of = of
        self.detector = detector_of(len(learners), config)
        self.alarms: list[Alarm] = []
        self.total = self.falls = 0

    def update(
        self,
        predicted: NDArray[np.int32],
        labels: NDArray[np.int32],
        counted: int,
        position: Callable[[int], str] | None,
    ) -> list[Alarm]:
        """The new alarms of a batch of predicted int32[L, n] and labels int32[n], -1: no label.

        counted : labelled events before the batch. position : names the place of the i-th event in its source.
        """
        if self.detector is None:
            return []
        where, accuracies = self.detector.watch(predicted, labels)
        numbers = counted + np.cumsum(labels >= 0) if where.size else labels
        found: list[Alarm] = [
            {
                "learner": self.learners[m],
                "labelled": int(numbers[i]),
                "position": None if position is None else position(i),
                "before": before,
                "after": after,
            }
            for (i, m), (before, after) in zip(where.tolist(), accuracies.tolist(), strict=True)
        ]
        self.total += len(found)
        self.falls += sum(alarm["after"] < alarm["before"] for alarm in found)
        self.alarms = (self.alarms + found)[-KEPT:]
        return found

    def to_json(self) -> dict[str, Any]:
        """As the report has it."""
        return {"alarms": self.total, "falls": self.falls, "last_alarms": self.alarms}

    def restore(self, rest: Mapping[str, Any]) -> None:
        """Take over what `to_json` returned."""
        self.alarms, self.total, self.falls = list(rest["last_alarms"]), rest["alarms"], rest["falls"]


def describe_falls(alarms: list[Alarm], of: str = "accuracy") -> list[str]:
    """A line for each event at which a fall of what is watched was noticed; rises are mostly learning."""
    lines: dict[str, list[str]] = {}
    for alarm in alarms:
        if alarm["after"] < alarm["before"]:
            place = f" ({alarm['position']})" if alarm["position"] else ""
            fall = f"{alarm['learner']} {100 * alarm['before']:.1f} to {100 * alarm['after']:.1f} %"
            lines.setdefault(f"{alarm['labelled']:,}{place}", []).append(fall)
    return [f"{of} fell, seen at event {event}: {', '.join(falls)}" for event, falls in lines.items()]


def detector_of(learners: int, config: EvaluationConfig) -> Detector | None:
    """The configured detector, for so many learners."""
    if config.drift == "adwin":
        return Adwin(learners, config.adwin_delta)
    if config.drift == "page_hinkley":
        return PageHinkley(learners, config.page_hinkley_delta, config.page_hinkley_threshold)
    if config.drift == "ddm":
        return Ddm(learners, config.ddm_threshold)
    if config.drift == "kswin":
        return Kswin(learners, config.kswin_alpha, config.kswin_window, config.kswin_stat_size)
    return None
