"""Interleaving several readers."""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from streamlin.streams.reader import Portion, Reader

_IDLE_SECONDS = 0.05
"""Seconds without a portion from any reader after which None is given."""
_END = object()


class Interleaved:
    """Portions of several readers, one of each in turn; can be iterated over once.

    While all readers have portions, the order is deterministic. A reader without a portion is waited for on its own
    thread, so that it does not hold up the others. The iteration ends when all readers have ended.
    """

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._threads = ThreadPoolExecutor(len(readers), "streamlin-idle")
        self._idle: dict[Reader, Future[object]] = {}

    def __iter__(self) -> Iterator[Portion | None]:
        active = {reader: iter(reader) for reader in self._readers}
        while active:
            found = False
            for reader, portions in list(active.items()):
                idle = self._idle.get(reader)
                if idle is not None and not idle.done():
                    continue
                portion = next(portions, _END) if idle is None else self._idle.pop(reader).result()
                if portion is _END:
                    del active[reader]
                elif isinstance(portion, Portion):
                    found = True
                    yield portion
                else:
                    self._idle[reader] = self._threads.submit(next, portions, _END)
            if not found:
                wait(self._idle.values(), _IDLE_SECONDS, FIRST_COMPLETED)
                yield None

    def close(self) -> None:
        """Wait until no thread reads any more, which takes only a moment once the readers' `stop` is set."""
        self._threads.shutdown()
