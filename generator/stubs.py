"""Stubs of `streamlin.river` and `streamlin.sklearn`, whose classes are created at import, for type checkers."""

import inspect
from collections.abc import Sequence
from typing import Any, get_args, get_origin, get_type_hints

from streamlin.learners import KINDS
from streamlin.tagging.kinds import KINDS as TAGGERS
from streamlin.tagging.token_features import TokenFeatures

LIBRARIES = ("river", "sklearn")
_HEAD = '''"""Made by `make generated` from the built-in learners."""

from collections.abc import Sequence
from typing import Literal

from streamlin.features import View
from streamlin.{library}.base import OnlineClassifier
'''
_TAGGERS_HEAD = "from streamlin.{library}.tagger import OnlineTagger\n"


def stub(library: str) -> str:
    """The stub of `streamlin.river` or `streamlin.sklearn`, which has taggers, too."""
    head = _HEAD + (_TAGGERS_HEAD if library == "sklearn" else "")
    taggers = TAGGERS.values() if library == "sklearn" else ()
    classes = {
        learner.__name__: _class(learner, "OnlineClassifier", f"streamlin.{learner.__name__}", [learner])
        for learner in KINDS.values()
    }
    classes |= {
        tagger.__name__: _class(tagger, "OnlineTagger", f"streamlin.tagging.{tagger.name}", [tagger, TokenFeatures])
        for tagger in taggers
    }
    return "\n".join([head.format(library=library), *(text for _, text in sorted(classes.items()))])


def _class(kind: type, base: str, documented: str, parts: list[type]) -> str:
    """A class with the parameters of all parts."""
    given = {
        p.name: (_name(get_type_hints(part.__init__)[p.name]), p.default)  # type: ignore[misc]  # of this very class
        for part in parts
        for p in inspect.signature(part).parameters.values()
    }
    attributes = [f"    {name}: {kind}" for name, (kind, _) in given.items()]
    arguments = [f"        {name}: {kind} = {_quoted(default)}," for name, (kind, default) in given.items()]
    return "\n".join(
        [
            f"class {kind.__name__}({base}):",
            f'    """`{documented}` says what the parameters mean."""',
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
    if get_origin(kind) is tuple:
        return str(kind)
    if get_origin(kind) is Sequence:
        return f"Sequence[{', '.join(map(_name, get_args(kind)))}]"
    if get_args(kind):
        return f"Literal[{', '.join(map(_quoted, get_args(kind)))}]"
    return str(kind.__name__)


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
