"""How long a tagger's own kernel takes: `python -m benchmarks.tag_times SENTENCES TAGGER`, on one thread.

Reading, features, rows and evaluation are left out. The result is JSON on standard output: the tokens, and the seconds
of processor time that tagging and learning them took.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from streamlin.config import RunConfig
from streamlin.events import Batch, single_records
from streamlin.streams.decoders import open_decoder
from streamlin.tagging.base import Tagger
from streamlin.tagging.model import TaggingModel
from streamlin.tagging.sentences import Sentences, Tagged, TagTargets

BATCH = 500


class Timed:
    """A tagger whose calls are timed; everything else is the tagger's."""

    def __init__(self, tagger: Tagger) -> None:
        self._tagger, self.seconds = tagger, 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._tagger, name)

    def tag_then_learn(self, sentences: Sentences, targets: TagTargets, tagged: Tagged) -> None:
        """See `Tagger`."""
        begin = time.thread_time()
        self._tagger.tag_then_learn(sentences, targets, tagged)
        self.seconds += time.thread_time() - begin


def main() -> None:
    path, name = sys.argv[1:]
    config = RunConfig(task="tagging", learners=[{"kind": name}])
    batches = list(_batches(config, Path(path).read_bytes().splitlines()))
    _seconds(config, batches[:2])  # compiles
    tokens = sum(len(batch.tokens.tags) for batch in batches if batch.tokens is not None)
    print(json.dumps({"tokens": int(tokens), "seconds": _seconds(config, batches)}))


def _batches(config: RunConfig, lines: list[bytes]) -> Iterator[Batch]:
    reader = open_decoder("json", {}, config)
    for begin in range(0, len(lines), BATCH):
        yield reader.decode(single_records(lines[begin : begin + BATCH]))[0]


def _seconds(config: RunConfig, batches: list[Batch]) -> float:
    """Those that the tagger takes for all batches."""
    model = TaggingModel(config)
    ((name, tagger),) = model.learners.items()
    timed = Timed(tagger)
    model.learners = {name: timed}  # type: ignore[dict-item]  # acts as the tagger that it wraps
    for batch in batches:
        model.step(batch, model.featurize(batch))
    return timed.seconds


if __name__ == "__main__":
    main()
