"""A model that several shards learn, each for itself for a round at a time."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.errors import ConfigError, ConnectorError
from streamlin.evaluation import Predictions
from streamlin.evaluation.drift import Alarm
from streamlin.events import Batch, LabelIndex
from streamlin.model import Features, Learned, Model
from streamlin.sharding.hosts import Hosts, ShardPieces
from streamlin.sharding.mixing import mix, take_in
from streamlin.sharding.rounds import Round, Rounds, rounds_from
from streamlin.sharding.shard import Piece, Scored, learn_part, place_of
from streamlin.storage.arrays import arrays_under


class ShardedModel(Model):
    """A `Model` whose events are learned in rounds: `learn_round`, then `step` for each batch of it, which only tells.

    Every event is predicted by its own shard's model before it is learned. What is measured is counted here, for all
    shards: the events of shard 0 first, in their order, then those of shard 1, and so on.

    Raises
    ------
    ConfigError : a learner can't be mixed.
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__(config)
        assert config.mixing.shards is not None
        self.n_shards, self.mixing, self.rounds = config.mixing.shards, config.mixing, Rounds()
        self.hosts: Hosts | None = None
        """Where the shards are learned, if not here. The tables of the learners stay there until `complete`."""
        self._complete = 0
        """The rounds that these tables have."""
        self._outcomes: deque[_Outcome] = deque()
        self._in_pieces: tuple[Round | None, ShardPieces] = (None, {})
        """The round that was cut last; one that is prepared is cut once."""
        for name, learner in self.learners.items():
            why = learner.why_unmixable(config.mixing.max_events)
            if why is not None:
                raise ConfigError(f"mixing.shards: the learner {name} can't be sharded: {why}")

    def learn_round(
        self,
        one: Round,
        upcoming: Callable[[], Round | None] = lambda: None,
        fits: Callable[[Round], bool] = lambda _: True,
    ) -> None:
        """Learn a round, shard by shard, and mix.

        upcoming : the next round, if it is there already. fits : whether it can be learned, once this one's labels and
        rows are known. They are called only if there are hosts.
        """
        outcomes = [_Outcome(portion.batch) for portion in one.portions]
        pieces = self._pieces(one)
        if self.hosts is None:
            self._learn_here(pieces, outcomes)
        elif pieces:
            self._learn_at(self.hosts, pieces, outcomes, upcoming, fits)
        self.rounds.add(len(pieces), one.events, one.records)
        if self.hosts is None:
            self._complete = self.rounds.number
        self._outcomes.extend(outcome for outcome in outcomes if len(outcome.batch))

    def _pieces(self, one: Round) -> ShardPieces:
        if self._in_pieces[0] is not one:
            pieces = {shard: found for shard in range(self.n_shards) if (found := list(one.pieces(shard)))}
            self._in_pieces = one, pieces
        return self._in_pieces[1]

    def _learn_here(self, pieces: ShardPieces, outcomes: list["_Outcome"]) -> None:
        n_known, labels, parts = len(self.labels), self.labels, []
        for found in pieces.values():
            counted = partial(self._count, labels, n_known, iter([outcomes[number] for number, _ in found]))
            parts.append(learn_part(self, n_known, [piece for _, piece in found], counted))
        mix(self, n_known, parts)

    def _learn_at(
        self,
        hosts: Hosts,
        pieces: ShardPieces,
        outcomes: list["_Outcome"],
        upcoming: Callable[[], Round | None],
        fits: Callable[[Round], bool],
    ) -> None:
        """Have the hosts learn a round; they begin the next one while this one is counted here."""
        number, n_known = self.rounds.number + 1, len(self.labels)
        labels = LabelIndex(self.labels.names)  # those known when a shard is counted
        hosts.begin(number, pieces)
        following = upcoming()
        if following is not None and following.events:
            hosts.prepare(number + 1, self._pieces(following))
        learned = hosts.learn()
        take_in(self, n_known, [own.new for own in learned])
        following = upcoming()
        if following is not None and following.events and fits(following):
            hosts.begin(number + 1, self._pieces(following))
        for own in learned:
            for view, names in own.names.items():
                self.feature_names[view].add(**names)
            self.clipped |= own.clipped
        self._notice_clipped()
        for own, found in zip(learned, pieces.values(), strict=True):
            for scored, (number, piece) in zip(own.scored(), found, strict=True):
                self._count(labels, n_known, iter([outcomes[number]]), piece, scored)

    def step(self, batch: Batch, features: Features) -> tuple[Batch, Predictions]:
        """What `learn_round` has made of the next batch."""
        outcome = self._outcomes.popleft()
        assert outcome.batch is batch
        self.prequential.new_alarms = outcome.alarms
        predictions = outcome.predictions()
        self.learned = Learned(batch, outcome.codes, predictions, (batch, batch[:0]))
        return batch, predictions

    def _count(
        self, labels: LabelIndex, n_known: int, outcomes: Iterator["_Outcome"], piece: Piece, scored: Scored
    ) -> None:
        """Count what a shard has made of a piece. labels : those of all shards. outcomes : of its pieces' batches."""
        outcome, events, batch = next(outcomes), piece.events, piece.batch
        columns = np.concatenate([np.arange(n_known, dtype=np.int32), labels.learn(scored.labels[n_known:])])
        scores = _in_columns(scored.scores, columns, len(labels))
        codes = np.append(columns, np.int32(-1))[scored.goals.codes]
        weights = batch.weights[events]
        extra = {name: [column[i] for i in events.tolist()] for name, column in batch.extra.items()}
        prequential = self.prequential
        prequential.add_features(scored.features)
        prequential.events += events.size
        prequential.labelled += events.size - piece.labels.count(None)
        place = partial(place_of, piece)
        predictions = prequential.predict_and_count(scores, codes, weights, labels, extra, None, place)
        outcome.note(events, codes, predictions, prequential.new_alarms)

    def complete(self) -> None:
        """Get the tables of the learners from the hosts, if these have learned since.

        Raises
        ------
        ConnectorError : the hosts are gone.
        """
        if self._complete == self.rounds.number:
            return
        if self.hosts is None:
            raise ConnectorError("cluster: what was learned is lost with the workers; begin from the checkpoint again")
        tables = self.hosts.tables()
        for name, learner in (self.learners | self.mixtures).items():
            learner.restore(arrays_under(tables, f"learners/{name}/"))
        self._complete = self.rounds.number

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        self.complete()
        arrays, rest = super().state()
        return arrays, rest | {"rounds": self.rounds.to_json()}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        super().restore(arrays, rest)
        self.rounds = rounds_from(rest["rounds"])
        self._complete = self.rounds.number


class _Outcome:
    """What becomes of a batch, whose events several shards may learn."""

    def __init__(self, batch: Batch) -> None:
        self.batch, self.alarms = batch, list[Alarm]()
        self.codes = np.full(len(batch), -1, np.int32)
        self._columns: list[NDArray[Any]] | None = None

    def note(self, events: NDArray[np.int64], codes: NDArray[np.int32], of: Predictions, alarms: list[Alarm]) -> None:
        """Some of its events are counted."""
        given = (of.predicted, of.lead, of.confidences, of.baselines, of.measures)
        if self._columns is None:
            self._columns = [np.empty((*one.shape[:-1], len(self.batch)), one.dtype) for one in given]
        for column, own in zip(self._columns, given, strict=True):
            column[..., events] = own
        self.codes[events] = codes
        self.alarms += alarms

    def predictions(self) -> Predictions:
        """Those of all events."""
        assert self._columns is not None
        predicted, lead, confidences, baselines, measures = self._columns
        return Predictions(predicted, lead, confidences, baselines, measures)


def _in_columns(scores: NDArray[np.float64], columns: NDArray[np.int32], n_labels: int) -> NDArray[np.float64]:
    """Scores float64[L, n, k] of k labels, as float64[L, n, n_labels]; -inf for labels that the shard does not know."""
    if np.array_equal(columns, np.arange(n_labels)):
        return scores
    wide = np.full((*scores.shape[:2], n_labels), -np.inf)
    wide[..., columns] = scores
    return wide
