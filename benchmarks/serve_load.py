"""The clients of a service, in their own process.

`steady PORT RATE SECONDS LEARNED` requests predictions of one text each at a steady rate, whether answers come or not,
and meanwhile the learning of LEARNED texts per second. `batches PORT SIZE CONNECTIONS SECONDS` requests predictions of
lists of texts, one after the other on each connection. Both print JSON.
"""

import asyncio
import json
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import uvloop

from connectors.synthetic.options import parse_options
from connectors.synthetic.source import SyntheticStream

_CONNECTIONS = 64
_TEXTS = 20_000


class Client(asyncio.Protocol):
    """A connection that is kept open; `free` is called with it and the status of each answer."""

    def __init__(self, free: "Callable[[Client, int], None]") -> None:
        self._free, self._answer = free, b""
        self.tag: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def send(self, request: bytes, tag: Any) -> None:
        """Send a request; `tag` is for the caller to tell what it was."""
        self.tag = tag
        self._transport.write(request)  # type: ignore[attr-defined]  # a TCP transport can

    def data_received(self, data: bytes) -> None:
        self._answer += data
        head, end, body = self._answer.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) >= length:
            self._answer = b""
            self._free(self, int(head[9:12]))


def post(path: str, value: Any) -> bytes:
    """The bytes of a POST request with a JSON body."""
    body = json.dumps(value).encode()
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        path.encode(),
        len(body),
        body,
    )


def events(count: int) -> list[dict[str, Any]]:
    """Events of a synthetic stream: texts of 25 words, 4 labels."""
    stream = SyntheticStream(parse_options({"events": str(count), "labels": "4", "words": "25"}))
    lines = map(json.loads, stream.lines(0, count)[0].splitlines())
    return [{"text": line["text"], "label": line["label"]} for line in lines]


async def steady(port: int, rate: int, seconds: int, learned: int) -> dict[str, Any]:
    """Milliseconds from when each request was due until its answer; the first tenth of the requests does not count."""
    loop, total, found = asyncio.get_running_loop(), rate * seconds, events(_TEXTS)
    predict = [post("/predict", {"text": event["text"]}) for event in found]
    learn = [post("/learn", event) for event in found]
    free, waiting = deque[Client](), deque[tuple[bytes, tuple[int, float]]]()
    took, statuses = (np.full(total, np.nan), np.full(learned * seconds, np.nan)), set[int]()
    done = asyncio.Event()
    left = total + learned * seconds

    def answered(client: Client, status: int) -> None:
        nonlocal left
        (kind, number), due = client.tag
        took[kind][number] = time.perf_counter() - due
        statuses.add(status)
        left -= 1
        if not left:
            done.set()
        if waiting:
            client.send(*waiting.popleft())
        else:
            free.append(client)

    for _ in range(_CONNECTIONS):
        free.append((await loop.create_connection(lambda: Client(answered), "127.0.0.1", port))[1])
    plan = sorted(
        [(i / rate, predict[i % _TEXTS], (0, i)) for i in range(total)]
        + [((i + 0.5) / learned, learn[i % _TEXTS], (1, i)) for i in range(learned * seconds)]
    )
    begin = time.perf_counter() + 0.1
    for offset, request, tag in plan:
        due = begin + offset
        delay = due - time.perf_counter()
        if delay > 0:
            await asyncio.sleep(delay)
        if free:
            free.popleft().send(request, (tag, due))
        else:
            waiting.append((request, (tag, due)))
    await asyncio.wait_for(done.wait(), 60)
    predicted, kept = (1000 * times[len(times) // 10 :] for times in took)
    return {
        "statuses": sorted(statuses),
        **{f"p{q}": float(np.percentile(predicted, q)) for q in (50, 90, 99, 99.9)},
        "longest": float(predicted.max()),
        "learn_p50": float(np.percentile(kept, 50)),
        "learn_p99": float(np.percentile(kept, 99)),
    }


async def batches(port: int, size: int, connections: int, seconds: int) -> dict[str, Any]:
    """Texts predicted per second; the first second does not count."""
    loop, found = asyncio.get_running_loop(), events(_TEXTS)
    requests = [
        post("/predict", [{"text": event["text"]} for event in found[i : i + size]]) for i in range(0, _TEXTS, size)
    ]
    count, begin, end = 0, time.perf_counter() + 1, time.perf_counter() + 1 + seconds
    statuses, open_, done = set[int](), connections, asyncio.Event()

    def answered(client: Client, status: int) -> None:
        nonlocal count, open_
        now = time.perf_counter()
        statuses.add(status)
        count += begin <= now < end
        if now < end:
            client.send(requests[(client.tag + 1) % len(requests)], client.tag + 1)
        else:
            open_ -= 1
            if not open_:
                done.set()

    for number in range(connections):
        client = (await loop.create_connection(lambda: Client(answered), "127.0.0.1", port))[1]
        client.send(requests[number], 7 * number)
    await asyncio.wait_for(done.wait(), seconds + 60)
    return {"statuses": sorted(statuses), "texts_per_second": count * size / seconds}


def main() -> None:
    command, *numbers = sys.argv[1:]
    asked = {"steady": steady, "batches": batches}[command](*map(int, numbers))  # type: ignore[operator]  # all take integers
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(asked)))


if __name__ == "__main__":
    main()
