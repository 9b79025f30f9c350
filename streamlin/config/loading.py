"""Where configuration values come from: flags over environment over file over defaults.

All of them are brought into the form of a TOML file's tables, so that one set of rules checks them all.
"""

import os
import tomllib
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError, create_model

from streamlin.config import (
    CLUSTERERS,
    DEFAULTS,
    PARSERS,
    TAGGERS,
    KafkaConfig,
    RunConfig,
    ViewConfig,
    learner_models,
    table_model,
)
from streamlin.config.base import Strict
from streamlin.config.findings import line_of
from streamlin.config.named import NamedLearner
from streamlin.config.presets import check_task, with_preset
from streamlin.errors import ConfigError, nearest
from streamlin.registry import schemes

PREFIX = "STREAMLIN_"
SECRETS = ("kafka.sasl_password", "kafka.ssl_key_password", "serve.token")
"""Keys that only the environment may set: files are shared, and command lines are visible to every user."""
Tables = dict[str, Any]
_TABLES: dict[str, Any] = {name: field.annotation for name, field in RunConfig.model_fields.items()}
_other_fields: Any = {name: (field.annotation, field) for name, field in RunConfig.model_fields.items()}
del _other_fields["learners"]
_OtherTables = create_model("_OtherTables", __base__=Strict, **_other_fields)
"""All but the learners. These are checked first, since learners must be imported before theirs can be."""


def load_config(
    file: Path | str | None = None,
    flags: Mapping[str, Any] | None = None,
    sets: Sequence[str] = (),
    learners: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> RunConfig:
    """The checked configuration.

    Parameters
    ----------
    file : a TOML file.
    flags : dotted key -> value; None: not given.
    sets : `key=value` texts; they win over `flags`.
    learners : names of configured learners, or kinds, to use instead of all.
    environment : variables such as `STREAMLIN_FEATURES__BITS=22`; by default those of the process.

    Raises
    ------
    ConfigError : names the key, the value, and what was expected.
    """
    tables = read_toml(Path(file)) if file is not None else {}
    _refuse_secrets(tables)
    environment = os.environ if environment is None else environment
    for key, value in from_environment(environment):
        put(tables, key, value)
    for key, value in (flags or {}).items():
        if value is not None:
            put(tables, key, value)
    for text in sets:  # the preset first: other keys may refer to its learners and views
        key, sign, value = text.partition("=")
        if key.strip() == "preset" and sign:
            tables["preset"] = parse_value(value.strip())
    preset = tables.get("preset", "fast")
    tables = with_preset(tables)
    if learners:
        tables["learners"] = [_learner(name, tables.get("learners", [])) for name in learners]
    for text in sets:
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise ConfigError(f"--set {text}: expected KEY=VALUE, as in features.bits=22")
        if key.strip() == "preset":
            continue
        parsed, own_tables = parse_value(value.strip()), Tables()
        put(own_tables, key.strip(), parsed)
        _refuse_secrets(own_tables)
        _set(tables, key.strip(), parsed)
    check_task(preset, tables)
    try:
        config = checked(tables)
        config.priors.check_labels(config.pipeline)
        return config
    except ConfigError as error:
        given = {key for key, value in (flags or {}).items() if value is not None}
        given |= {text.partition("=")[0].strip() for text in sets}
        raise ConfigError(_with_variable(str(error), given, environment)) from None


def load_kafka(file: Path | str | None = None, environment: Mapping[str, str] | None = None) -> KafkaConfig:
    """Only the table `[kafka]`, from a file that may hold others, and from the environment. Raises ConfigError."""
    tables = read_toml(Path(file)) if file is not None else {}
    _refuse_secrets(tables)
    kafka = {key: table for key, table in tables.items() if key == "kafka"}
    own = f"{PREFIX}KAFKA"
    environment = {k: v for k, v in (os.environ if environment is None else environment).items() if k.startswith(own)}
    for key, value in from_environment(environment):
        put(kafka, key, value)
    try:
        return KafkaConfig.model_validate(kafka.get("kafka", {}))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line = _explained({**first, "loc": ("kafka", *first["loc"])}, kafka)
        raise ConfigError(_with_variable(line, (), environment)) from None


def _refuse_secrets(tables: Tables) -> None:
    """Raise ConfigError, without showing the value, if tables that are not from the environment hold a secret."""
    for secret in SECRETS:
        name, _, key = secret.partition(".")
        if isinstance(tables.get(name), dict) and key in tables[name]:
            variable = PREFIX + secret.upper().replace(".", "__")
            raise ConfigError(f"{secret}: a secret comes from {variable} in the environment, or from {secret}_file")


def read_toml(path: Path) -> Tables:
    """The tables of a TOML file. Raises ConfigError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"--config {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"--config {path}: not TOML: {error}") from None


def from_environment(environment: Mapping[str, str]) -> Iterable[tuple[str, Any]]:
    """Dotted keys and values; `__` in a variable's name leads into a table."""
    for name, value in sorted(environment.items()):
        if name.startswith(PREFIX):
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            if key.split(".")[0] == "learners":
                raise ConfigError(f"{name}: set learners in the file or by flags")
            yield key, value if key in SECRETS else parse_value(value)


def _with_variable(message: str, given: Container[str], environment: Mapping[str, str]) -> str:
    """The message, with the environment variable that set its key, unless the command line set it."""
    key = message.partition(":")[0]
    if key in given:
        return message
    variable = PREFIX + key.upper().replace(".", "__")
    names = [name for name in environment if name == variable or name.startswith(f"{variable}__")]
    return f"{message} (from {names[0]})" if names else message


def parse_value(text: str) -> Any:
    """A TOML value; anything that is not valid TOML is kept as a string, so that bare words need no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def put(tables: Tables, key: str, value: Any) -> None:
    """Set a dotted key, creating missing tables. Raises ConfigError."""
    *path, last = key.split(".")
    table = tables
    for i, name in enumerate(path):
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{key}: '{'.'.join(path[: i + 1])}' is not a table")
    table[last] = value


def checked(tables: Tables) -> RunConfig:
    """The configuration in the tables. Raises ConfigError for the first mistake in them."""
    try:
        _OtherTables.model_validate({key: table for key, table in tables.items() if key != "learners"})
        return RunConfig.model_validate(tables)
    except ValidationError as error:
        raise ConfigError(_explained(error.errors(include_url=False)[0], tables)) from None


def _learner(name: str, configured: Any) -> Tables:
    """The configured learner of that name, or a new one of that kind."""
    listed = _tables_of(configured)
    for key in ("name", "kind"):
        for learner in listed:
            if learner.get(key) == name:
                return learner
    if name not in (*TAGGERS, *PARSERS, *CLUSTERERS, *learner_models()) and name not in schemes("learners"):
        names = [learner["name"] for learner in listed if learner.get("name")]
        raise ConfigError(f"--learner {name}: no such learner; {nearest(name, [*_kinds(), *names])}")
    return {"kind": name}


def _kinds() -> list[str]:
    """All kinds of learners, those of other packages last."""
    return [*learner_models(), *TAGGERS, *PARSERS, *CLUSTERERS, *schemes("learners")]


def _tables_of(learners: Any) -> list[Tables]:
    """The learners that are tables; `checked` refuses any others."""
    return [learner for learner in learners if isinstance(learner, dict)] if isinstance(learners, list) else []


def _set(tables: Tables, key: str, value: Any) -> None:
    """`put`, but a learner is addressed by its name, which may contain dots."""
    if not key.startswith("learners."):
        put(tables, key, value)
        return
    name, _, parameter = key.removeprefix("learners.").rpartition(".")
    learners = tables["learners"] = tables.get("learners") or [
        {"kind": kind} for kind in DEFAULTS.get(tables.get("task", "classification"), ())
    ]
    names = {str(learner.get("name") or learner.get("kind")): learner for learner in _tables_of(learners)}
    if not names:
        checked(tables)
    if not name:
        raise ConfigError(f"--set {key}: expected learners.NAME.KEY, as in learners.passive_aggressive.C")
    if name not in names:
        raise ConfigError(f"--set {key}: no learner '{name}'; {nearest(name, names)}")
    names[name][parameter] = value


def _explained(finding: Mapping[str, Any], tables: Tables) -> str:
    """One of pydantic's findings as a line: the key, what was expected, what was found."""
    loc, found, kind = list(finding["loc"]), finding["input"], finding["type"]
    key = _dotted(loc, tables)
    if key in SECRETS or (key in ("kafka", "serve") and not isinstance(found, Mapping)):
        finding = {**finding, "input": "…"}  # there may be a secret in it
    if kind == "value_error" and (not key or isinstance(found, Mapping)):
        return str(finding["ctx"]["error"])  # which names the key
    if kind == "union_tag_invalid":
        return f"learners: no learner '{finding['ctx']['tag']}'; {nearest(finding['ctx']['tag'], _kinds())}"
    if kind == "union_tag_not_found" and isinstance(found, Mapping):
        return f"{key}: kind is missing; {nearest('', _kinds())}"
    if kind == "tuple_type":
        expected = f"expected {'[[learners]] tables' if key == 'learners' else 'a list'}"
        return line_of(finding, key, "a table", expected=expected)
    return line_of(finding, key, "a table", _keys(loc[:-1], tables) if kind == "extra_forbidden" else ())


def _dotted(loc: Sequence[Any], tables: Tables) -> str:
    """The key as a user writes it: a learner by its name, a view directly under `features`."""
    parts = list(loc)
    if parts[:1] == ["learners"] and len(parts) > 1 and isinstance(parts[1], int):
        learner = tables["learners"][parts[1]]
        named = isinstance(learner, dict) and (learner.get("name") or learner.get("kind"))
        parts = ["learners", named or str(parts[1]), *parts[2:]]
    if parts[:2] in (["features", "views"], ["priors", "labels"]):
        del parts[1]
    return ".".join(str(part) for part in parts)


def _keys(loc: Sequence[Any], tables: Tables) -> list[str]:
    """The valid keys at a place in the configuration."""
    model: type[BaseModel]
    if not loc:
        model = RunConfig
    elif loc[0] == "learners":
        model = table_model(tables["learners"][loc[1]]["kind"]) or NamedLearner
    elif loc[0] == "features" and len(loc) > 1:
        model = ViewConfig
    else:
        model = _TABLES[loc[0]]
    return [key for key in model.model_fields if key != "views"]
