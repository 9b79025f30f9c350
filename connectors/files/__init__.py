"""Files: replayed, followed, written; plain or compressed."""

from connectors.files.sink import FileSink
from connectors.files.source import FileSource

__all__ = ["FileSink", "FileSource"]
