"""What the docstrings of this house need to be read by a generator.

They list parameters and errors on a line each, `name : what it is`, and open what is literal by `::`; numpydoc's form
has the description below the name, Markdown an indentation alone.
"""

import re
from typing import Any

from griffe import Extension, Object

_LISTS = re.compile(r"^(Parameters|Attributes|Raises)\n-+\n(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(\w[\w, ]*) : ", re.MULTILINE)


class HouseDocstrings(Extension):
    """Rewrites each docstring as it is found."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)


def readable(docstring: str) -> str:
    """The docstring in numpydoc's form, as Markdown; lists stand last, for whatever follows one would be part of it."""
    lists = [f"{title}\n{'-' * len(title)}\n{_ENTRY.sub(_entry, text)}" for title, text in _LISTS.findall(docstring)]
    prose = _LISTS.sub("", docstring)
    prose = _ENTRY.sub(lambda found: f"- `{found[1]}`: ", prose)
    prose = re.sub(r"^::\n\n", "", prose, flags=re.MULTILINE).replace("::\n\n    ", ":\n\n    ")
    return "\n\n".join([prose.strip(), *lists])


def _entry(found: re.Match[str]) -> str:
    return f"{found[1]}\n    "
