"""What a class's docstring says: an introduction with formulas, and lists of parameters and attributes."""

import inspect
import re
from textwrap import dedent

_LIST = r"^{title}\n-+\n(.*?)(?=\n\n|\Z)"
_ENTRY = re.compile(r"^(\w+) : (.*(?:\n +.*)*)", re.MULTILINE)
_FORMULA = re.compile(r"::\n\n((?: {4}.*\n|\n)*(?: {4}.*))")


def entries(documented: type, title: str, needed: list[str]) -> dict[str, str]:
    """Name -> its entry in a list, `Parameters` or `Attributes`, as one line without a full stop.

    Raises LookupError if one that is needed is missing.
    """
    text = "".join(re.findall(_LIST.format(title=title), _docstring(documented), re.MULTILINE | re.DOTALL))
    found = {name: " ".join(entry.split()).removesuffix(".") for name, entry in _ENTRY.findall(text)}
    if missing := [name for name in needed if name not in found]:
        raise LookupError(f"the docstring of {documented.__name__} lacks {', '.join(missing)} under {title}")
    return found


def introduction(documented: type) -> str:
    """Everything before the parameters, as Markdown: formulas are fenced."""
    before = re.split(r"^Parameters\n-", _docstring(documented), maxsplit=1, flags=re.MULTILINE)[0].strip()
    return _FORMULA.sub(lambda found: f":\n\n```\n{dedent(found[1])}\n```", before)


def _docstring(documented: type) -> str:
    return inspect.cleandoc(documented.__doc__ or "")
