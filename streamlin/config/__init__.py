"""The configuration of a run: frozen, strict models, checked once before anything starts.

Each module holds one table of a TOML file; `loading.py` says where the values come from.
"""

from streamlin.config.ask import AskConfig
from streamlin.config.checkpoint import CheckpointConfig
from streamlin.config.delayed_labels import DelayedLabelsConfig
from streamlin.config.drain import TEMPLATE, DrainConfig
from streamlin.config.evaluation import BASELINES, EvaluationConfig
from streamlin.config.external_models import ExternalModelConfig, SklearnConfig, needs_pickle
from streamlin.config.features import Mask, Tokens, ViewConfig
from streamlin.config.fields import FieldsConfig
from streamlin.config.kafka import KafkaConfig
from streamlin.config.keys import KeysConfig
from streamlin.config.kinds import (
    CLUSTERERS,
    DEFAULT_KINDS,
    DEFAULTS,
    PARSERS,
    TAGGERS,
    Task,
    learner_models,
    table_model,
)
from streamlin.config.learners import BuiltInConfig, ClustererConfig, ParserConfig, TaggerConfig
from streamlin.config.mixture import MixtureConfig
from streamlin.config.pipeline import PipelineConfig
from streamlin.config.plugin import PluginConfig
from streamlin.config.priors import PriorsConfig
from streamlin.config.run import RunConfig, further_fields, kept_fields, measure_names
from streamlin.config.surprise import SurpriseConfig

__all__ = [
    "BASELINES",
    "CLUSTERERS",
    "DEFAULTS",
    "DEFAULT_KINDS",
    "PARSERS",
    "TAGGERS",
    "TEMPLATE",
    "AskConfig",
    "BuiltInConfig",
    "CheckpointConfig",
    "ClustererConfig",
    "DelayedLabelsConfig",
    "DrainConfig",
    "EvaluationConfig",
    "ExternalModelConfig",
    "FieldsConfig",
    "KafkaConfig",
    "KeysConfig",
    "Mask",
    "MixtureConfig",
    "ParserConfig",
    "PipelineConfig",
    "PluginConfig",
    "PriorsConfig",
    "RunConfig",
    "SklearnConfig",
    "SurpriseConfig",
    "TaggerConfig",
    "Task",
    "Tokens",
    "ViewConfig",
    "further_fields",
    "kept_fields",
    "learner_models",
    "measure_names",
    "needs_pickle",
    "table_model",
]
