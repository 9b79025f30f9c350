"""The table `[sinks]`."""

from streamlin.config.base import Strict


class SinksConfig(Strict):
    """The sinks: a path, `-`, or a URL each; None: no sink."""

    predictions: str | None = None
    dead_letters: str | None = None
