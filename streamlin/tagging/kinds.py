"""The built-in taggers by kind, and new taggers as configured."""

from streamlin.config import TaggerConfig
from streamlin.tagging import builtin
from streamlin.tagging.base import Tagger


def _listed(names: dict[str, object]) -> dict[str, type[Tagger]]:
    """The taggers among a module's names, by kind."""
    classes = [value for value in names.values() if isinstance(value, type)]
    return {tagger.name: tagger for tagger in classes if issubclass(tagger, Tagger)}


KINDS = _listed(vars(builtin))
"""Kind, as a configuration names it -> class, in the order of the registry."""


def from_config(config: TaggerConfig) -> Tagger:
    """A new tagger as configured."""
    return KINDS[config.kind](**config.parameters())
