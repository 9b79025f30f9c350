"""Files, plain or compressed: replayed, followed, or written."""

from connectors.files.sink import FileSink
from connectors.files.source import FileSource

__all__ = ["FileSink", "FileSource"]
