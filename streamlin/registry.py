"""What other packages add, by entry point: URL schemes of `streamlin.sources` and `streamlin.sinks`, and learners.

Whoever installs a package with such an entry point adds a scheme, or a kind of learner; nothing here knows any by name.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from streamlin.errors import ConfigError, UnknownScheme, nearest

Kind = Literal["sources", "sinks", "learners"]


def schemes(kind: Kind) -> dict[str, EntryPoint]:
    """Every scheme, or kind of learner, there is, sorted, and who provides it."""
    points = entry_points(group=f"streamlin.{kind}")
    return {point.name: point for point in sorted(points, key=lambda point: point.name)}


def connector(kind: Kind, scheme: str) -> Any:
    """The class that provides a scheme.

    Raises
    ------
    UnknownScheme : nobody does; names the nearest one.
    ConfigError : its package can't be imported.
    """
    known = schemes(kind)
    if scheme not in known:
        raise UnknownScheme(f"no connector for '{scheme}://' among the {kind}; {nearest(scheme, known)}")
    return _loaded(known[scheme], f"the connector '{known[scheme].value}' for '{scheme}://'")


def learner_class(kind: str) -> type:
    """The class that another package provides as a kind of learner, which must be there. Raises ConfigError."""
    point = schemes("learners")[kind]
    what = f"the learner '{point.value}' for kind '{kind}'"
    found = _loaded(point, what)
    if not isinstance(found, type):
        raise ConfigError(f"{what} is {found!r:.80}; it needs to be a class of streamlin.Learner")
    return found


def _loaded(point: EntryPoint, what: str) -> Any:
    try:
        return point.load()
    except Exception as error:  # whatever a foreign module raises while it is imported
        raise ConfigError(f"{what} can't be loaded: {error}") from None
