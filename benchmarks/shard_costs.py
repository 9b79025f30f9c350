"""What shards cost the run and its workers, on one thread and without Ray: `python -m benchmarks.shard_costs STREAM`.

Four shards learn 25,000 events each in a round. The first round loads kernels and is not counted. The result is JSON
on standard output: microseconds of processor time, rows and bytes.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from streamlin.cluster.messages import Brought, pack, size_of, to_learn, unpack
from streamlin.config import FieldsConfig, RunConfig
from streamlin.events import Batch, LabelIndex, Records
from streamlin.formats import open_format
from streamlin.formats.framing import Lines
from streamlin.model import Features, Model
from streamlin.sharding.hosts import Hosted, ShardPieces
from streamlin.sharding.mixing import mix
from streamlin.sharding.model import ShardedModel
from streamlin.sharding.parts import Before, Part
from streamlin.sharding.rounds import Round
from streamlin.sharding.shard import Piece, Scored, score_then_learn
from streamlin.streams.prediction_lines import PredictionLines
from streamlin.streams.reader import Portion

SHARDS, EVENTS, BATCH = 4, 25_000, 16_000
SIZE = SHARDS * EVENTS


class Costs:
    """Seconds of processor time by purpose; rows that parts have, and their bytes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.rounds = self.rows = self.bytes = 0

    @contextmanager
    def of(self, purpose: str) -> Iterator[None]:
        begin = time.thread_time()
        yield
        self.seconds[purpose] = self.seconds.get(purpose, 0.0) + time.thread_time() - begin

    def units(self) -> dict[str, float]:
        """Microseconds an event, or a row of a part; a row's bytes; rows of a part."""
        events, per_row = self.rounds * SIZE, ("collect", "mix")
        spent = {name: 1e6 * own / (self.rows if name in per_row else events) for name, own in self.seconds.items()}
        return spent | {"bytes": self.bytes / self.rows, "rows": self.rows / self.rounds / SHARDS}


class Learned:
    """In place of workers: what shards have brought already."""

    def __init__(self) -> None:
        self.hosted: list[Hosted] = []

    def prepare(self, number: int, pieces: ShardPieces) -> None: ...

    def begin(self, number: int, pieces: ShardPieces) -> None: ...

    def learn(self) -> list[Hosted]:
        return self.hosted

    def tables(self) -> dict[str, Any]:
        return {}

    def report(self) -> list[dict[str, Any]]:
        return []


def main() -> None:
    costs, learned = Costs(), Learned()
    config = RunConfig(mixing={"shards": SHARDS}, pipeline={"threads": 1})
    run, worker = ShardedModel(config), Model(config)
    run.hosts, lines = learned, PredictionLines(run.names, run.labels)
    for number, one in enumerate(_rounds(Path(sys.argv[1]).read_bytes(), costs)):
        learned.hosted = _learned(worker, one, costs)
        with costs.of("run"):
            run.learn_round(one)
        for portion in one.portions:
            given = run.step(portion.batch, portion.features)
            with costs.of("write"):
                lines.encode(*given)
        costs.rounds += 1
        if not number:
            costs.__init__()  # type: ignore[misc]
    print(json.dumps(costs.units()))


def _rounds(data: bytes, costs: Costs) -> Iterator[Round]:
    """Rounds of a file, dealt to the shards."""
    starts, ends, _ = Lines()(data, True)
    decoder = open_format("json", {}, FieldsConfig(), ())
    for begin in range(0, starts.size - SIZE + 1, SIZE):
        portions = []
        for first in range(begin, begin + SIZE, BATCH):
            part = slice(first, min(first + BATCH, begin + SIZE))
            records = Records(data, starts[part], ends[part], starts[part], ends[part] + 1, "-")
            with costs.of("read"):
                batch, dead = decoder.decode(records)
            portions.append(Portion(batch, Features(), dead, records, 0, len(records), ""))
        yield Round(portions, [np.arange(len(one.batch), dtype=np.int32) % SHARDS for one in portions], [])


def _learned(model: Model, one: Round, costs: Costs) -> list[Hosted]:
    """Do what a worker does that hosts all shards, and what the run does to tell it and to understand it."""
    n_known, parts, hosted = len(model.labels), [], []
    for shard in range(SHARDS):
        with costs.of("run"):
            sent = pack([to_learn(piece, ()) for _, piece in one.pieces(shard)])
        with costs.of("learn"):
            batches = unpack(sent)
        part, scored = _part(model, n_known, batches, costs)
        parts.append(part)
        with costs.of("collect"):
            brought = pack([Brought(shard, part)])
        with costs.of("learn"):
            told = pack(part.new), pack(scored)
        with costs.of("run"):
            new, _ = map(unpack, told)
        costs.bytes += size_of(brought)
        costs.rows += max(own.rows.size for own in part.differences.values())
        hosted.append(Hosted(new, lambda scored=scored: scored, {}, set()))  # type: ignore[misc]
    with costs.of("mix"):
        mix(model, n_known, parts)
    return hosted


def _part(model: Model, n_known: int, batches: Sequence[Batch], costs: Costs) -> tuple[Part, list[Scored]]:
    """Do what `streamlin.sharding.shard.learn_part` does, step by step."""
    with costs.of("learn"):
        pieces = [Piece(batch, model.featurize(batch), np.arange(len(batch))) for batch in batches]
    with costs.of("collect"):
        before = Before(model, n_known, {view: [piece.features[view] for piece in pieces] for view in model.rows})
    common, model.labels = model.labels, LabelIndex(model.labels.names[:n_known])
    with costs.of("learn"):
        scored = [score_then_learn(model, piece, piece.features) for piece in pieces]
    with costs.of("collect"):
        part = before.take_back(model.labels.names)
    model.labels = common
    return part, scored


if __name__ == "__main__":
    main()
