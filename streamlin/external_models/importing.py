"""Importing an object by a path such as `package.module:factory`."""

import os
import sys
from importlib import import_module
from typing import Any

from streamlin.errors import ConfigError


def import_object(key: str, path: str) -> Any:
    """The object at `module:name`; modules in the current folder are found too, after all installed ones.

    key : the configuration key, for the message.

    Raises
    ------
    ConfigError : the module can't be imported, or has no such object.
    """
    module, _, name = path.partition(":")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found: Any = import_module(module)
    except (Exception, SystemExit) as error:  # other people's code may raise anything
        raise ConfigError(f"{key}: {module} can't be imported: {on_one_line(error)}") from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise ConfigError(f"{key}: {path}: no '{part}' in {found!r:.80}")
        found = getattr(found, part)
    return found


def on_one_line(error: BaseException) -> str:
    """An error as one short line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
