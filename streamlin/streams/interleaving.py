"""Two readers, by turns."""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from streamlin.streams.reader import Portion, Reader

_PATIENCE = 0.05
"""Seconds without news from either after which that is said."""
_END = object()


class Interleaved:
    """Portions of several readers, one of each in turn; iterate it once.

    While all have something the order is always the same. One that has nothing is waited for on a thread of its own, so
    that it does not hold up the others. It ends when all have.
    """

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._threads = ThreadPoolExecutor(len(readers), "streamlin-idle")
        self._idle: dict[Reader, Future[object]] = {}

    def __iter__(self) -> Iterator[Portion | None]:
        left = {reader: iter(reader) for reader in self._readers}
        while left:
            given = False
            for reader, portions in list(left.items()):
                idle = self._idle.get(reader)
                if idle is not None and not idle.done():
                    continue
                portion = next(portions, _END) if idle is None else self._idle.pop(reader).result()
                if portion is _END:
                    del left[reader]
                elif isinstance(portion, Portion):
                    given = True
                    yield portion
                else:
                    self._idle[reader] = self._threads.submit(next, portions, _END)
            if not given:
                wait(self._idle.values(), _PATIENCE, FIRST_COMPLETED)
                yield None

    def close(self) -> None:
        """Wait until nobody reads any more, which is soon once the readers are to stop."""
        self._threads.shutdown()
