"""Progress that is not shown."""

from streamlin.running.loop import Run


class Silent:
    """See `streamlin.running.loop.Progress`."""

    def update(self, run: Run) -> None: ...

    def notice(self, line: str) -> None: ...
