"""The table `[sinks]`."""

from streamlin.config.base import Strict


class SinksConfig(Strict):
    """The sinks: a path, `-`, or a URL each; None: no sink.

    labels_wanted : gets a line for each event whose label is asked for.
    """

    predictions: str | None = None
    labels_wanted: str | None = None
    dead_letters: str | None = None
