"""Opening the sources of a run."""

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from streamlin.config import PipelineConfig, RunConfig
from streamlin.errors import ConfigError
from streamlin.events import Batch, Position, Share, Source
from streamlin.formats.base import Format
from streamlin.model import Model
from streamlin.registry import connector
from streamlin.sharding.lane import Lane
from streamlin.sharding.rounds import Rounds
from streamlin.streams.addresses import Address, parse_address
from streamlin.streams.opening import open_source, parts_of
from streamlin.streams.reader import Reader
from streamlin.streams.stage_times import StageTimes

_INTERLEAVED_BATCH = 1000
"""Records that are read of one source before the other one's turn."""
_EXTERNAL_MODELS_BATCH = 250
"""Events that a stop may have to wait for; an external model may take milliseconds for each."""

_SENTENCES_BATCHES = {"tagging": 500, "parsing": 100}
"""Sentences, of which each has many tokens: reading, learning and writing overlap more in smaller batches."""
_DEALT = 8
"""Shards for which a batch of dealt records is made larger, so that each gets as many as one learner would."""


class OpenSource(Source, Protocol):
    """A source that is open already. key : what a checkpoint calls it. format : of its records."""

    @property
    def key(self) -> str: ...

    @property
    def format(self) -> Format: ...


class Readers:
    """Opens the readers of a run.

    Parameters
    ----------
    model : what learns.
    positions : key of a source -> its positions in the checkpoint.
    featurize : Batch -> features; see `Reader`.
    notice : shows the user one line.
    stop : ends every reader when it is set.
    stages : where the time is counted.
    checkpoint : called by a source, with its key, that needs a checkpoint; see `streamlin.events.SourceContext`.
    """

    def __init__(
        self,
        config: RunConfig,
        model: Model,
        positions: Mapping[str, Mapping[str, Position]],
        featurize: Callable[[Batch], Any],
        notice: Callable[[str], None],
        stop: threading.Event,
        stages: StageTimes,
        checkpoint: Callable[[str], Mapping[str, Position]],
    ) -> None:
        self._config, self._positions, self._featurize = config, positions, featurize
        self._notice, self._stop, self._stages, self._checkpoint = notice, stop, stages, checkpoint
        self._read: set[str] = set()
        self._pipeline = _with_small_batches(config, bool(model.external_models))
        self.batch_size = self._pipeline.batch_size
        """Records of a full batch."""

    def open_lanes(self, address: Address | None, source: OpenSource | None, rounds: Rounds, shards: int) -> list[Lane]:
        """What shards read: one lane for each part of a source that can read a share of them, which goes to one shard;
        otherwise one lane, of which each shard gets every `shards`-th record.

        Raises
        ------
        ConfigError : there are fewer parts than shards.
        CheckpointError : there are other parts than those that the shards have read before.
        """
        if address is None:
            assert source is not None
            return [Lane(self._of_open_source(source, None), None, shards, rounds.records)]
        key, self._read = _key(address), {_key(address)}
        parts = self._parts(address)
        if parts is None:
            return [Lane(self._at(address, False, dealt=min(shards, _DEALT)), None, shards, rounds.records)]
        if len(parts) < shards:
            raise ConfigError(
                f"mixing.shards: {shards} shards can't share the {len(parts)} partitions of {key}; "
                f"use at most {len(parts)} shards"
            )
        rounds.check_parts(key, parts)
        shares = [Share(frozenset((part,)), frozenset(parts)) for part in parts]
        return [Lane(self._at(address, False, share=share), i % shards, shards) for i, share in enumerate(shares)]

    def _parts(self, address: Address) -> list[str] | None:
        """The parts of a source that can read a share of them; None if it can't."""
        parts = getattr(connector("sources", address.scheme), "parts", None)
        return None if parts is None else parts_of(address, self._config, self._notice, self._stop, parts)

    def open_all(self, address: Address | None, source: OpenSource | None, limit: int | None) -> Iterator[Reader]:
        """The reader of the events; then that of the delayed labels, if they have a source of their own.

        address, source : where the events are; one of the two. limit : events after which their reader stops.
        """
        delayed_labels = self._config.delayed_labels
        labels = None if delayed_labels.url is None else parse_address(delayed_labels.url, "stdin")
        self._read = {_key(place) for place in (address, labels) if place is not None}
        if source is not None:
            yield self._of_open_source(source, limit)
        if address is not None:
            yield self._at(address, delayed_labels.enabled, limit)
        if labels is not None:
            yield self._at(labels, True)

    def _at(
        self,
        address: Address,
        delayed_labels: bool,
        limit: int | None = None,
        share: Share | None = None,
        dealt: int = 1,
    ) -> Reader:
        """Open the source at an address, or a share of its parts.

        delayed_labels : whether a record may be only the label of an earlier text. dealt : see `SourceContext`.
        """
        key = _key(address)
        positions, checkpoint = dict(self._positions.get(key, {})), partial(self._checkpoint, key)
        opened = (address, self._config, positions, self._notice, self._stop, checkpoint, delayed_labels)
        source, decoder, pace = open_source(*opened, self._elsewhere(address.scheme), share, dealt)
        pipeline = self._pipeline.model_copy(update={"batch_size": self._pipeline.batch_size * dealt})
        return Reader(source, decoder, self._featurize, pipeline, limit, pace, self._stop, key, self._stages)

    def _elsewhere(self, scheme: str) -> list[tuple[str, Position]]:
        """Positions of the parts of all sources of a scheme that are not read in this run."""
        others = (
            parts for key, parts in self._positions.items() if key not in self._read and key.startswith(f"{scheme}:")
        )
        return [known for parts in others for known in parts.items()]

    def _of_open_source(self, source: OpenSource, limit: int | None) -> Reader:
        """The reader of a source that is open already."""
        return Reader(
            source, source.format, self._featurize, self._pipeline, limit, None, self._stop, source.key, self._stages
        )


def _key(address: Address) -> str:
    """What a checkpoint calls the source at an address."""
    own_key = getattr(connector("sources", address.scheme), "key", None)
    return address.key if own_key is None else f"{address.scheme}:{own_key(address.address)}"


def _with_small_batches(config: RunConfig, has_external_models: bool) -> PipelineConfig:
    """As configured, but with batches small enough for sentences, and where more than speed depends on them."""
    pipeline = config.pipeline
    interleaved = _INTERLEAVED_BATCH if config.delayed_labels.url is not None else pipeline.batch_size
    stoppable = _EXTERNAL_MODELS_BATCH if has_external_models else pipeline.batch_size
    sentences = _SENTENCES_BATCHES.get(config.task, pipeline.batch_size)
    return pipeline.model_copy(update={"batch_size": min(pipeline.batch_size, interleaved, stoppable, sentences)})


def with_references(config: RunConfig, source_class: Any) -> RunConfig:
    """The configuration, with the predictions that a source's events carry among those that are evaluated."""
    field = getattr(source_class, "reference_field", None)
    if field is None or field in config.evaluation.references:
        return config
    references = (*config.evaluation.references, field)
    return config.model_copy(update={"evaluation": config.evaluation.model_copy(update={"references": references})})
