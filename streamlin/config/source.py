"""The table `[source]`."""

from streamlin.config.base import Strict
from streamlin.errors import ConfigError


class SourceConfig(Strict):
    """The source of the events: a path, `-`, or a URL. follow : keep reading as a file grows."""

    url: str | None = None
    follow: bool = False

    def needed_url(self) -> str:
        """The URL; raises ConfigError if none is given."""
        if self.url is None:
            raise ConfigError("no source given: expected a path, '-' or a URL, or source.url in the configuration")
        return self.url
