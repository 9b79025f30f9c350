"""streamlin: streaming text classification, test-then-train, exactly once.

The names below are the public ones; each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamlin.config import RunConfig, ViewConfig
    from streamlin.errors import (
        CheckpointError,
        ConfigError,
        ConnectorError,
        DecodeError,
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
    from streamlin.results import Prediction, Results
    from streamlin.settings import load_config

__version__ = "0.1.0"

__all__ = [
    "Arow",
    "AveragedPerceptron",
    "Batch",
    "CheckpointError",
    "ConfigError",
    "ConnectorError",
    "DecodeError",
    "Event",
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
    "results": ("Prediction", "Results"),
    "settings": ("load_config",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'streamlin' has no attribute '{name}'")
    value = getattr(import_module(f"streamlin.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
