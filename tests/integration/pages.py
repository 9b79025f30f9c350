"""Runs that serve a page, and the snapshots that the page gets."""

import http.client
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from tests.integration.processes import PATIENCE, start


def started(
    *arguments: object, option: str = "--dashboard", port: int = 0, **how: Any
) -> "tuple[subprocess.Popen[bytes], str]":
    """Start a run that serves a page; its process, and the address that it prints. how : see `start`."""
    process = start(*arguments, option, port, **how)
    return process, address_of(process)


def address_of(process: "subprocess.Popen[bytes]") -> str:
    """The address that a run says it listens on."""
    return told_by(process)[1]


def told_by(process: "subprocess.Popen[bytes]") -> tuple[str, str]:
    """Standard error of a process up to the address that it listens on, and the address."""
    assert process.stderr is not None
    told = b""
    for line in process.stderr:
        told += line
        found = re.search(rb" (?:is|are) at (http://\S+/)", line)
        if found:
            return told.decode(), found[1].decode()
    raise AssertionError(told.decode())


def asked(url: str, path: str = "") -> tuple[int, str]:
    """Status and body of the answer to a GET request."""
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)) as connection:
        connection.request("GET", f"/{path}")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def snapshots(url: str) -> Iterator[dict[str, Any]]:
    """The snapshots that a page gets, until the run has ended."""
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)) as connection:
        connection.request("GET", "/events")
        with connection.getresponse() as answer:
            assert answer.status == 200
            for line in iter(answer.readline, b""):
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))


def followed(process: "subprocess.Popen[bytes]", url: str, events: int) -> list[dict[str, Any]]:
    """All snapshots of a run that follows its source, and is ended once a page has seen so many events."""
    told = snapshots(url)
    found = [next(told)]
    while found[-1]["counts"]["events"] < events:
        found.append(next(told))
    process.terminate()
    return [*found, *told]
