"""Every kind of learner, and which model its table is of."""

from typing import Annotated, Any, get_args

from pydantic import GetCoreSchemaHandler, GetPydanticSchema
from pydantic_core import CoreSchema, core_schema

from streamlin.config.base import Strict
from streamlin.config.external_models import ExternalModelConfig
from streamlin.config.learners import OwnConfig
from streamlin.config.mixture import MixtureConfig
from streamlin.config.plugin import PluginConfig
from streamlin.registry import schemes

_Known = OwnConfig | MixtureConfig | ExternalModelConfig

LEARNER_MODELS: dict[str, type[Strict]] = {
    kind: model for model in get_args(_Known) for kind in get_args(model.model_fields["kind"].annotation)
}
"""By kind; those of other packages are not among them."""

LEARNER_KINDS = tuple(LEARNER_MODELS)
DEFAULT_KINDS = LEARNER_KINDS[:5]
"""Those that run unless others are named, in this order."""

_PLUGIN = "plugin"


def _model_of(learner: Any) -> str | None:
    """Which of the models a learner's table is of."""
    kind = learner.get("kind") if isinstance(learner, dict) else getattr(learner, "kind", None)
    if kind is None or (isinstance(kind, str) and kind in LEARNER_MODELS):
        return kind
    return _PLUGIN if isinstance(kind, str) and kind in schemes("learners") else str(kind)


def _told_apart(_: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
    """The schema of a learner's table. pydantic's own would want each kind said again, as a tag."""
    models = LEARNER_MODELS | {_PLUGIN: PluginConfig}
    return core_schema.tagged_union_schema(
        {tag: handler.generate_schema(model) for tag, model in models.items()}, _model_of
    )


LearnerConfig = Annotated[_Known | PluginConfig, GetPydanticSchema(_told_apart)]
