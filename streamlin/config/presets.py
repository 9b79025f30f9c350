"""Named configurations, as the tables of a TOML file; a user's own keys win over them."""

from collections.abc import Mapping
from typing import Any

from streamlin.config.kinds import DEFAULTS, TAGGERS, Task
from streamlin.errors import ConfigError, nearest

_NAIVE_BAYES = {"smoothing": "prior", "alpha": 3.0, "half_life": 30_000}
_LOGISTIC = {"squares": "feature", "eta": 1.0, "damping": 0.1, "least_error": 0.001}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "fast": {},
    "accurate": {
        "task": "classification",
        "features": {
            "words": {"tokens": "words", "ngrams": [1, 2]},
            "whitespace": {"tokens": "whitespace", "ngrams": [1, 2]},
            "chars": {"tokens": "char_wb", "ngrams": [1, 5], "lowercase": False},
            "first": {"tokens": "first"},
            "head": {"tokens": "head"},
            "skip": {"tokens": "skip"},
            "shape": {"tokens": "shape"},
        },
        "learners": [
            {"kind": "naive_bayes", **_NAIVE_BAYES, "reset": 0.5},
            {"kind": "naive_bayes", "name": "naive_bayes_shape", "features": "shape", **_NAIVE_BAYES},
            {"kind": "arow", "name": "arow_first", "features": "first"},
            {"kind": "arow", "name": "arow_head", "features": "head"},
            {"kind": "arow", "features": ["whitespace", "skip"]},
            {
                "kind": "logistic_regression",
                "features": ["whitespace", "first", "shape", "head", "skip"],
                **_LOGISTIC,
            },
            {"kind": "logistic_regression", "name": "logistic_regression_chars", "features": "chars", **_LOGISTIC},
            {"kind": "arow", "name": "arow_chars", "features": ["whitespace", "chars"], "r": 1.0, "normalize": True},
            {
                "kind": "mixture",
                "start": [0.7, 0.25, 0.1, 0.03, 0.08, 0.2, 0.4, 0.05],
                "first_variances": {"naive_bayes": 20.0},
            },
        ],
    },
    "log-template": {
        "task": "tagging",
        "features": {"words": {"tokens": "whitespace"}},
        "learners": [{"kind": "crf"}],
    },
}
"""`fast` is the default, for texts and for sentences. docs/accurate.md describes `accurate` and the reasons for it,
docs/tutorials/log-templates.md `log-template`."""


def with_preset(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables, completed by those of the preset that the key `preset` names, and without that key.

    The keys of a view are completed one by one; the preset's learners apply only if none are given. Raises ConfigError.
    """
    own = dict(tables)
    name = own.pop("preset", "fast")
    if not isinstance(name, str) or name not in PRESETS:
        raise ConfigError(f"preset: unknown preset {name!r}; {nearest(str(name), PRESETS)}")
    preset = PRESETS[name]
    if "features" in preset and isinstance(own.get("features", {}), dict):
        views = {view: dict(keys) for view, keys in preset["features"].items()}
        for key, value in own.get("features", {}).items():
            views[key] = views[key] | value if isinstance(value, dict) and key in views else value
        own["features"] = views
    if "learners" in preset and "learners" not in own:
        own["learners"] = [dict(learner) for learner in preset["learners"]]
    if "task" in preset:
        own.setdefault("task", preset["task"])
    return own


def check_task(name: str, tables: Mapping[str, Any]) -> None:
    """Raise ConfigError if tables, completed by the preset of that name, have a task or learners that it is not for."""
    task: Task | None = PRESETS[name].get("task")
    if task is None:
        return
    if tables["task"] != task:
        raise ConfigError(f"preset: '{name}' is for task = '{task}', got task = '{tables['task']}'")
    for learner in tables["learners"] if isinstance(tables["learners"], list) else []:
        kind = learner.get("kind") if isinstance(learner, dict) else None
        if isinstance(kind, str) and (kind in TAGGERS) != (task == "tagging"):
            choice = ", ".join(DEFAULTS[task])
            raise ConfigError(f"preset: '{name}' is for task = '{task}', got the learner {kind}; choose from {choice}")
