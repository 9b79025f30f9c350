"""A last line that was read before its end was written."""

from connectors.files.decompression import CompressedFile
from connectors.files.plain_file import PlainFile

BLOCK = 64 * 1024


def is_continued(content: PlainFile | CompressedFile) -> bool:
    """Whether more than a line end follows where `content` is, behind a line without one."""
    return not b"\r\n".startswith(more := content.read(2)) and not more.startswith(b"\n")


def behind_line_end(content: PlainFile | CompressedFile) -> int:
    """The offset behind the next line feed, or the end of the file."""
    while block := content.read(BLOCK):
        end = block.find(b"\n") + 1
        if end:
            return content.offset - len(block) + end
    return content.offset
