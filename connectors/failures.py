"""Errors of the operating system as ConnectorErrors."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamlin.errors import ConnectorError


@contextmanager
def connector_errors(what: str) -> Iterator[None]:
    """Turn an OSError into a ConnectorError `<what>: <reason>`."""
    try:
        yield
    except OSError as error:
        raise ConnectorError(f"{what}: {error.strerror or error}") from error
