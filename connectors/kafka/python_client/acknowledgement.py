"""Whether records that were handed over to kafka-python together have arrived."""

import threading
from functools import partial
from typing import Any

from kafka.errors import KafkaTimeoutError


class Acknowledgement:
    """Of some records of a batch, wherever they go when kafka-python splits it because a broker finds it too large.

    It stands for each of them among the batch's futures, and counts them. A future for each record, as kafka-python has
    it, would take longer than all the rest.
    """

    def __init__(self, produced: Any, count: int) -> None:
        """produced : the future of the batch that `count` records were put into."""
        self.exception: BaseException | None = None
        self._counts: dict[Any, int] = {}
        self._left = count
        self._done = threading.Event()
        self._bind(produced, count)

    @property
    def is_done(self) -> bool:
        """Whether all have arrived, or one has failed: see `exception`."""
        return self._done.is_set()

    def get(self, seconds: float | None = None) -> None:
        """Wait until that is so. Raises what went wrong, KafkaTimeoutError where it takes longer."""
        if not self._done.wait(seconds):
            raise KafkaTimeoutError("messages are not acknowledged")
        if self.exception is not None:
            raise self.exception

    def rebind(self, produced: Any, index: int) -> None:
        """One of the records is in another batch now; the batch it was in is not heard of again."""
        self._bind(produced, 1)

    def _bind(self, produced: Any, count: int) -> None:
        if produced not in self._counts:
            self._counts[produced] = 0
            produced._add_cb_eb(partial(self._completed, produced), self._failed)
        self._counts[produced] += count

    def _completed(self, produced: Any, result: Any) -> None:
        """A batch was answered; `exception_of` says why it was refused, record by record."""
        _, _, exception_of = result
        if exception_of is not None:
            self._failed(exception_of(0))
            return
        self._left -= self._counts[produced]
        if self._left == 0:
            self._done.set()

    def _failed(self, exception: BaseException) -> None:
        self.exception = exception
        self._done.set()
