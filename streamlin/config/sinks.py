"""The table `[sinks]`."""

from streamlin.config.base import Strict


class SinksConfig(Strict):
    """Where lines go: a path, `-`, or a URL; None: nowhere."""

    predictions: str | None = None
    dead_letters: str | None = None
