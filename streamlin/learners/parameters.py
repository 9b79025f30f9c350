"""Parameters of learners: declared once, in the signature of the learner's constructor.

The annotations carry the limits. They check a constructor's arguments here, and a table of the configuration in
`streamlin.config.learners`.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar, get_type_hints

import numpy as np
from annotated_types import Ge, Gt, Lt, MaxLen, MinLen
from pydantic import AllowInfNan, PlainSerializer, TypeAdapter, ValidationError

from streamlin.errors import ConfigError

Positive = Annotated[float, Gt(0), AllowInfNan(False)]
_json = PlainSerializer(lambda value: "inf" if value == np.inf else value, when_used="json")
PositiveOrInfinite = Annotated[float, Gt(0), AllowInfNan(True), _json]
"""In TOML and Python `inf`; JSON, which has no infinity, gets the text, which is read as the number again."""
NonNegative = Annotated[float, Ge(0), AllowInfNan(False)]
Caps = Annotated[Sequence[Positive], MinLen(1), MaxLen(4)]
Share = Annotated[float, Gt(0), Lt(1)]

P = ParamSpec("P")
Self = TypeVar("Self")


def checked(init: Callable[Concatenate[Self, P], None]) -> Callable[Concatenate[Self, P], None]:
    """Decorate a learner's constructor: check and convert its arguments by its annotations.

    `features` is left to `Learner`. The decorated constructor raises ConfigError with the kind of the learner, the
    parameter, what it must be and what was given.
    """
    signature = inspect.signature(init)

    @cache
    def adapters() -> dict[str, TypeAdapter[Any]]:
        """Made for the first learner of the kind: that takes longer than to import it."""
        hints = get_type_hints(init, include_extras=True)
        return {name: TypeAdapter(kind) for name, kind in hints.items() if name not in ("features", "return")}

    @wraps(init)
    def checked_init(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}() {error}") from None
        kinds = adapters()
        for name in kinds.keys() & given.arguments.keys():
            what = f"{self.name}.{name}"  # type: ignore[attr-defined]  # a learner has a name
            given.arguments[name] = _converted(what, given.arguments[name], kinds[name])
        init(*given.args, **given.kwargs)

    return checked_init


def _converted(what: str, value: Any, kind: TypeAdapter[Any]) -> Any:
    """The value as the annotation has it: a float of an int, for example, or of a number of numpy."""
    try:
        return kind.validate_python(value.item() if isinstance(value, np.generic) else value)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"].replace("Input should be", "must be")
        raise ConfigError(f"{what} {reason}, got {value!r:.80}") from None
