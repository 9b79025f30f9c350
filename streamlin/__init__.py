"""streamlin: streaming text classification, test-then-train, exactly once.

The names below are the public ones, and those of `streamlin.learners.builtin`; each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamlin.version import __version__ as __version__

if TYPE_CHECKING:
    from streamlin.config import RunConfig as RunConfig
    from streamlin.config import ViewConfig as ViewConfig
    from streamlin.config.loading import load_config as load_config
    from streamlin.errors import CheckpointError as CheckpointError
    from streamlin.errors import ConfigError as ConfigError
    from streamlin.errors import ConnectorError as ConnectorError
    from streamlin.errors import DecodeError as DecodeError
    from streamlin.errors import GuestError as GuestError
    from streamlin.errors import RecordError as RecordError
    from streamlin.errors import StreamlinError as StreamlinError
    from streamlin.errors import UnknownScheme as UnknownScheme
    from streamlin.events import Batch as Batch
    from streamlin.events import Event as Event
    from streamlin.events import Records as Records
    from streamlin.features import View as View
    from streamlin.learners import Learner as Learner
    from streamlin.learners.builtin import *  # noqa: F403
    from streamlin.pipeline import Pipeline as Pipeline
    from streamlin.running.results import Prediction as Prediction
    from streamlin.running.results import Results as Results

_ERRORS = "CheckpointError ConfigError ConnectorError DecodeError GuestError RecordError StreamlinError UnknownScheme"
_HOMES = {
    "config": "RunConfig ViewConfig",
    "config.loading": "load_config",
    "errors": _ERRORS,
    "events": "Batch Event Records",
    "features": "View",
    "learners": "Learner",
    "pipeline": "Pipeline",
    "running.results": "Prediction Results",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        value: Any = sorted([*_HOME_OF, *_built_in_learners()])
    elif name in _HOME_OF:
        value = getattr(import_module(f"streamlin.{_HOME_OF[name]}"), name)
    elif name[0].isupper() and name in _built_in_learners():  # submodules and private names import no learner
        value = _built_in_learners()[name]
    else:
        raise AttributeError(f"module 'streamlin' has no attribute '{name}'")
    globals()[name] = value
    return value


def _built_in_learners() -> dict[str, type]:
    """Class name -> class."""
    kinds: dict[str, type] = import_module("streamlin.learners").KINDS
    return {learner.__name__: learner for learner in kinds.values()}
