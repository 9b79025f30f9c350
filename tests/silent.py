"""A run that nobody watches."""

from streamlin.run import Run


class Silent:
    """See `streamlin.run.Progress`."""

    def update(self, run: Run) -> None: ...

    def notice(self, line: str) -> None: ...
