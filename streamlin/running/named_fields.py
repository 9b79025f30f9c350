"""Fields that the configuration names and no event has, which is often a misspelled name."""

from collections.abc import Callable, Sequence

import numpy as np

from streamlin.config import TEMPLATE, RunConfig
from streamlin.config.fields import FieldsConfig
from streamlin.events import Batch

_ENOUGH = 1000
"""Events after which a field that none of them has is worth a line."""


class NamedFields:
    """Watches for the fields that the configuration names: label, id and time other than by default, and further ones.

    notice : shows the user one line.
    """

    def __init__(self, config: RunConfig, notice: Callable[[str], None]) -> None:
        self._fields, self._notice = config.fields, notice
        self._unseen, self._events, self._said = _named(config), 0, False

    @property
    def missing(self) -> list[str]:
        """The names that no event has had so far, as `name (key)`; empty before the first event."""
        return [f"{name} ({key}{_hint(name)})" for name, key in self._unseen.items()] if self._events else []

    def add(self, batch: Batch) -> None:
        """Look for the fields that were not seen yet in a batch."""
        self._events += batch.n_texts
        if not self._unseen:
            return
        for name in [name for name in self._unseen if self._is_in(batch, name)]:
            del self._unseen[name]
        if self._unseen and self._events >= _ENOUGH and not self._said:
            self._said = True
            self._notice(f"no event has {', '.join(self.missing)} after {self._events:,} events; is the name right?")

    def _is_in(self, batch: Batch, name: str) -> bool:
        if name == self._fields.time and not np.isnan(batch.times).all():
            return True
        columns: list[Sequence[str | None]] = [batch.extra[name]] if name in batch.extra else []
        columns += [batch.labels] if name == self._fields.label else []
        columns += [batch.ids] if name == self._fields.id else []
        return any(column.count(None) < len(column) for column in columns)


def _hint(name: str) -> str:
    return "; drain.enabled = true finds templates of log lines" if name == TEMPLATE else ""


def _named(config: RunConfig) -> dict[str, str]:
    """Name of a field -> the key of the configuration that names it."""
    default = FieldsConfig()
    own = {key: getattr(config.fields, key) for key in ("label", "id", "time")}
    named = {name: f"fields.{key}" for key, name in own.items() if name != getattr(default, key)}
    evaluation = config.evaluation
    further = {
        "fields.categories": config.fields.categories,
        "evaluation.slice_by": evaluation.slice_by,
        "evaluation.references": evaluation.references,
    }
    if config.keys.per is not None:
        further["keys.per"] = (config.keys.per,)
    for key, names in further.items():
        for name in names:
            named.setdefault(name, key)
    return named
