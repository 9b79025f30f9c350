"""Every kind of learner, and the model of its table."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import GetPydanticSchema
from pydantic_core import PydanticKnownError, core_schema

from streamlin.config.external_models import ExternalModelConfig, RiverConfig, SklearnConfig
from streamlin.config.learners import BuiltInConfig, ClustererConfig, ParserConfig, TaggerConfig, model_of
from streamlin.config.mixture import MixtureConfig
from streamlin.config.named import NamedLearner
from streamlin.config.plugin import PluginConfig
from streamlin.registry import built_in_clusterers, built_in_learners, built_in_parsers, built_in_taggers, schemes

DEFAULT_KINDS = ("naive_bayes", "perceptron", "averaged_perceptron", "passive_aggressive", "logistic_regression")
"""Those that run unless others are named, in this order."""
TAGGERS = ("crf", "log_linear", "structured_perceptron", "hmm")
"""The taggers, which all run unless others are named; listed here, since they are imported only if used."""
PARSERS = ("pcfg",)
"""The parsers, likewise."""
CLUSTERERS = ("leader", "k_means", "soft_k_means")
"""The clusterers, likewise; the first one runs unless others are named."""

Task = Literal["classification", "tagging", "parsing", "topics"]
DEFAULTS: dict[Task, tuple[str, ...]] = {
    "classification": DEFAULT_KINDS,
    "tagging": TAGGERS,
    "parsing": PARSERS,
    "topics": CLUSTERERS[:1],
}

_OTHERS: dict[str, type[NamedLearner]] = {"mixture": MixtureConfig, "river": RiverConfig, "sklearn": SklearnConfig}


class LearnerModels(Mapping[str, type[NamedLearner]]):
    """Kind -> the model of its table, which is made when it is first asked for; plugins are not among them."""

    def __getitem__(self, kind: str) -> type[NamedLearner]:
        return _OTHERS[kind] if kind in _OTHERS else model_of(built_in_learners()[kind], kind)

    def __contains__(self, kind: object) -> bool:
        return kind in _OTHERS or kind in built_in_learners()

    def __iter__(self) -> Iterator[str]:
        yield from built_in_learners()
        yield from _OTHERS

    def __len__(self) -> int:
        return len(_OTHERS) + len(built_in_learners())


def learner_models() -> LearnerModels:
    """The model of each kind's table, built-in learners first; without taggers and parsers."""
    return LearnerModels()


def table_model(kind: str) -> type[NamedLearner] | None:
    """The model of the table of a learner, tagger, parser or clusterer; None for a learner of another package."""
    if kind in TAGGERS:
        return model_of(built_in_taggers()[kind], kind, TaggerConfig)
    if kind in PARSERS:
        return model_of(built_in_parsers()[kind], kind, ParserConfig)
    if kind in CLUSTERERS:
        return model_of(built_in_clusterers()[kind], kind, ClustererConfig)
    return learner_models().get(kind)


def _validated(table: Any) -> NamedLearner:
    """The table as the model of its kind, which is made at its first table: learners take long to import."""
    if isinstance(table, NamedLearner):
        return table
    if not isinstance(table, dict):
        raise PydanticKnownError("dict_type")
    kind = table.get("kind")
    if kind is None:
        raise PydanticKnownError("union_tag_not_found", {"discriminator": "kind"})
    if isinstance(kind, str):
        model = table_model(kind)
        if model is not None:
            return model.model_validate(table)
        if kind in schemes("learners"):
            return PluginConfig.model_validate(table)
    kinds = ", ".join((*learner_models(), *TAGGERS, *PARSERS, *CLUSTERERS))
    raise PydanticKnownError("union_tag_invalid", {"discriminator": "kind", "tag": str(kind), "expected_tags": kinds})


LearnerConfig = Annotated[
    BuiltInConfig | TaggerConfig | ParserConfig | ClustererConfig | PluginConfig | MixtureConfig | ExternalModelConfig,
    GetPydanticSchema(lambda *_: core_schema.no_info_plain_validator_function(_validated)),
]
"""Any learner's table. What a nested model finds wrong keeps its place in the whole configuration."""
