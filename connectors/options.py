"""The options of a connector's URL."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from streamlin.errors import ConfigError


def check_options(scheme: str, options: Mapping[str, str], known: Mapping[str, Sequence[str]]) -> None:
    """Raise ConfigError for an option, or a value of it, that is not among the `known`."""
    for name, value in options.items():
        if name not in known:
            raise ConfigError(f"{scheme}: no option '{name}'; {_nearest(name, known)}")
        if value not in known[name]:
            raise ConfigError(f"{scheme}: {name}={value} needs to be {' or '.join(known[name])}")


def _nearest(name: str, known: Mapping[str, Sequence[str]]) -> str:
    if not known:
        return "there is none"
    close = get_close_matches(name, known, 1)
    return f"did you mean '{close[0]}'?" if close else f"there is {', '.join(known)}"
