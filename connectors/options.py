"""Checks the options of a connector's URL."""

from collections.abc import Mapping, Sequence

from streamlin.errors import ConfigError, nearest


def check_options(scheme: str, options: Mapping[str, str], known: Mapping[str, Sequence[str] | None]) -> None:
    """Raise ConfigError for an option, or an option's value, that is not in `known`; None stands for any value."""
    for name, value in options.items():
        if name not in known:
            raise ConfigError(f"{scheme}: no option '{name}'; {nearest(name, known)}")
        values = known[name]
        if values is not None and value not in values:
            raise ConfigError(f"{scheme}: {name}={value} needs to be {' or '.join(values)}")
