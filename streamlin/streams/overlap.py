"""Refusing outputs that would overwrite what is read, feed it, or overwrite each other."""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from streamlin.errors import ConfigError, redacted
from streamlin.registry import connector
from streamlin.streams.addresses import Address, parse_address


@dataclass(frozen=True)
class Place:
    """An input or output: the key or option that names it, the address as given, and the parsed address."""

    key: str
    given: str
    address: Address

    def __str__(self) -> str:
        return f"{self.key}: {redacted(self.given)}"


def source_place(key: str, url: str) -> Place:
    """A source. Raises ConfigError if the URL is invalid."""
    return Place(key, url, parse_address(url, "stdin"))


def sink_place(key: str, url: str) -> Place:
    """A sink. Raises ConfigError if the URL is invalid."""
    return Place(key, url, parse_address(url, "stdout"))


def file_place(key: str, path: str | os.PathLike[str]) -> Place:
    """A file that is no stream, such as a report."""
    return Place(key, os.fspath(path), Address("file", os.fspath(path)))


def standard_outputs() -> list[Place]:
    """Where a command prints its summary and its notices; both are files if the shell redirects them."""
    names = {"stdout": "standard output", "stderr": "standard error"}
    return [Place(name, os.path.realpath(f"/dev/{scheme}"), Address(scheme, "-")) for scheme, name in names.items()]


def refuse_overlaps(inputs: Iterable[Place], outputs: Sequence[Place]) -> None:
    """Raise ConfigError if an output is a file or topic that is read, or would be, or that another output writes.

    Files are compared by device and inode, and by resolved path where the output does not exist yet. Outputs that are
    devices, pipes or terminals are allowed everywhere.
    """
    files = [(output, path) for output in outputs if (path := _file_of(output.address)) is not None]
    for source in inputs:
        for output in outputs:
            if _same_topic(source.address, output.address):
                raise ConfigError(f"{output} is the topic that is read; give another one")
        read = _read_among(source.address, [path for _, path in files])
        for output, path in files:
            if path in read:
                raise ConfigError(f"{output} is also read ({source}); write to another file")
    for (one, path), (other, other_path) in combinations(files, 2):
        if _collide(one, path, other, other_path):
            raise ConfigError(f"{other} is also written ({one}); write to another file")


def _file_of(output: Address) -> str | None:
    """The path of an output that is a regular file or does not exist yet; None for any other output."""
    path = output.address if output.scheme == "file" else f"/dev/{output.scheme}"
    if output.scheme not in ("file", "stdout", "stderr"):
        return None
    try:
        return path if stat.S_ISREG(os.stat(path).st_mode) else None
    except OSError:
        return path if output.scheme == "file" else None


def _read_among(source: Address, paths: list[str]) -> Sequence[str]:
    """Those of `paths` that a source reads, or would read once they exist, as far as its class can tell."""
    reads = getattr(connector("sources", source.scheme), "reads", None)
    return () if reads is None or not paths else reads(source.address, paths)


def _same_topic(source: Address, sink: Address) -> bool:
    """Whether a sink's `host/topic` is among a source's `host/topic,topic`: the run would read its own output."""
    (hosts, _, topics), (host, _, topic) = source.address.partition("/"), sink.address.partition("/")
    return source.scheme == sink.scheme != "file" and hosts == host and topic in topics.split(",") and topic != ""


def _collide(one: Place, path: str, other: Place, other_path: str) -> bool:
    """Whether two outputs are the same file. Standard output and error may be; so may files of one checkpoint."""
    if "file" not in (one.address.scheme, other.address.scheme):
        return False
    if os.path.realpath(path) == os.path.realpath(other_path):
        return True
    try:
        return one.key != other.key and os.path.samefile(path, other_path)
    except OSError:
        return False
