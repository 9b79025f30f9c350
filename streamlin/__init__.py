"""streamlin: streaming text classification, test-then-train, exactly once.

The names below are the public ones; each is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamlin.version import __version__ as __version__

if TYPE_CHECKING:
    from streamlin.config import RunConfig, ViewConfig
    from streamlin.config.loading import load_config
    from streamlin.errors import (
        CheckpointError,
        ConfigError,
        ConnectorError,
        DecodeError,
        GuestError,
        RecordError,
        StreamlinError,
        UnknownScheme,
    )
    from streamlin.events import Batch, Event, Records
    from streamlin.features import View
    from streamlin.learners import (
        Arow,
        AveragedPerceptron,
        Hinge,
        Learner,
        LogisticRegression,
        NaiveBayes,
        PassiveAggressive,
        Perceptron,
        StochasticGradientDescent,
    )
    from streamlin.pipeline import Pipeline
    from streamlin.running.results import Prediction, Results

__all__ = [
    "Arow",
    "AveragedPerceptron",
    "Batch",
    "CheckpointError",
    "ConfigError",
    "ConnectorError",
    "DecodeError",
    "Event",
    "GuestError",
    "Hinge",
    "Learner",
    "LogisticRegression",
    "NaiveBayes",
    "PassiveAggressive",
    "Perceptron",
    "Pipeline",
    "Prediction",
    "RecordError",
    "Records",
    "Results",
    "RunConfig",
    "StochasticGradientDescent",
    "StreamlinError",
    "UnknownScheme",
    "View",
    "ViewConfig",
    "load_config",
]

_HOMES = {
    "config": ("RunConfig", "ViewConfig"),
    "config.loading": ("load_config",),
    "errors": (*(name for name in __all__ if name.endswith("Error")), "UnknownScheme"),
    "events": ("Batch", "Event", "Records"),
    "features": ("View",),
    "learners": (
        "StochasticGradientDescent",
        "Arow",
        "AveragedPerceptron",
        "Hinge",
        "Learner",
        "LogisticRegression",
        "NaiveBayes",
        "PassiveAggressive",
        "Perceptron",
    ),
    "pipeline": ("Pipeline",),
    "running.results": ("Prediction", "Results"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'streamlin' has no attribute '{name}'")
    value = getattr(import_module(f"streamlin.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
