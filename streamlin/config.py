"""The configuration of a run: frozen, strict models, checked once before anything starts.

What they hold is what a TOML file holds, table by table; `settings.py` says where the values come from.
"""

import inspect
from collections.abc import Sequence
from math import comb
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    SecretStr,
    Tag,
    field_validator,
    model_validator,
)

from streamlin.errors import ConfigError, nearest
from streamlin.registry import learner_class, schemes


class Strict(BaseModel):
    """Unknown keys are errors, and nothing changes once it is made."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Count = Annotated[int, Field(strict=True, ge=1)]
"""A whole number from 1 on; `true` is none."""

Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""One name, or a list of them."""


class SourceConfig(Strict):
    """Where records come from: a path, `-`, or a URL."""

    url: str | None = None
    follow: bool = False

    def needed_url(self) -> str:
        """The URL; raises ConfigError where there is none."""
        if self.url is None:
            raise ConfigError("no source; give a path, '-' or a URL, or source.url in the configuration")
        return self.url


class FieldsConfig(Strict):
    """The input's own names for what an event holds; dotted paths lead into nested JSON."""

    text: Names = ("text",)
    label: str = "label"
    id: str = "id"
    weight: str = "weight"
    time: str = "time"
    categories: Names = ()

    @field_validator("text")
    @classmethod
    def _some_text(cls, text: tuple[str, ...]) -> tuple[str, ...]:
        if not text:
            raise ValueError("needs at least one field")
        return text


Mask = Literal["uuid", "ip", "hex", "number"]
Tokens = Literal["words", "scikit-learn", "whitespace", "char_wb"]


class ViewConfig(Strict):
    """One view of the texts: how they become tokens, n-grams and values.

    min_count : of a feature seen less often in labelled events nothing is learned.
    """

    tokens: Tokens = "words"
    lowercase: bool = True
    ngrams: tuple[Count, Count] = (1, 2)
    values: Literal["binary", "counts", "log"] = "binary"
    masks: Annotated[tuple[Mask, ...], BeforeValidator(_listed)] = ()
    min_count: Count = 1

    @field_validator("ngrams")
    @classmethod
    def _in_order(cls, ngrams: tuple[int, int]) -> tuple[int, int]:
        if not ngrams[0] <= ngrams[1] <= 32:
            raise ValueError("needs [shortest, longest], at most 32")
        return ngrams


class FeaturesConfig(Strict):
    """`bits`, `names`, and a table for each view: `[features.words]`.

    names : how many n-grams of each view are kept by name, for people to read; reaches no prediction.
    """

    bits: Annotated[Count, Field(le=31)] = 20
    names: Annotated[int, Field(strict=True, ge=0)] = 0
    views: dict[str, ViewConfig] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather_views(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "views" in data:
            return data
        views = {key: value for key, value in data.items() if isinstance(value, dict) or key == "words"}
        rest = {key: value for key, value in data.items() if key not in views}
        return rest | {"views": {"words": {}} | views}


class _Named(Strict):
    """A learner by name; its own keys are explained at its class in `streamlin.learners`."""

    name: str = ""

    @model_validator(mode="before")
    @classmethod
    def _name_is_kind(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("name"):
            return data | {"name": data.get("kind", "")}
        return data

    def parameters(self) -> dict[str, Any]:
        """The learner's own keys: the arguments of its constructor."""
        return self.model_dump(exclude={"kind", "name", "features"})


class _Learner(_Named):
    """A learner and the view that it reads."""

    features: str = "words"


class MixtureConfig(_Named):
    """members : names of learners that stand before it; by default all."""

    kind: Literal["mixture"]
    members: Names = ()


class NaiveBayesConfig(_Learner):
    kind: Literal["naive_bayes"]
    alpha: PositiveFloat = 0.3
    smoothing: Literal["uniform", "prior"] = "uniform"
    half_life: PositiveFloat | None = None
    reset: Annotated[float, Field(gt=0, lt=1)] | None = None


class PerceptronConfig(_Learner):
    kind: Literal["perceptron"]


class AveragedPerceptronConfig(_Learner):
    kind: Literal["averaged_perceptron"]
    half_life: PositiveFloat | None = None


class PassiveAggressiveConfig(_Learner):
    kind: Literal["passive_aggressive"]
    C: PositiveFloat = 0.1
    variant: Literal[1, 2] = 1


class LogisticRegressionConfig(_Learner):
    kind: Literal["logistic_regression"]
    eta: PositiveFloat = 0.45
    epsilon: PositiveFloat = 1e-10
    normalize: bool = True
    squares: Literal["weight", "feature"] = "weight"


class HingeConfig(_Learner):
    kind: Literal["hinge"]
    eta: PositiveFloat = 0.45
    epsilon: PositiveFloat = 1e-10
    normalize: bool = True


class SGDConfig(_Learner):
    kind: Literal["sgd"]
    loss: Literal["perceptron", "log", "hinge"] = "log"
    rate: Literal["constant", "inverse", "inverse_sqrt", "pegasos"] = "constant"
    eta: PositiveFloat = 0.5
    l2: NonNegativeFloat = 0.0
    normalize: bool = True

    @model_validator(mode="after")
    def _l2_fits(self) -> Self:
        if self.rate == "pegasos" and self.l2 == 0:
            raise ValueError("l2: pegasos needs it above 0")
        if self.rate != "pegasos" and self.eta * self.l2 > 1:
            raise ValueError(f"l2: at most 1 / eta = {1 / self.eta:g}")
        return self


class ArowConfig(_Learner):
    kind: Literal["arow"]
    r: PositiveFloat = 10.0


class _Guest(_Named):
    """A model of another library; see `streamlin.guests`.

    object : `package.module:factory`; called with `arguments`, it gives a new model.
    features : the view that it gets, where its `input` is features.
    on_error : what happens when it raises: it is retired, or the run stops.
    pickle : its state may be kept in a checkpoint, and taken from there, which runs code.
    """

    object: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")]
    arguments: dict[str, Any] = {}
    features: str = "words"
    on_error: Literal["retire", "stop"] = "retire"
    pickle: bool = False


class RiverConfig(_Guest):
    """A classifier of river. input : it gets the text, or features as a mapping of bucket to value."""

    kind: Literal["river"]
    input: Literal["text", "features"] = "text"


class SklearnConfig(_Guest):
    """A classifier of scikit-learn with `partial_fit`.

    input : it gets features as a sparse matrix of one row, or a list of one text.
    bits : that matrix has 2^bits columns, of which scikit-learn mostly touches each at every event; or 2^features.bits,
        if that is less.
    classes : all labels there will be; none: they are not known beforehand.
    """

    kind: Literal["sklearn"]
    input: Literal["features", "text"] = "features"
    bits: Annotated[Count, Field(le=31)] = 18
    classes: Names = ()

    @field_validator("classes")
    @classmethod
    def _several(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(classes)) < len(classes) or len(classes) == 1:
            raise ValueError("needs two labels at least, each once")
        return classes


OwnConfig = (
    NaiveBayesConfig
    | PerceptronConfig
    | AveragedPerceptronConfig
    | PassiveAggressiveConfig
    | LogisticRegressionConfig
    | HingeConfig
    | SGDConfig
    | ArowConfig
)
GuestConfig = RiverConfig | SklearnConfig


def needs_pickle(name: str) -> str:
    """What is said where a guest is to be kept that may not be pickled."""
    return (
        f"learners.{name}.pickle: what a guest has learned can only be kept pickled; pickle = true allows that, "
        "and that it is unpickled later on, which runs code"
    )


class ForeignConfig(_Learner):
    """A learner that another package provides; its own keys are its constructor's arguments."""

    model_config = ConfigDict(extra="allow")

    kind: str

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        arguments = inspect.signature(learner_class(self.kind)).parameters.values()
        known = [argument.name for argument in arguments if argument.name != "features"]
        if all(argument.kind != argument.VAR_KEYWORD for argument in arguments):
            for key in self.model_extra or {}:
                if key not in known:
                    raise ValueError(f"learners.{self.name}.{key}: unknown key; {nearest(key, known)}")
        return self


LEARNER_MODELS: dict[str, type[Strict]] = {
    "naive_bayes": NaiveBayesConfig,
    "perceptron": PerceptronConfig,
    "averaged_perceptron": AveragedPerceptronConfig,
    "passive_aggressive": PassiveAggressiveConfig,
    "logistic_regression": LogisticRegressionConfig,
    "hinge": HingeConfig,
    "sgd": SGDConfig,
    "arow": ArowConfig,
    "mixture": MixtureConfig,
    "river": RiverConfig,
    "sklearn": SklearnConfig,
}
"""By kind; those of other packages are not among them."""

FOREIGN = "foreign"


def _model_of(learner: Any) -> str | None:
    """Which of the models a learner's table is of."""
    kind = learner.get("kind") if isinstance(learner, dict) else getattr(learner, "kind", None)
    if kind is None or (isinstance(kind, str) and kind in LEARNER_MODELS):
        return kind
    return FOREIGN if isinstance(kind, str) and kind in schemes("learners") else str(kind)


LearnerConfig = Annotated[
    Annotated[NaiveBayesConfig, Tag("naive_bayes")]
    | Annotated[PerceptronConfig, Tag("perceptron")]
    | Annotated[AveragedPerceptronConfig, Tag("averaged_perceptron")]
    | Annotated[PassiveAggressiveConfig, Tag("passive_aggressive")]
    | Annotated[LogisticRegressionConfig, Tag("logistic_regression")]
    | Annotated[HingeConfig, Tag("hinge")]
    | Annotated[SGDConfig, Tag("sgd")]
    | Annotated[ArowConfig, Tag("arow")]
    | Annotated[MixtureConfig, Tag("mixture")]
    | Annotated[RiverConfig, Tag("river")]
    | Annotated[SklearnConfig, Tag("sklearn")]
    | Annotated[ForeignConfig, Tag(FOREIGN)],
    Discriminator(_model_of),
]

LEARNER_KINDS = tuple(LEARNER_MODELS)
DEFAULT_KINDS = LEARNER_KINDS[:5]
"""Those that run unless others are named, in this order."""


BASELINES = ("majority", "no_change")


class EvaluationConfig(Strict):
    """What is measured, and how far back.

    window : labelled events.
    fading : α, by which each labelled event's part shrinks with the next one.
    lead : the learner whose predictions are given out; None: the best so far.
    slice_by : fields by whose values accuracy is measured too.
    references : fields that hold another's predictions, measured beside the baselines.
    confusion_labels, slice_values : labels, and values of a field, that are counted singly; the rest is one.
    metrics : "accuracy" leaves out what is neither accuracy nor the goodness of probabilities.
    drift : what watches each learner's errors for a change; the keys below it are the detectors' own.
    """

    window: Count = 1000
    fading: Annotated[float, Field(gt=0, lt=1)] = 0.999
    lead: str | None = None
    slice_by: Names = ()
    references: Names = ()
    confusion_labels: Count = 200
    slice_values: Count = 1000
    metrics: Literal["all", "accuracy"] = "all"
    drift: Literal["adwin", "page_hinkley", "ddm", "kswin", "none"] = "adwin"
    adwin_delta: Annotated[float, Field(gt=0, lt=1)] = 0.002
    page_hinkley_delta: Annotated[float, Field(ge=0)] = 0.005
    page_hinkley_threshold: PositiveFloat = 50.0
    ddm_threshold: Annotated[float, Field(ge=2)] = 3.0
    kswin_alpha: Annotated[float, Field(gt=0, lt=1)] = 0.005
    kswin_window: Annotated[Count, Field(ge=30, le=10_000)] = 100
    kswin_stat_size: Count = 30

    @field_validator("references")
    @classmethod
    def _names_free(cls, references: tuple[str, ...]) -> tuple[str, ...]:
        for name in references:
            if name in BASELINES:
                raise ValueError(f"'{name}' is the name of a baseline that is always there")
        return references

    @model_validator(mode="after")
    def _kswin_can_alarm(self) -> Self:
        if self.kswin_stat_size >= self.kswin_window:
            raise ValueError(
                f"evaluation.kswin_stat_size: must be below kswin_window = {self.kswin_window}, "
                f"got {self.kswin_stat_size}"
            )
        surest = 2 / comb(self.kswin_window, self.kswin_stat_size)
        if surest > self.kswin_alpha:
            raise ValueError(
                f"evaluation.kswin_alpha: p is never below {surest:.2g} with {self.kswin_stat_size} of "
                f"{self.kswin_window} events, got {self.kswin_alpha:g}"
            )
        return self


class FeedbackConfig(Strict):
    """Labels that come later than their texts.

    enabled : a record with an id and a label but no text labels the text of that id; true where there is a url.
    url : a second source, which brings such records too; None: there is none.
    delay : each label comes only after so many more texts; for replays, 0: at once.
    store : where texts wait: `memory`, or on `disk`, in a database beside the checkpoint.
    max_pending : texts that wait for a label. max_pending_characters : of theirs.
    max_remembered : labels that wait for their text, and ids of which the label is known.
    max_pending_age : seconds that they wait, by the times that events bring; None: for ever.
    unknown : what becomes of a label whose text has not come: `hold` it until then, or `drop` it.
    """

    enabled: bool = False
    url: Annotated[str, Field(min_length=1)] | None = None
    delay: Annotated[int, Field(ge=0)] = 0
    store: Literal["memory", "disk"] = "memory"
    max_pending: Count = 100_000
    max_pending_characters: Count = 256_000_000
    max_remembered: Count = 100_000
    max_pending_age: PositiveFloat | None = None
    unknown: Literal["hold", "drop"] = "hold"

    @property
    def by_id(self) -> bool:
        """Whether labels come by id."""
        return self.enabled or self.url is not None

    @model_validator(mode="after")
    def _one_or_other(self) -> Self:
        if self.delay and self.by_id:
            raise ValueError(
                "feedback.delay: labels come later by themselves; it is for streams that bring them at once"
            )
        return self


class CheckpointConfig(Strict):
    """Where and how often a run is saved: after so many events, and after so many seconds if anything is new.

    path : a folder; None: nowhere.
    """

    path: Annotated[str, Field(min_length=1)] | None = None
    every_events: Count = 50_000
    every_seconds: PositiveFloat = 60.0


class SinksConfig(Strict):
    """Where lines go: a path, `-`, or a URL; None: nowhere."""

    predictions: str | None = None
    dead_letters: str | None = None


class PipelineConfig(Strict):
    """What changes no prediction, only speed and what is put up with.

    batch_size : events read, learned and written together.
    threads : 2 read ahead on a thread of its own; 1 does one thing at a time.
    max_record_bytes : a longer record is a dead letter.
    max_consecutive_dead_letters : so many in a row end the run.
    """

    batch_size: Annotated[Count, Field(le=100_000)] = 4000
    threads: Annotated[Count, Field(le=2)] = 2
    max_record_bytes: Count = 10_000_000
    max_consecutive_dead_letters: Count = 1000
    max_labels: Count = 1000


class KafkaConfig(Strict):
    """How Kafka's brokers are reached, by sources and sinks alike. Secrets come from the environment or from files.

    security_protocol, sasl_mechanism : as Kafka calls them.
    sasl_username : for PLAIN and SCRAM. sasl_password : from the environment only; else from sasl_password_file.
    sasl_token_provider : for OAUTHBEARER; an entry point of the group `streamlin.kafka_tokens`, which gives a function
        without arguments that returns a token and when it expires (Unix seconds).
    ssl_ca_file : whom to trust, PEM; None: whom the system trusts. ssl_verify : false takes any certificate.
    ssl_certificate_file, ssl_key_file : the client's own, PEM. ssl_key_password : as sasl_password.
    connect_timeout : seconds for the first contact, and for a topic that is not there yet.
    give_up_after : seconds without any contact after which a run ends.
    """

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    sasl_password_file: str | None = None
    sasl_token_provider: str | None = None
    ssl_ca_file: str | None = None
    ssl_verify: bool = True
    ssl_certificate_file: str | None = None
    ssl_key_file: str | None = None
    ssl_key_password: SecretStr | None = None
    ssl_key_password_file: str | None = None
    connect_timeout: PositiveFloat = 30.0
    give_up_after: PositiveFloat = 300.0

    @model_validator(mode="after")
    def _complete(self) -> Self:
        sasl = self.security_protocol.startswith("SASL_")
        if sasl and self.sasl_mechanism is None:
            raise ValueError(f"kafka.sasl_mechanism: {self.security_protocol} needs one, SCRAM-SHA-512 for example")
        if self.sasl_mechanism is not None and not sasl:
            raise ValueError(
                f"kafka.security_protocol: {self.sasl_mechanism} needs SASL_SSL or SASL_PLAINTEXT, "
                f"got {self.security_protocol}"
            )
        if self.sasl_mechanism == "OAUTHBEARER":
            if self.sasl_token_provider is None:
                raise ValueError("kafka.sasl_token_provider: OAUTHBEARER needs the name of one")
        elif self.sasl_mechanism is not None:
            if self.sasl_username is None:
                raise ValueError(f"kafka.sasl_username: {self.sasl_mechanism} needs one")
            if not self.sasl_password and self.sasl_password_file is None:
                raise ValueError(
                    f"kafka.sasl_password_file: {self.sasl_mechanism} needs it, or a password in "
                    "STREAMLIN_KAFKA__SASL_PASSWORD"
                )
        return self

    def settings(self) -> dict[str, Any]:
        """What a connector gets: the keys, secrets as texts.

        Raises
        ------
        ConfigError : the file of a secret can't be read.
        """
        values: dict[str, Any] = self.model_dump(exclude={"sasl_password", "ssl_key_password"})
        for name, given in (("sasl_password", self.sasl_password), ("ssl_key_password", self.ssl_key_password)):
            path = values.pop(f"{name}_file")
            values[name] = given.get_secret_value() if given else _secret(f"kafka.{name}_file", path)
        return values


class ServeConfig(Strict):
    """What a service asks of its clients, and puts up with.

    token : what they have to show, from the environment only; else from token_file; both None: nothing.
    max_body_bytes, max_batch : bytes, and events, of one request.
    max_in_flight : requests that are dealt with at a time.
    max_waiting : events that are accepted and not learned yet.
    """

    token: Annotated[SecretStr, Field(min_length=1)] | None = None
    token_file: str | None = None
    max_body_bytes: Count = 4_000_000
    max_batch: Count = 1000
    max_in_flight: Count = 256
    max_waiting: Count = 10_000

    @model_validator(mode="after")
    def _batches_can_wait(self) -> Self:
        if self.max_waiting < self.max_batch:
            raise ValueError(f"serve.max_waiting: at least serve.max_batch = {self.max_batch}, got {self.max_waiting}")
        return self

    def needed_token(self) -> str | None:
        """What clients have to show; None: nothing.

        Raises
        ------
        ConfigError : its file can't be read, or no HTTP header can hold it.
        """
        token = self.token.get_secret_value() if self.token else _secret("serve.token_file", self.token_file)
        if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
            raise ConfigError("serve.token: needs visible ASCII characters, got others")
        return token


def _secret(key: str, path: str | None) -> str | None:
    """The first line of a file."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            line = file.readline().rstrip("\r\n")
    except OSError as error:
        raise ConfigError(f"{key}: {path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{key}: {path} is not UTF-8") from None
    if not line:
        raise ConfigError(f"{key}: {path} has nothing in its first line")
    return line


def _check_members(mixture: MixtureConfig, before: Sequence[str]) -> None:
    """Raise ValueError for members that don't stand before the mixture."""
    if not before:
        raise ValueError(f"learners.{mixture.name}: it mixes learners that stand before it; there is none")
    for member in mixture.members:
        if member not in before:
            raise ValueError(
                f"learners.{mixture.name}.members: no learner '{member}' before it (there is {', '.join(before)})"
            )


class RunConfig(Strict):
    """Everything a run needs to know."""

    source: SourceConfig = SourceConfig()
    fields: FieldsConfig = FieldsConfig()
    features: FeaturesConfig = FeaturesConfig()
    learners: Annotated[tuple[LearnerConfig, ...], Field(validate_default=True)] = ()
    evaluation: EvaluationConfig = EvaluationConfig()
    feedback: FeedbackConfig = FeedbackConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    sinks: SinksConfig = SinksConfig()
    pipeline: PipelineConfig = PipelineConfig()
    kafka: KafkaConfig = KafkaConfig()
    serve: ServeConfig = ServeConfig()

    @field_validator("learners", mode="before")
    @classmethod
    def _all_by_default(cls, learners: Any) -> Any:
        return learners or [{"kind": kind} for kind in DEFAULT_KINDS]

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        names = [learner.name for learner in self.learners]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"learners: two are named '{name}'; give each its own name")
        if "events" in names:  # the learners of a slice stand beside its number of events
            raise ValueError("learners: 'events' is what a slice counts; give the learner another name")
        for number, learner in enumerate(self.learners):
            if isinstance(learner, MixtureConfig):
                _check_members(learner, names[:number])
            elif getattr(learner, "input", "features") == "features" and learner.features not in self.features.views:
                known = ", ".join(self.features.views)
                raise ValueError(f"learners.{learner.name}.features: no view '{learner.features}' (there is {known})")
            if isinstance(learner, GuestConfig) and self.checkpoint.path is not None and not learner.pickle:
                raise ValueError(needs_pickle(learner.name))
        if self.evaluation.lead is not None and self.evaluation.lead not in names:
            raise ValueError(f"evaluation.lead: no learner '{self.evaluation.lead}' (there is {', '.join(names)})")
        return self

    def settings_of(self, scheme: str) -> dict[str, Any]:
        """The table for the connectors of a scheme. Raises ConfigError where a secret can't be read."""
        return self.kafka.settings() if scheme == "kafka" else {}

    def fingerprint(self) -> dict[str, Any]:
        """What must be equal for a checkpoint to be used: everything that reaches a weight or a metric.

        In the tables of a TOML file, so that a key is called what its user calls it.
        """
        tables = self.model_dump(mode="json", include={"fields", "features", "learners", "evaluation"})
        del tables["features"]["names"]  # they may be kept from any moment on
        tables["features"] |= tables["features"].pop("views")
        if self.feedback.delay or self.feedback.by_id:
            tables["feedback"] = self.feedback.model_dump(mode="json", exclude={"url", "store"}) | {
                "enabled": self.feedback.by_id
            }
        return tables


def further_fields(config: RunConfig) -> tuple[str, ...]:
    """The fields that events are to have beside their own, each once."""
    evaluation = config.evaluation
    return tuple(dict.fromkeys((*config.fields.categories, *evaluation.slice_by, *evaluation.references)))
