"""A progress display that shows nothing."""

from streamlin.running.watching import RunView


class Silent:
    """See `streamlin.running.watching.Progress`."""

    def update(self, run: RunView) -> None: ...

    def notice(self, line: str) -> None: ...
