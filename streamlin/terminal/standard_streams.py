"""Standard streams and arguments as they are given, whatever the locale and whoever started the process."""

import codecs
import io
import os
import sys
from contextlib import suppress

_PLAIN = str.maketrans(
    {"–": "-", "—": "-", "−": "-", "·": "|", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "α": "alpha"}
)
"""What is printed for a character that the encoding of a stream lacks; of any other, its escape."""


def use_utf8() -> None:
    """Start this process again, in Python's UTF-8 mode, if the locale is ASCII.

    Otherwise every argument and name of a file that is not ASCII would be text that stands for bytes, not for itself.
    """
    if codecs.lookup(sys.getfilesystemencoding()).name == "ascii" and sys.executable:
        name, *arguments = sys.orig_argv
        os.execv(sys.executable, [name, "-X", "utf8", *arguments])


def occupy_closed_descriptors() -> None:
    """Have descriptors 0 to 2 stand for nothing where they are closed: a file opened later would get that number.

    They are opened the wrong way round, so that to read standard input, or to write to the others, is an error.
    """
    for descriptor, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, mode)  # the lowest number is free


def print_what_can_be_encoded() -> None:
    """Have standard output and error take any text: what their encoding lacks is written in ASCII."""
    codecs.register_error("streamlin.plain", _plainly)
    for file in (sys.stdout, sys.stderr):
        if isinstance(file, io.TextIOWrapper):
            file.reconfigure(errors="streamlin.plain")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end].translate(_PLAIN)
    return lacking.encode("ascii", "backslashreplace").decode(), error.end
