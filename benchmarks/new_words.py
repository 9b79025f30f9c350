"""How many changes of topic the alarm of new words finds, how soon, and how often it alarms where nothing changes.

`python -m benchmarks.new_words FOLDER` reads `STREAMS` from a folder, as NAME.jsonl.gz. A change: `BEFORE` texts of one
stream, drawn at random, then `AFTER` of another. It is found if there is an alarm within the first 100 of these. Where
nothing changes: each stream as a whole, in random order. `CHOSEN` are the pairs that the threshold 14 was chosen by.
"""

import gzip
import random
import sys
from collections.abc import Iterable, Sequence
from itertools import permutations
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig, RunConfig
from streamlin.evaluation.novelty import Novelty
from streamlin.events import single_records
from streamlin.features.token_hashes import TokenHashes
from streamlin.features.view import View
from streamlin.streams.json_lines import json_lines

STREAMS = (
    *("sms-spam", "rt-polarity", "subjectivity", "trec-6", "tweet-emoji", "clickbait", "clinc150"),
    *("reuters-topics", "spamassassin"),
)
CHOSEN = (
    *(("clickbait", "rt-polarity"), ("subjectivity", "clickbait"), ("sms-spam", "tweet-emoji")),
    *(("rt-polarity", "sms-spam"), ("clinc150", "trec-6")),
)
BEFORE, AFTER, WITHIN, DRAWS = 3000, 200, 100, 3
THRESHOLDS = (8.0, 12.0, 14.0, 20.0)
Words = NDArray[np.uint64]


class Texts:
    """The words of the texts of a stream, as hashes, in any order."""

    def __init__(self, path: Path) -> None:
        batch, _ = json_lines(RunConfig()).decode(single_records(gzip.decompress(path.read_bytes()).splitlines()))
        _, (indptr, hashes) = View().buckets_and_tokens(batch)
        self.words = np.split(hashes, indptr[1:-1])

    def drawn(self, draw: random.Random, n: int) -> list[Words]:
        """Some of them, in random order."""
        return draw.sample(self.words, n)


def alarms(words: Sequence[Words], threshold: float) -> list[int]:
    """The events, from 1, at which there is an alarm."""
    novelty = Novelty(20, EvaluationConfig(novelty_threshold=threshold))
    tokens = TokenHashes(np.cumsum([0, *map(len, words)]), np.concatenate(words))
    novelty.update(*tokens, np.ones(len(words), np.bool_), lambda i: i + 1, str)
    return [alarm["event"] for alarm in novelty.pop_alarms()]


def found(streams: dict[str, Texts], pairs: Iterable[tuple[str, str]], threshold: float) -> tuple[int, int, float]:
    """How many changes there are, how many of them are found, and after how many events in the median."""
    delays, total = [], 0
    for old, new in pairs:
        for number in range(DRAWS):
            draw = random.Random(number)
            words = streams[old].drawn(draw, BEFORE) + streams[new].drawn(draw, AFTER)
            after = [event - BEFORE for event in alarms(words, threshold) if event > BEFORE]
            delays += [delay for delay in after[:1] if delay <= WITHIN]
            total += 1
    return total, len(delays), median(delays) if delays else float("nan")


def main(folder: Path) -> None:
    streams = {name: Texts(folder / f"{name}.jsonl.gz") for name in STREAMS}
    for threshold in THRESHOLDS:
        each = [alarms(texts.drawn(random.Random(10), len(texts.words)), threshold) for texts in streams.values()]
        falsely, events = sum(map(len, each)), sum(len(texts.words) for texts in streams.values())
        print(f"threshold {threshold:g}: {falsely} alarms in {events:,} events without a change")
        for kind, pairs in (("chosen", CHOSEN), ("all ordered", [*permutations(STREAMS, 2)])):
            total, hits, delay = found(streams, pairs, threshold)
            print(f"  {kind} pairs: {hits} of {total} changes found, after {delay:g} events in the median", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
