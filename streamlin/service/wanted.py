"""The labels that are asked for, page by page."""

import asyncio
import re
from itertools import islice
from typing import Any

import msgspec

from streamlin.asking.lines import request
from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.delayed_labels import LabelsById
from streamlin.service.problems import Refused

_NUMBER = re.compile(r"[0-9]{1,16}", re.ASCII)
_LIMIT = 20


class WantedLabels:
    """Lists what is asked for and not answered, as of what was learned.

    state : the run's state, which another thread changes. config : the run's configuration.
    """

    def __init__(self, state: RunState, config: RunConfig) -> None:
        self._model, self._lock = state.model, state.lock
        self._asks, self._hide_text = config.ask.budget is not None, config.ask.hide_text
        self._default = default_limit(config)
        self._most, self._most_bytes = config.serve.max_batch, config.serve.max_answer_bytes

    async def page(self, after: str, limit: str) -> bytes:
        """JSON: how many labels are `wanted`, the `labels` known, the `events`, and the number to go on with as `next`.

        after : the number of the last event that the client has; "" for none. limit : events; "" for the default.

        Raises
        ------
        Refused : a number is wrong, no labels are asked for, or an event exceeds the largest answer.
        """
        if not self._asks:
            raise Refused(409, "no labels are asked for; start the service with --set ask.budget=0.05")
        first = _number("after", after, 0, 10**15, 0)
        count = _number("limit", limit, 1, self._most, self._default)
        return await asyncio.to_thread(self._page, first, count)

    def _page(self, after: int, count: int) -> bytes:
        with self._lock:
            delayed, names = self._model.delayed_labels, list(self._model.labels.names)
            assert isinstance(delayed, LabelsById)  # as the configuration checks
            wanted, found = len(delayed.wanted), list(islice(delayed.asked(after), count + 1))
        size, events, last = len(msgspec.json.encode(names)), list[msgspec.Raw](), None
        for asked, text in found[:count]:
            shown = None if self._hide_text else "\n".join(text.texts)
            predicted = None if asked.predicted < 0 else names[asked.predicted]
            why = request(text.id, shown, predicted, asked.confidence, asked.reason, asked.probability)
            event = msgspec.json.encode(why)
            size += len(event)
            if size > self._most_bytes:
                if not events:
                    raise Refused(422, f"the answer is over serve.max_answer_bytes = {self._most_bytes:,}")
                break
            events.append(msgspec.Raw(event))
            last = asked.number
        answer: dict[str, Any] = {"wanted": wanted, "labels": names, "events": events}
        return msgspec.json.encode(answer | {"next": last if len(events) < len(found) else None})


def default_limit(config: RunConfig) -> int:
    """Events of a page, unless the client says how many."""
    return min(_LIMIT, config.serve.max_batch)


def _number(name: str, given: str, least: int, most: int, default: int) -> int:
    """A whole number of the query. Raises Refused."""
    if not given:
        return default
    number = int(given) if _NUMBER.fullmatch(given) else -1
    if not least <= number <= most:
        raise Refused(422, f"{name}: needs a whole number from {least} to {most:,}, got {given!r:.60}")
    return number
