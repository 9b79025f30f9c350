"""The table `[source]`."""

from streamlin.config.base import Strict
from streamlin.errors import ConfigError


class SourceConfig(Strict):
    """Where records come from: a path, `-`, or a URL."""

    url: str | None = None
    follow: bool = False

    def needed_url(self) -> str:
        """The URL; raises ConfigError where there is none."""
        if self.url is None:
            raise ConfigError("no source; give a path, '-' or a URL, or source.url in the configuration")
        return self.url
