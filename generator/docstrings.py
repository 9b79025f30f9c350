"""What a class's docstring says: an introduction with formulas, and what each parameter means."""

import inspect
import re
from textwrap import dedent

_PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(\w+) : (.*(?:\n +.*)*)", re.MULTILINE)
_FORMULA = re.compile(r"::\n\n((?: {4}.*\n|\n)*(?: {4}.*))")


def meanings(documented: type) -> dict[str, str]:
    """Parameter -> its entry, as one line without a full stop."""
    (parameters,) = _PARAMETERS.findall(_docstring(documented))
    return {name: " ".join(text.split()).removesuffix(".") for name, text in _ENTRY.findall(parameters)}


def introduction(documented: type) -> str:
    """Everything before the parameters, as Markdown: formulas are fenced."""
    before = _PARAMETERS.split(_docstring(documented))[0].strip()
    return _FORMULA.sub(lambda found: f":\n\n```\n{dedent(found[1])}\n```", before)


def _docstring(documented: type) -> str:
    return inspect.cleandoc(documented.__doc__ or "")
