"""Stubs of `streamlin.river` and `streamlin.sklearn`, whose classes are created at import, for type checkers."""

import inspect
from typing import Any, get_args, get_type_hints

from streamlin.learners import KINDS, Learner

LIBRARIES = ("river", "sklearn")
_HEAD = '''"""Made by `make generated` from the built-in learners."""

from typing import Literal

from streamlin.features import View
from streamlin.{library}.base import OnlineClassifier
'''


def stub(library: str) -> str:
    """The stub of `streamlin.river` or `streamlin.sklearn`."""
    classes = [_class(learner) for _, learner in sorted((learner.__name__, learner) for learner in KINDS.values())]
    return "\n".join([_HEAD.format(library=library), *classes])


def _class(learner: type[Learner]) -> str:
    hints = get_type_hints(learner.__init__)
    given = {p.name: (_name(hints[p.name]), p.default) for p in inspect.signature(learner).parameters.values()}
    attributes = [f"    {name}: {kind}" for name, (kind, _) in given.items()]
    arguments = [f"        {name}: {kind} = {_quoted(default)}," for name, (kind, default) in given.items()]
    return "\n".join(
        [
            f"class {learner.__name__}(OnlineClassifier):",
            f'    """`streamlin.{learner.__name__}` says what the parameters mean."""',
            "",
            *attributes,
            "    def __init__(",
            "        self,",
            *arguments,
            "    ) -> None: ...",
            "",
        ]
    )


def _name(kind: Any) -> str:
    """A type as its source has it."""
    if kind is type(None):
        return "None"
    if type(None) in get_args(kind):
        return " | ".join(map(_name, get_args(kind)))
    if get_args(kind):
        return f"Literal[{', '.join(map(_quoted, get_args(kind)))}]"
    return str(kind.__name__)


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
