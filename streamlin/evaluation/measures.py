"""What is measured of the tokens of each event, without any label."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig, measure_names
from streamlin.errors import CheckpointError
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.json_values import json_values
from streamlin.evaluation.novelty import Novelty, describe_new_words
from streamlin.evaluation.surprise import Surprise
from streamlin.events import Batch
from streamlin.features.token_hashes import TokenHashes


class Measures:
    """The measures that a run asks for.

    names : those that its prediction lines have, in order.
    novelty : counts new words. surprise : the language model. None if not asked for.
    """

    def __init__(
        self, names: tuple[str, ...] = (), novelty: Novelty | None = None, surprise: Surprise | None = None
    ) -> None:
        self.names, self.novelty, self.surprise = names, novelty, surprise

    @classmethod
    def of(cls, config: RunConfig) -> "Measures":
        """Those of a configuration."""
        novelty = Novelty(config.features.bits, config.evaluation) if config.evaluation.novelty else None
        asked = config.surprise.model != "none"
        surprise = Surprise(config.surprise, config.evaluation.window) if asked else None
        return cls(measure_names(config), novelty, surprise)

    @property
    def need_tokens(self) -> bool:
        """Whether anything is measured."""
        return self.novelty is not None or self.surprise is not None

    def update(
        self,
        batch: Batch,
        tokens: TokenHashes | None,
        before: int,
        codes: NDArray[np.int32] | None = None,
        n_labels: int = 0,
    ) -> NDArray[np.float64]:
        """Measure a batch of n events, then count its tokens; returns float64[k, n] in the order of `names`, NaN where
        there is no token. An event that is only a label, or of weight 0, is measured, but not counted.

        before : the number of events before the batch. codes int32[n] : labels, -1 for none; None: of no event.
        """
        measured: dict[str, NDArray[np.float64]] = {}
        if tokens is not None:
            has_text = np.ones(len(batch), np.bool_) if batch.label_only is None else ~batch.label_only
            counted = has_text & (batch.weights > 0)
            if self.novelty is not None:
                measured["novelty"] = self.novelty.update(
                    *tokens, counted, lambda event: before + int(np.count_nonzero(has_text[: event + 1])), batch.place
                )
            if self.surprise is not None:
                weights = np.where(has_text, batch.weights, 0.0)
                measured["surprise"] = self.surprise.update(*tokens, weights, codes, n_labels)
        return self._asked(measured, len(batch))

    def of_tokens(self, tokens: TokenHashes | None, n: int) -> NDArray[np.float64]:
        """What `update` would return for n events; nothing is counted."""
        measured: dict[str, NDArray[np.float64]] = {}
        if tokens is not None and self.novelty is not None:
            measured["novelty"] = self.novelty.shares(*tokens)
        if tokens is not None and self.surprise is not None:
            measured["surprise"] = self.surprise.bits(*tokens)
        return self._asked(measured, n)

    def _asked(self, measured: Mapping[str, NDArray[np.float64]], n: int) -> NDArray[np.float64]:
        if not self.names:
            return np.empty((0, n))
        return np.array([measured[name] for name in self.names], np.float64).reshape(len(self.names), n)

    def columns(self, measures: NDArray[np.float64]) -> dict[str, list[float | None]]:
        """What `update` returned, by name; None for NaN."""
        return dict(zip(self.names, map(json_values, measures), strict=True))

    def pop_notices(self) -> list[str]:
        """A line for each alarm since the last call, and one if the language model is full now."""
        alarms = [] if self.novelty is None else describe_new_words(self.novelty.pop_alarms())
        return alarms if self.surprise is None else alarms + self.surprise.pop_notices()

    def parts(self) -> Iterator[tuple[str, ArrayState]]:
        """All that keep arrays, with the name that begins theirs in a checkpoint."""
        if self.novelty is not None:
            yield "novelty", self.novelty
        if self.surprise is not None:
            yield "surprise", self.surprise

    def rest(self) -> dict[str, Any]:
        """What a checkpoint holds besides the arrays."""
        return {} if self.novelty is None else {"novelty": self.novelty.rest()}

    def restore_rest(self, rest: Mapping[str, Any]) -> None:
        """Take over what `rest` returned. Raises CheckpointError if something is missing."""
        if self.novelty is not None:
            if "novelty" not in rest:
                raise CheckpointError("the checkpoint's state has no evaluation.novelty")
            self.novelty.restore_rest(rest["novelty"])

    def to_json(self, details: bool, labels: Sequence[str]) -> dict[str, Any]:
        """As the report has it; details : with what is long."""
        report = {} if self.novelty is None else {"novelty": self.novelty.to_json(details)}
        return report if self.surprise is None else report | {"surprise": self.surprise.to_json(labels)}
