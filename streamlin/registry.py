"""Connectors and learners by name.

A package adds URL schemes with entry points of the groups `streamlin.sources` and `streamlin.sinks`, and kinds of
learners with the group `streamlin.learners`. Built-in learners are listed in `streamlin.learners.builtin`.
"""

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal

from streamlin.errors import ConfigError, UnknownScheme, nearest

Kind = Literal["sources", "sinks", "learners"]
_BUILT_IN_LEARNERS, _BUILT_IN_TAGGERS = "streamlin.learners.kinds:KINDS", "streamlin.tagging.kinds:KINDS"
_BUILT_IN_PARSERS = "streamlin.parsing.kinds:KINDS"
_BUILT_IN_CLUSTERERS = "streamlin.topics.kinds:KINDS"
_OURS = "connectors"


def schemes(kind: Kind) -> dict[str, EntryPoint]:
    """All schemes, or plugins' kinds of learners, sorted, with their entry points."""
    return _installed(kind, tuple(sys.path))


@cache
def _installed(kind: Kind, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """The entry points of what is installed on a path; to find them takes milliseconds."""
    points = entry_points(group=f"streamlin.{kind}")
    return {point.name: point for point in sorted(points, key=lambda point: point.name)}


def connector(kind: Kind, scheme: str) -> Any:
    """The class that provides a scheme.

    Raises
    ------
    UnknownScheme : no package provides it; the message names the nearest scheme.
    ConfigError : its package can't be imported.
    """
    known = schemes(kind)
    if scheme not in known:
        raise UnknownScheme(f"no connector for '{scheme}://' among the {kind}; {nearest(scheme, known)}")
    return _loaded(known[scheme], f"the connector '{known[scheme].value}' for '{scheme}://'")


def built_in_learners() -> Mapping[str, type]:
    """Kind -> class of every built-in learner, in order.

    The layers that ask for them stand below the learners, so they are found by name, as plugins are.
    """
    return _found(_BUILT_IN_LEARNERS)


def built_in_taggers() -> Mapping[str, type]:
    """Kind -> class of every built-in tagger, in order."""
    return _found(_BUILT_IN_TAGGERS)


def built_in_parsers() -> Mapping[str, type]:
    """Kind -> class of every built-in parser, in order."""
    return _found(_BUILT_IN_PARSERS)


def built_in_clusterers() -> Mapping[str, type]:
    """Kind -> class of every built-in clusterer, in order."""
    return _found(_BUILT_IN_CLUSTERERS)


def _found(name: str) -> Mapping[str, type]:
    module, _, attribute = name.partition(":")
    classes: Mapping[str, type] = getattr(import_module(module), attribute)
    return classes


def learner_class(kind: str) -> type:
    """The class that another package provides for an installed kind of learner. Raises ConfigError."""
    point = schemes("learners")[kind]
    what = f"the learner '{point.value}' for kind '{kind}'"
    found = _loaded(point, what)
    if not isinstance(found, type):
        raise ConfigError(f"{what} is {found!r:.80}, expected a subclass of streamlin.Learner")
    return found


def _loaded(point: EntryPoint, what: str) -> Any:
    if point.module.partition(".")[0] == _OURS:
        _check_ours()
    try:
        return point.load()
    except Exception as error:  # a plugin may raise anything while it is imported
        raise ConfigError(f"{what} can't be loaded: {error}") from None


def _check_ours() -> None:
    """Raise ConfigError if another package of this name is found first, or has replaced ours."""
    ours = Path(__file__).parents[1] / _OURS
    try:
        found = import_module(_OURS)
    except Exception as error:  # whatever it is, it may raise anything
        raise ConfigError(f"the package {_OURS}, of streamlin, can't be imported: {error}") from None
    if getattr(found, "OWNER", None) != "streamlin":
        paths = list(getattr(found, "__path__", ()))
        where = found.__file__ or (paths[0] if paths else "it")
        raise ConfigError(
            f"{where} is not streamlin's package '{_OURS}', which belongs in {ours}: rename or uninstall the other "
            "package of that name, then reinstall streamlin"
        )
