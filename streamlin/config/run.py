"""The whole configuration: all tables, and the rules between them."""

from typing import Annotated, Any, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from streamlin.config.ask import AskConfig
from streamlin.config.base import Strict
from streamlin.config.checkpoint import CheckpointConfig
from streamlin.config.cluster import ClusterConfig
from streamlin.config.delayed_labels import DelayedLabelsConfig
from streamlin.config.drain import TEMPLATE, DrainConfig
from streamlin.config.evaluation import EvaluationConfig
from streamlin.config.external_models import ExternalModelConfig, needs_pickle
from streamlin.config.features import TOKEN_BITS, TOPIC_BITS, TOPIC_NAMES, WITHOUT_NGRAMS, FeaturesConfig
from streamlin.config.fields import FieldsConfig
from streamlin.config.kafka import KafkaConfig
from streamlin.config.keys import KeysConfig
from streamlin.config.kinds import DEFAULTS, LearnerConfig, Task
from streamlin.config.learners import ClustererConfig, ParserConfig, TaggerConfig
from streamlin.config.mixing import MixingConfig
from streamlin.config.mixture import MixtureConfig
from streamlin.config.named import LearnerOfViews
from streamlin.config.pipeline import PipelineConfig
from streamlin.config.priors import PriorsConfig
from streamlin.config.serve import ServeConfig
from streamlin.config.sinks import SinksConfig
from streamlin.config.source import SourceConfig
from streamlin.config.surprise import SurpriseConfig


class RunConfig(Strict):
    """The configuration of a run.

    task : "classification" gives each text a label, "tagging" each token of a sentence a tag, "parsing" each sentence a
        tree, "topics" each text a cluster, without labels.
    """

    task: Task = "classification"
    source: SourceConfig = SourceConfig()
    fields: FieldsConfig = FieldsConfig()
    features: FeaturesConfig = FeaturesConfig()
    priors: PriorsConfig = PriorsConfig()
    drain: DrainConfig = DrainConfig()
    learners: Annotated[tuple[LearnerConfig, ...], Field(validate_default=True)] = ()
    keys: KeysConfig = KeysConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    surprise: SurpriseConfig = SurpriseConfig()
    delayed_labels: DelayedLabelsConfig = DelayedLabelsConfig()
    ask: AskConfig = AskConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    sinks: SinksConfig = SinksConfig()
    pipeline: PipelineConfig = PipelineConfig()
    mixing: MixingConfig = MixingConfig()
    cluster: ClusterConfig = ClusterConfig()
    kafka: KafkaConfig = KafkaConfig()
    serve: ServeConfig = ServeConfig()

    @field_validator("learners", mode="before")
    @classmethod
    def _all_by_default(cls, learners: Any, info: ValidationInfo) -> Any:
        return learners or [{"kind": kind} for kind in DEFAULTS[info.data.get("task", "classification")]]

    @model_validator(mode="before")
    @classmethod
    def _features_of_the_task(cls, data: Any) -> Any:
        """`TOKEN_BITS`, unless others are given; for topics fewer, with the names of words, and words alone."""
        if not isinstance(data, dict) or data.get("task", "classification") == "classification":
            return data
        features = data.get("features", {})
        if not isinstance(features, dict):
            return data
        if data["task"] != "topics":
            return data | {"features": {"bits": TOKEN_BITS} | features}
        words = features.get("views", features).get("words", {})
        if isinstance(words, dict) and "views" not in features:
            features = features | {"words": {"ngrams": [1, 1]} | words}
        return data | {"features": {"bits": TOPIC_BITS, "names": TOPIC_NAMES} | features}

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        names = [learner.name for learner in self.learners]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"learners: two are named '{name}'; give each its own name")
        unit = "tokens" if self.task == "tagging" else "events"
        for key in (unit, *measure_names(self)):  # beside those of learners in slices of the report, and in data frames
            if key in names:
                raise ValueError(f"learners: the name '{key}' is reserved; give the learner another name")
        for number, learner in enumerate(self.learners):
            if isinstance(learner, MixtureConfig):
                learner.check_members(names[:number])
            elif isinstance(learner, TaggerConfig | ParserConfig):
                pass  # its features are those of tokens
            elif getattr(learner, "input", "features") == "features":
                for view in learner.views if isinstance(learner, LearnerOfViews) else (learner.features,):
                    if view not in self.features.views:
                        known = ", ".join(self.features.views)
                        raise ValueError(f"learners.{learner.name}.features: no view '{view}'; choose one of {known}")
            if isinstance(learner, ExternalModelConfig) and self.checkpoint.path is not None and not learner.pickle:
                raise ValueError(needs_pickle(learner.name))
            task = _task_of(learner)
            if task != self.task:
                raise ValueError(
                    f"learners.{learner.name}: not a learner of task = '{self.task}'; choose from "
                    f"{', '.join(DEFAULTS[self.task])}, or set task = '{task}'"
                )
        if self.priors.labels and self.task != "classification":
            raise ValueError(f"priors: not for task = '{self.task}'; words are set by hand for labels of texts only")
        if self.drain.enabled and self.task != "classification":
            raise ValueError(f"drain: not for task = '{self.task}'; templates go with learners of texts")
        if self.surprise.model != "none" and self.task != "classification":
            raise ValueError(
                f"surprise.model: not for task = '{self.task}'; expected 'none', only texts have a surprise"
            )
        self._check_asking()
        if self.mixing.shards is not None:
            self._check_mixing()
        self._check_cluster()
        self._check_keys()
        if self.task in ("tagging", "parsing") and self.features.views["words"].tokens in WITHOUT_NGRAMS:
            found = f"features.words.tokens: not for task = '{self.task}', got '{self.features.views['words'].tokens}'"
            raise ValueError(f"{found}; expected what cuts a text into tokens, such as 'words' or 'whitespace'")
        if self.task == "tagging":
            self._check_tagging()
        if self.task == "parsing":
            self._check_parsing()
        if self.task == "topics":
            self._check_topics()
        if self.pipeline.novelty and not self.evaluation.novelty:
            raise ValueError("pipeline.novelty: needs evaluation.novelty = true, which counts new words")
        delayed = self.delayed_labels
        if self.surprise.by_label and (self.surprise.model == "none" or delayed.by_id or delayed.delay):
            raise ValueError("surprise.by_label: needs a surprise.model, and labels that come with their texts")
        if self.evaluation.lead is not None and self.evaluation.lead not in names:
            raise ValueError(f"evaluation.lead: no learner '{self.evaluation.lead}'; choose one of {', '.join(names)}")
        return self

    def _check_asking(self) -> None:
        """Raise ValueError where labels can't be asked for, or could not come back."""
        if self.ask.budget is None:
            if self.sinks.labels_wanted is not None:
                raise ValueError("sinks.labels_wanted: no label is asked for without ask.budget, such as 0.05")
            return
        if self.task != "classification":
            raise ValueError(f"ask.budget: not for task = '{self.task}'; only labels of texts are asked for")
        if not self.delayed_labels.by_id:
            how = "expected labels by id, --late-labels or --feedback"
            given = "instead of delayed_labels.delay" if self.delayed_labels.delay else "by which answers come back"
            raise ValueError(f"ask.budget: {how}, {given}")

    def _check_mixing(self) -> None:
        """Raise ValueError for what several shards can't do."""
        delayed, external = self.delayed_labels, [one for one in self.learners if isinstance(one, ExternalModelConfig)]
        rare = [name for name, view in self.features.views.items() if view.min_count > 1]
        for key, given in (
            (f"task = '{self.task}'", self.task != "classification"),
            ("delayed_labels", delayed.by_id or delayed.delay),
            ("ask.budget", self.ask.budget is not None),
            ("keys.per", self.keys.per is not None),
            ("drain", self.drain.enabled),
            ("surprise.model", self.surprise.model != "none"),
            ("evaluation.novelty", self.evaluation.novelty),
            *((f"learners.{one.name}", True) for one in external),
            *((f"features.{name}.min_count", True) for name in rare),
        ):
            if given:
                raise ValueError(f"mixing.shards: not together with {key}, which needs the stream in one piece")

    def _check_cluster(self) -> None:
        """Raise ValueError for workers that would have nothing to do."""
        workers, shards = self.cluster.workers, self.mixing.shards
        if workers is None and self.cluster.address is not None:
            raise ValueError("cluster.address: nothing runs there without cluster.workers (--workers N)")
        if workers is not None and shards is None:
            raise ValueError(f"cluster.workers: {workers} workers need shards to learn; give mixing.shards (--shards)")
        if workers is not None and shards is not None and workers > shards:
            raise ValueError(
                f"cluster.workers: {workers} workers can't share mixing.shards = {shards}; use at most {shards} workers"
            )

    def _check_keys(self) -> None:
        """Raise ValueError for what can't be learned for each key, or has no meaning there."""
        if self.keys.per is None:
            return
        if self.task != "classification":
            raise ValueError(f"keys.per: not for task = '{self.task}'; only learners of texts have a model per key")
        for learner in self.learners:
            if isinstance(learner, ExternalModelConfig):
                raise ValueError(f"learners.{learner.name}: an external model can't learn per key; leave out keys.per")
            if getattr(learner, "unlabelled", None) is not None:
                raise ValueError(
                    f"learners.{learner.name}.unlabelled: not with keys.per; only labelled texts are learned"
                )
            view = getattr(learner, "features", None)
            if isinstance(view, tuple):
                found = f"learners.{learner.name}.features: not with keys.per, got several views"
                raise ValueError(f"{found}; expected one")
            if view is not None and self.features.views[view].min_count > 1:
                raise ValueError(f"features.{view}.min_count: not with keys.per; expected 1, a key has few events")
        if self.ask.budget is not None:
            raise ValueError("ask.budget: not with keys.per; labels are asked for with one model only")
        if self.priors.labels and not self.keys.shared:
            raise ValueError("priors: the shared model starts with these words; expected keys.shared = true")

    def _check_tagging(self) -> None:
        """Raise ValueError for keys that are of texts only."""
        for key, given in (
            ("evaluation.references", self.evaluation.references),
            ("fields.categories", self.fields.categories),
        ):
            if given:
                raise ValueError(f"{key}: not for task = 'tagging'; fields.columns names columns of tokens")

    def _check_parsing(self) -> None:
        """Raise ValueError for keys that parsing has no use for."""
        delayed = self.delayed_labels
        for key, given in (
            ("delayed_labels", delayed.enabled or delayed.url is not None or delayed.delay),
            ("evaluation.references", self.evaluation.references),
            ("fields.categories", self.fields.categories),
            ("fields.columns", self.fields.columns),
            ("pipeline.token_confidence", self.pipeline.token_confidence),
        ):
            if given:
                raise ValueError(f"{key}: not for task = 'parsing'; expected a tree in each event, or its words alone")

    def _check_topics(self) -> None:
        """Raise ValueError for keys that need labels."""
        delayed = self.delayed_labels
        for key, given in (
            ("delayed_labels", delayed.enabled or delayed.url is not None or delayed.delay),
            ("evaluation.references", self.evaluation.references),
            ("evaluation.slice_by", self.evaluation.slice_by),
            ("evaluation.novelty", self.evaluation.novelty),
            ("pipeline.token_confidence", self.pipeline.token_confidence),
        ):
            if given:
                raise ValueError(f"{key}: not for task = 'topics'; clusters are made without labels")

    def settings_of(self, scheme: str) -> dict[str, Any]:
        """The table for the connectors of a scheme. Raises ConfigError if a secret can't be read."""
        return self.kafka.settings() if scheme == "kafka" else {}

    def fingerprint(self) -> dict[str, Any]:
        """What must be equal for a checkpoint to be used: everything that affects a weight or a metric.

        In the form of a TOML file, so that a message can name a key as the user writes it.
        """
        tables = self.model_dump(mode="json", include={"task", "fields", "features", "learners", "evaluation"})
        del tables["features"]["names"]  # may change from run to run
        for learner in tables["learners"]:
            learner.pop("show_errors", None)  # so may this
            for key in ("normalize",) if learner["kind"] == "arow" else ("first_variances",):
                if not learner.get(key, True):
                    del learner[key]  # as in checkpoints from before it was there
        tables["features"] |= tables["features"].pop("views")
        if self.priors.labels:
            tables["priors"] = {"strength": self.priors.strength} | self.priors.labels
        if self.drain.enabled:
            tables["drain"] = self.drain.model_dump(mode="json")
        if not self.evaluation.novelty:
            del tables["evaluation"]["novelty"], tables["evaluation"]["novelty_threshold"]
        if self.surprise.model != "none":
            tables["surprise"] = self.surprise.model_dump(mode="json")
        if self.delayed_labels.delay or self.delayed_labels.by_id:
            tables["delayed_labels"] = self.delayed_labels.model_dump(mode="json", exclude={"url", "store"}) | {
                "enabled": self.delayed_labels.by_id
            }
        if self.mixing.shards is not None:
            tables["mixing"] = self.mixing.model_dump(mode="json")
        if self.keys.per is not None:
            tables["keys"] = self.keys.model_dump(mode="json")
        if self.ask.budget is not None:
            tables["ask"] = {"budget": self.ask.budget}
        return tables


def _task_of(learner: LearnerConfig) -> Task:
    """The task that a learner is for."""
    if isinstance(learner, TaggerConfig):
        return "tagging"
    if isinstance(learner, ClustererConfig):
        return "topics"
    return "parsing" if isinstance(learner, ParserConfig) else "classification"


def measure_names(config: RunConfig) -> tuple[str, ...]:
    """The measures of each event that prediction lines have."""
    asked = {"novelty": config.pipeline.novelty, "surprise": config.surprise.model != "none"}
    return tuple(name for name, wanted in asked.items() if wanted)


def further_fields(config: RunConfig) -> tuple[str, ...]:
    """The fields that events need besides the standard ones, each once."""
    message = (config.drain.field,) if config.drain.enabled else ()
    return tuple(dict.fromkeys((*kept_fields(config), *message)))


def kept_fields(config: RunConfig) -> tuple[str, ...]:
    """Those that a text keeps while it waits for its label."""
    evaluation = config.evaluation
    template = (TEMPLATE,) if config.drain.enabled else ()
    key = () if config.keys.per is None else (config.keys.per,)
    fields = config.fields.categories, evaluation.slice_by, evaluation.references, template, key
    return tuple(dict.fromkeys(name for names in fields for name in names))
