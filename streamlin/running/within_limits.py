"""Portions that can be learned within the limits; where one can't, it is cut just before the event."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from streamlin.errors import ConfigError
from streamlin.events import Batch, DeadLetter
from streamlin.running.admission import Admission
from streamlin.streams.reader import Portion

_HINT = "; serve.pass_over = true leaves out accepted events that can't be learned"


class WithinLimits:
    """Passes portions on; one that may exceed a limit event by event, so that no limit depends on how it was cut.

    Parameters
    ----------
    admission : the limits.
    featurize : Batch -> features; see `streamlin.streams.reader.Reader`.
    pass_over : whether an event that can't be learned becomes a dead letter; otherwise iterating raises ConfigError.
        None: the same, for a run whose events are not accepted by a service before.
    notice : shows the user one line.
    label_rule : source -> what a label is in its format; empty where `fields.label` names it.
    """

    def __init__(
        self,
        admission: Admission,
        featurize: Callable[[Batch], Any],
        pass_over: bool | None,
        notice: Callable[[str], None],
        label_rule: Callable[[str], str],
    ) -> None:
        self._admission, self._featurize, self._pass_over = admission, featurize, pass_over
        self._notice, self._label_rule = notice, label_rule

    def of(self, portions: Iterator[Portion | None]) -> Iterator[Portion | None]:
        """The portions; each must be learned before the next one is asked for."""
        for portion in portions:
            if portion is None or self._admission.fits(portion.batch, portion.features):
                yield portion
            else:
                yield from map(self._checked, single_events(portion, self._featurize))

    def _checked(self, portion: Portion) -> Portion:
        """A portion of one event, if it can be learned; without it, if it is passed over. Raises ConfigError."""
        try:
            self._admission.check(portion.batch, portion.features, self._label_rule(portion.source))
        except ConfigError as error:
            if not self._pass_over:
                raise ConfigError(f"{error}{'' if self._pass_over is None else _HINT}") from None
            self._notice(f"passed over an accepted event: {error}")
            return _without_event(portion, str(error), self._featurize)
        return portion


def single_events(portion: Portion, featurize: Callable[[Batch], Any]) -> Iterator[Portion]:
    """The portion as portions of one event each."""
    batch, begin = portion.batch, portion.begin
    for number in range(len(batch)):
        is_last = number == len(batch) - 1
        count = portion.count if is_last else int(batch.kept[number]) + 1
        event = batch[number : number + 1]
        dead = [letter for letter in portion.dead if begin <= letter.record < count]
        yield Portion(event, featurize(event), dead, portion.records, begin, count, portion.source, is_small=True)
        begin = count


def _without_event(portion: Portion, error: str, featurize: Callable[[Batch], Any]) -> Portion:
    """A portion of one event, as a dead letter."""
    batch = portion.batch
    features = featurize(batch[:0])
    dead = sorted([*portion.dead, DeadLetter(int(batch.kept[0]), error)])
    return replace(portion, batch=batch[:0], found=features, dead=dead)
