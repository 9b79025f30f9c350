"""URL scheme → connector, by entry point: `streamlin.sources` and `streamlin.sinks`.

Whoever installs a package with such an entry point adds a scheme; nothing here knows any by name.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from streamlin.errors import ConfigError, UnknownScheme, nearest

Kind = Literal["sources", "sinks"]


def schemes(kind: Kind) -> dict[str, EntryPoint]:
    """Every scheme there is, sorted, and who provides it."""
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
    try:
        return known[scheme].load()
    except Exception as error:  # whatever a foreign module raises while it is imported
        raise ConfigError(f"the connector '{known[scheme].value}' for '{scheme}://' can't be loaded: {error}") from None
