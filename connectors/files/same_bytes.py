"""Tells whether a file is the one of a position: the same bytes before the position are the same file."""

from connectors.files.decompression import CompressedFile
from connectors.files.plain_file import PlainFile
from connectors.records import HEAD, digest
from streamlin.events import Position


def begins_alike(content: PlainFile | CompressedFile, position: Position) -> bool:
    """Move forward to the end of the bytes whose digest a position holds; False if the file begins otherwise."""
    near = min(HEAD, position["offset"])
    return content.seek(near) and digest(content.head[:near]) == position.get("head")


def seek_behind(content: PlainFile | CompressedFile, position: Position) -> bool:
    """Move forward to a position; False if the bytes before it are not those that were read."""
    if not begins_alike(content, position):
        return False
    return content.seek(position["offset"]) and content.before.hex() == position.get("before")
