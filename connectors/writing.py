"""Writing all of it, or saying why not."""

import os
import select

from connectors.failures import failing


def write_all(descriptor: int, data: bytes | memoryview, name: str) -> None:
    """Write `data`; the rest again after a partial write. Raises ConnectorError that gives the reason."""
    view = memoryview(data)
    with failing(f"{name} can't be written to"):
        while len(view):
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:  # a terminal or pipe that someone else has set to non-blocking
                select.select([], [descriptor], [])
