"""Writing to a file descriptor."""

import os
import select

from connectors.failures import connector_errors


def write_all(descriptor: int, data: bytes | memoryview, name: str) -> None:
    """Write all of `data`, in several writes if needed. Raises ConnectorError with the reason."""
    view = memoryview(data)
    with connector_errors(f"{name} can't be written to"):
        while len(view):
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:  # another program has set the terminal or pipe to non-blocking
                select.select([], [descriptor], [])
