"""New words: their share, its curve, and alarms where it rises."""

import random
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.config import EvaluationConfig
from streamlin.evaluation.novelty import Novelty, describe_new_words
from streamlin.events import Event
from streamlin.features.token_hashes import hashes_of
from streamlin.features.view import View
from tests.evaluation.scored import cuts
from tests.naive_novelty import NaiveNovelty
from tests.sample_streams import batch_of, read_events

WINDOW = 50
texts = st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=5), max_size=40)


def counted(words: list[list[str]], at: list[int], counts: list[bool] | None = None, bits: int = 20) -> tuple[Any, Any]:
    """A `Novelty` that has counted texts in batches cut at some places, and the shares it returned."""
    novelty = Novelty(bits, EvaluationConfig(window=WINDOW))
    bounds, shares, alarms = [0, *sorted(cut for cut in at if cut < len(words)), len(words)], [], []
    for begin, end in pairwise(bounds):
        part = words[begin:end]
        indptr = np.cumsum([0, *map(len, part)])
        wanted = np.array([True] * len(part) if counts is None else counts[begin:end], np.bool_)
        hashes = hashes_of([word for own in part for word in own])
        shares += novelty.update(indptr, hashes, wanted, lambda i, n=begin: n + i, str).tolist()  # type: ignore[misc]
        alarms += novelty.pop_alarms()
    assert novelty.alarms == alarms[-100:]
    return novelty, shares


def changing(seed: int) -> list[list[str]]:
    """A thousand texts of few words, some of them new, then two hundred with many new ones."""
    draw, new = random.Random(seed), iter(range(10**6))
    known = [f"known{i}" for i in range(30)]
    return [
        [
            f"new{next(new)}" if draw.random() < (0.1 if i < 1000 else 0.6) else draw.choice(known)
            for _ in range(draw.randrange(9))
        ]
        for i in range(1200)
    ]


def test_four_texts_by_hand() -> None:
    """a b: both new, 2 / 2. a c c: both c are new, 2 / 3. No word: nothing. b: known. In all 4 new ones of 6."""
    novelty, shares = counted([["a", "b"], ["a", "c", "c"], [], ["b"]], [])
    assert np.array_equal(shares, [1.0, 2 / 3, np.nan, 0.0], equal_nan=True)
    counts = {"tokens": 6, "new": 4, "share": 4 / 6, "window_share": 4 / 6, "alarms": 0, "last_alarms": []}
    assert novelty.to_json() == counts | {
        "curve": {"events": [1, 2, 3], "share": [1.0, 0.8, 0.666667], "window_share": [1.0, 0.8, 0.666667]},
    }


def test_an_alarm_by_hand() -> None:
    """200 events without new words: m = v = 0. Then each new word alone has z = min(3, 1 / 0.001), so S grows by 2.75.

    S > 14 at the sixth of them.
    """
    words = [["a"]] * 201 + [[f"new{i}"] for i in range(7)]
    novelty, _ = counted(words, [])
    before, after = novelty.alarms[0]["before"], novelty.alarms[0]["after"]
    assert [alarm["event"] for alarm in novelty.alarms] == [206]
    assert (before, after) == (pytest.approx(0, abs=0.01), 1.0)
    assert describe_new_words([{"event": 3012, "position": "a:7", "before": 0.071, "after": 0.2034}]) == [
        "new words: 7.1 to 20.3 % of the tokens, seen at event 3,012 (a:7)"
    ]


@given(texts, cuts, st.randoms())
def test_equals_its_twin_in_any_batches(words: list[list[str]], at: list[int], draw: random.Random) -> None:
    counts = [draw.random() < 0.8 for _ in words]
    twin = NaiveNovelty()
    expected = [twin.add(own, counts_) for own, counts_ in zip(words, counts, strict=True)]
    novelty, shares = counted(words, at, counts)
    assert [None if share != share else share for share in shares] == expected
    report = novelty.to_json()
    assert (report["share"], report["window_share"]) == (twin.share(), twin.share(WINDOW))
    assert novelty.is_consistent()


@pytest.mark.parametrize("seed", range(3))
def test_alarms_equal_those_of_the_twin(seed: int) -> None:
    words, twin = changing(seed), NaiveNovelty()
    for own in words:
        twin.add(own)
    novelty, _ = counted(words, [1, 500, 1001, 1010])
    found = [(alarm["event"], alarm["before"], alarm["after"]) for alarm in novelty.alarms]
    assert [event for event, *_ in found] == [event for event, *_ in twin.alarms]
    assert_allclose(found, twin.alarms)
    assert any(1000 <= event < 1050 for event, _, _ in found)
    assert novelty.to_json()["window_share"] == twin.share(WINDOW)


def test_batches_change_no_bit() -> None:
    words = changing(7)
    whole, parts = counted(words, [])[0], counted(words, [3, 4, 700, 1003])[0]
    for name, array in whole.state().items():
        assert np.array_equal(array, parts.state()[name]), name


def test_an_event_with_a_shared_bucket_is_not_new() -> None:
    """With one bit there are two buckets: after three words at most two of them were new."""
    novelty, _ = counted([["a"], ["b"], ["c"], ["d"], ["e"], ["f"]], [], bits=3)
    assert novelty.seen.size == 1
    assert 1 <= novelty.totals[1] <= 6


@cache
def stream(data: Path, name: str) -> list[Event]:
    return read_events(data / f"{name}.jsonl.gz", 40_000)


def novelty_of(events: list[Event]) -> dict[str, Any]:
    """New words in the tokens of the default view."""
    novelty, view = Novelty(20, EvaluationConfig()), View()
    _, tokens = view.buckets_and_tokens(batch_of(events))
    novelty.update(*tokens, np.ones(len(events), np.bool_), lambda i: i + 1, str)
    return novelty.to_json()


PAIRS = [
    *(("clickbait", "rt-polarity"), ("subjectivity", "clickbait"), ("sms-spam", "tweet-emoji")),
    *(("rt-polarity", "sms-spam"), ("clinc150", "trec-6")),
]


def test_thirteen_of_fifteen_changes_are_found(data: Path) -> None:
    """3,000 texts of one stream, then 200 of another: an alarm within 100 of them, and none before the change."""
    found = early = 0
    for old, new in PAIRS:
        for draw in range(3):
            chosen = random.Random(draw)
            events = chosen.sample(stream(data, old), 3000) + chosen.sample(stream(data, new), 200)
            at = [alarm["event"] for alarm in novelty_of(events)["last_alarms"]]
            found += any(3000 < event <= 3100 for event in at)
            early += sum(event <= 3000 for event in at)
    assert found >= 13
    assert early <= 1


def test_false_alarms_are_rare(data: Path) -> None:
    """At most one in 10,000 events of streams in random order, in which nothing changes."""
    alarms = events = 0
    for name in ("clickbait", "rt-polarity", "subjectivity", "tweet-emoji", "clinc150"):
        own = stream(data, name)
        chosen = random.Random(10).sample(own, min(len(own), 12_000))
        alarms += novelty_of(chosen)["alarms"]
        events += len(chosen)
    assert alarms <= events / 10_000
