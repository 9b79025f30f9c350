"""`mbox://Inbox?label=X-Label`: the messages of a mailbox, each as a JSON object with `id`, `text` and `label`."""

import json
import mailbox
from collections.abc import Mapping
from dataclasses import replace
from email.message import Message
from pathlib import Path

import numpy as np

from streamlin.errors import ConfigError, ConnectorError
from streamlin.events import Position, Records, SourceContext, single_records


class MboxSource:
    """Positions are message numbers. The option `label` names the header with the label, by default `X-Label`."""

    def __init__(self, address: str, context: SourceContext) -> None:
        options = dict(context.options)
        self._header = options.pop("label", "X-Label")
        if options or context.follow:
            raise ConfigError(f"mbox: expected no option but label=HEADER, got {', '.join(options) or '--follow'}")
        if not Path(address).is_file():
            raise ConnectorError(f"{address} can't be read: No such file")
        self._part, self._mailbox = address, mailbox.mbox(address, create=False)
        self._next = int(context.positions.get(address, {"offset": 0})["offset"])

    def poll(self, limit: int) -> list[Records] | None:
        """The next messages; None at the end."""
        numbers = np.arange(self._next, min(self._next + limit, len(self._mailbox)))
        if not numbers.size:
            return None
        self._next = int(numbers[-1]) + 1
        payloads = [self._as_json(self._mailbox[number]) for number in numbers.tolist()]
        return [replace(single_records(payloads, self._part), offsets=numbers, nexts=numbers + 1)]

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Nothing to do: a mailbox keeps its messages."""

    def close(self) -> None:
        self._mailbox.close()

    def _as_json(self, message: Message) -> bytes:
        parts = [part for part in message.walk() if part.get_content_type() == "text/plain"]
        bodies = [part.get_payload(decode=True) for part in parts]
        texts = [body.decode(errors="replace") for body in bodies if isinstance(body, bytes)]
        event = {"id": message["Message-ID"], "text": "\n".join([str(message["Subject"] or ""), *texts])}
        return json.dumps(event | {"label": message[self._header]}).encode()
