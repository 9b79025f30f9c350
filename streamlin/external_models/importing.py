"""From `package.module:factory` to what it names."""

import os
import sys
from importlib import import_module
from typing import Any

from streamlin.errors import ConfigError


def imported(key: str, path: str) -> Any:
    """What `module:name` names; modules in the current folder are found too, behind all that are installed.

    key : of the configuration, for the message.

    Raises
    ------
    ConfigError : there is no such thing, or its module can't be imported.
    """
    module, _, name = path.partition(":")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found: Any = import_module(module)
    except (Exception, SystemExit) as error:  # whatever a foreign module raises while it is imported
        raise ConfigError(f"{key}: {module} can't be imported: {told(error)}") from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise ConfigError(f"{key}: {path}: there is no '{part}' in {found!r:.80}")
        found = getattr(found, part)
    return found


def told(error: BaseException) -> str:
    """An error as one short line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
