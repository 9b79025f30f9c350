"""The synthetic source, against its own true parameters."""

import json
import math
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from connectors.synthetic.generative_story import Categories, Drift, Story, shifted_orders, zipf_shares
from connectors.synthetic.options import SyntheticOptions, parse_options
from connectors.synthetic.source import SyntheticSource, SyntheticStream, write_jsonl
from streamlin.errors import ConfigError
from streamlin.events import Records, SourceContext
from streamlin.formats.framing import Lines

SMALL = {"events": 2500, "labels": 3, "vocabulary": 50, "words": 4, "drift_at": 900, "drift_over": 700}


def source(offset: int | None = None, address: str = "synthetic://", **options: Any) -> SyntheticSource:
    positions = {} if offset is None else {"synthetic": {"offset": offset}}
    texts = {name: str(value) for name, value in options.items()}
    return SyntheticSource(address, SourceContext(texts, Lines(), positions, False, 10**7, print))


def polled(source: SyntheticSource, *limits: int) -> list[Records]:
    """The records of polls with these limits, the last one repeated to the end."""
    batches: list[Records] = []
    while (more := source.poll(limits[min(len(batches), len(limits) - 1)])) is not None:
        batches += more
    return batches


def lines(batches: list[Records]) -> list[bytes]:
    return [batch[i] for batch in batches for i in range(len(batch))]


def events(**options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(polled(source(**options), 1000))]


def share_right(rows: list[dict[str, Any]], predictions: list[str]) -> float:
    return sum(row["label"] == predicted for row, predicted in zip(rows, predictions, strict=True)) / len(rows)


WHOLE = lines(polled(source(**SMALL), 2500))


# The stream: records and positions


@settings(max_examples=30)
@given(st.lists(st.integers(1, 1500), min_size=1, max_size=5), st.integers(0, 2500))
def test_events_are_the_same_for_all_limits_and_resumes(limits: list[int], offset: int) -> None:
    assert lines(polled(source(offset, **SMALL), *limits)) == WHOLE[offset:]


def test_going_back_gives_the_same_events_again() -> None:
    stream = SyntheticStream(SyntheticOptions(labels=3))
    first = stream.lines(10, 30)[0]
    stream.lines(5000, 5001)
    assert stream.lines(10, 30)[0] == first


def test_offsets_are_event_numbers() -> None:
    (records,) = source(3, events=2000).poll(1500) or []
    assert records.data.split(b"\n") == lines([records])
    assert records.offsets.tolist() == list(range(3, 1503))
    assert records.position(1500) == {"offset": 1503}
    assert (records.part, records.name(0)) == ("synthetic", "synthetic:3")
    assert {array.dtype for array in (records.starts, records.ends, records.offsets, records.nexts)} == {
        np.dtype(np.int64)
    }


def test_the_last_poll_returns_the_rest() -> None:
    stream = source(events=1100)
    assert [len(batch) for batch in polled(stream, 1000)] == [1000, 100]
    assert stream.poll(1) is None
    assert source(1100, events=1100).poll(10) is None


@pytest.mark.parametrize("events", ["0", "inf"])
def test_an_endless_stream_has_events_at_large_numbers(events: str) -> None:
    (records,) = source(10**15, events=events).poll(3) or []
    assert [json.loads(line)["id"] for line in lines([records])] == [str(10**15 + i) for i in range(3)]


def test_a_record_holds_id_text_label_and_optimal() -> None:
    rows = events(events=1200, labels=2, words=7, vocabulary=30)
    assert [row["id"] for row in rows] == [str(i) for i in range(1200)]
    assert {tuple(row) for row in rows} == {("id", "text", "label", "optimal")}
    assert {len(row["text"].split(" ")) for row in rows} == {7}
    assert {word for row in rows for word in row["text"].split(" ")} == {f"w{i}" for i in range(30)}
    assert {row["label"] for row in rows} == {row["optimal"] for row in rows} == {"label0", "label1"}
    assert SyntheticSource.reference_field in rows[0]


def test_texts_of_one_word() -> None:
    assert {row["text"] for row in events(events=500, words=1, vocabulary=3)} == {"w0", "w1", "w2"}


def test_another_seed_is_another_stream() -> None:
    texts = [row["text"] for row in events(events=200, seed=1)]
    assert texts == [row["text"] for row in events(events=200, seed=1)]
    assert texts != [row["text"] for row in events(events=200, seed=2)]


def test_blocks_differ() -> None:
    texts = [row["text"] for row in events(events=2048)]
    assert texts[:1024] != texts[1024:]


def test_hidden_labels_change_nothing_else() -> None:
    shown, hidden = events(events=4000), events(events=4000, unlabelled=0.3)
    gone = [row["label"] is None for row in hidden]
    assert_allclose(np.mean(gone), 0.3, atol=4 * math.sqrt(0.3 * 0.7 / 4000))
    assert [row | {"label": None} if out else row for row, out in zip(shown, gone, strict=True)] == hidden
    assert all(row["label"] is None for row in events(events=100, unlabelled=1))


# The story: shares, words, optimum


def test_categories_equal_a_plain_search() -> None:
    """Also exactly at a bound: 1/4 belongs to the category that begins there."""
    probabilities = zipf_shares(5000, 1.2)
    uniforms = np.append(np.random.default_rng(1).random(20_000), np.cumsum(probabilities)[:-1])
    expected = np.searchsorted(np.cumsum(probabilities)[:-1], uniforms, side="right")
    assert (Categories(probabilities)(uniforms) == expected).all()
    assert Categories(np.array([0.25, 0.75]))(np.array([0.0, 0.25, np.nextafter(1, 0)])).tolist() == [0, 1, 1]


def test_zipf_shares_by_hand() -> None:
    """1/1, 1/2, 1/3 sum to 11/6."""
    assert_allclose(zipf_shares(3, 1.0), [6 / 11, 3 / 11, 2 / 11])
    assert_allclose(zipf_shares(4, 0.0), [0.25] * 4)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [("uniform", [1 / 3] * 3), ("zipf", [6 / 11, 3 / 11, 2 / 11]), ("1,2,5", [1 / 8, 2 / 8, 5 / 8])],
)
def test_labels_follow_the_prior(prior: str, expected: list[float]) -> None:
    n = 20_000
    counts = Counter(row["label"] for row in events(events=n, labels=3, words=1, prior=prior, seed=3))
    assert_allclose([counts[f"label{k}"] for k in range(3)], np.array(expected) * n, atol=4 * math.sqrt(n / 4))


def test_words_follow_their_labels_distributions() -> None:
    """Pearson's chi-square over 20 words: 19 degrees of freedom exceed 52 once in 10,000 times."""
    options = {"events": 20_000, "labels": 3, "words": 5, "vocabulary": 20, "separation": 1.0, "zipf": 0.8}
    truth = np.exp(source(**options).stream.story.log_likelihoods)
    rows = events(**options)
    for k in range(3):
        counts = Counter(word for row in rows if row["label"] == f"label{k}" for word in row["text"].split(" "))
        seen = np.array([counts[f"w{w}"] for w in range(20)])
        expected = truth[:, k] * seen.sum()
        assert ((seen - expected) ** 2 / expected).sum() < 52


def test_each_label_has_the_same_shares_at_other_words() -> None:
    story = source(labels=4, vocabulary=100, zipf=1.3).stream.story
    truth = np.exp(story.log_likelihoods)
    assert_allclose(np.sort(truth, axis=0)[::-1], np.tile(zipf_shares(100, 1.3)[:, None], 4))
    assert (np.sort(story.orders, axis=1) == np.arange(100)).all()
    assert len({tuple(order) for order in story.orders}) == 4


def test_without_separation_the_prior_decides() -> None:
    assert (shifted_orders(3, 10, 0.0, np.random.default_rng(1)) == np.arange(10)).all()
    assert {row["optimal"] for row in events(events=500, separation=0, prior="2,3")} == {"label1"}


@pytest.mark.parametrize(("labels", "least", "most"), [(2, 0.92, 0.98), (4, 0.84, 0.96)])
def test_optimal_accuracy_with_default_options(labels: int, least: float, most: float) -> None:
    rows = events(events=3000, labels=labels)
    assert least < share_right(rows, [row["optimal"] for row in rows]) < most


def test_two_labels_and_two_words_by_hand() -> None:
    """P(w | 0) = (2/3, 1/3), P(w | 1) = (1/3, 2/3), prior (0.7, 0.3), and λ = 1/4, 2/4, 3/4, 1 at events 0, 1, 2, 3.

    before any drift        w0 w0: 0.7 * 4/9 > 0.3 * 1/9                            0
                            w0 w1: 0.7 * 2/9 > 0.3 * 2/9                            0
                            w1 w1: 0.7 * 1/9 = 0.078 < 0.3 * 4/9 = 0.133            1
    event 0, λ = 1/4        w1 w1: 0.7 * (3/4 * 1/9 + 1/4 * 4/9) = 0.7 * 7/36 = 0.136
                                 > 0.3 * (3/4 * 4/9 + 1/4 * 1/9) = 0.3 * 13/36 = 0.108    0
    event 3, λ = 1          w0 w0: 0.7 * 1/9 < 0.3 * 4/9                            1
                            w1 w1: 0.7 * 4/9 > 0.3 * 1/9                            0
    """
    prior, shares, orders = np.array([0.7, 0.3]), np.array([2 / 3, 1 / 3]), np.array([[0, 1], [1, 0]], np.int32)
    still = Story(prior, shares, orders, 2)
    assert_allclose(np.exp(still.log_likelihoods), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    assert still.optimal(np.array([[0, 0], [0, 1], [1, 1]], np.int32), np.arange(3)).tolist() == [0, 0, 1]
    moving = Story(prior, shares, orders, 2, Drift(0, 3))
    assert moving.optimal(np.array([[1, 1], [0, 0], [1, 1]], np.int32), np.array([0, 3, 3])).tolist() == [0, 1, 0]


def naive_scores(story: Story, words: list[int], number: int) -> list[float]:
    """P(k) times the likelihood of the text, over the concepts, in plain Python."""
    labels = len(story.prior)
    progress = 0.0
    if story.drift is not None:
        progress = min(1.0, max(0.0, (number + 1 - story.drift.at) / (story.drift.over + 1)))

    def likelihood(k: int) -> float:
        return math.prod(float(story.shares[list(story.orders[k]).index(word)]) for word in words)

    return [
        float(story.prior[k]) * ((1 - progress) * likelihood(k) + progress * likelihood((k + 1) % labels))
        for k in range(labels)
    ]


@pytest.mark.parametrize("prior", ["uniform", "zipf"])
def test_optimal_equals_its_naive_twin(prior: str) -> None:
    """Before, during and after a drift; labels that tie up to rounding are equally good."""
    options = SMALL | {"prior": prior, "separation": 0.7}
    story = source(**options).stream.story
    for row in events(**options)[::7]:
        scores = naive_scores(story, [int(word[1:]) for word in row["text"].split(" ")], int(row["id"]))
        assert scores[int(row["optimal"].removeprefix("label"))] >= max(scores) * (1 - 1e-12)


def test_no_fixed_rule_beats_the_optimum() -> None:
    """Texts of 2 words out of 2: every one of the 2^4 rules from text to label is tried."""
    rows = events(events=5000, vocabulary=2, words=2, separation=3, seed=1, prior="2,1")
    texts = sorted({row["text"] for row in rows})
    assert len(texts) == 4
    best = share_right(rows, [row["optimal"] for row in rows])
    for rule in product(["label0", "label1"], repeat=4):
        chosen = dict(zip(texts, rule, strict=True))
        assert share_right(rows, [chosen[row["text"]] for row in rows]) <= best


# Drift


def test_progress_of_a_drift_by_hand() -> None:
    assert Drift(5).progress(np.array([0, 4, 5, 6])).tolist() == [0, 0, 1, 1]
    assert_allclose(Drift(5, 3).progress(np.arange(3, 11)), [0, 0, 1 / 4, 2 / 4, 3 / 4, 1, 1, 1])


def most_frequent(rows: list[dict[str, Any]], label: str) -> list[str]:
    """The label's words, most frequent first."""
    words = Counter(word for row in rows if row["label"] == label for word in row["text"].split(" "))
    return [word for word, _ in words.most_common()]


def test_a_drift_moves_words_to_the_next_label() -> None:
    options = {"events": 20_000, "labels": 3, "vocabulary": 6, "separation": 2, "zipf": 1.5, "drift_at": 10_000}
    orders = source(**options).stream.story.orders
    rows = events(**options)
    for k in range(3):
        before, after = ([f"w{w}" for w in orders[row]] for row in (k, (k + 1) % 3))
        assert most_frequent(rows[:10_000], f"label{k}") == before
        assert most_frequent(rows[10_000:], f"label{k}") == after


def test_events_before_the_drift_do_not_change() -> None:
    drifting, still = events(events=3000, drift_at=1500), events(events=3000)
    assert drifting[:1500] == still[:1500]
    assert [row["label"] for row in drifting] == [row["label"] for row in still]
    assert drifting[1500:] != still[1500:]


def test_the_optimum_holds_through_a_sudden_drift() -> None:
    rows = events(events=20_000, drift_at=10_000)
    before, after = (share_right(part, [row["optimal"] for row in part]) for part in (rows[:10_000], rows[10_000:]))
    assert abs(before - after) < 0.02


def test_a_gradual_drift_mixes_the_concepts_in_growing_shares() -> None:
    """Labels far apart: texts reveal their concept. Fifths of the change have 10, 30, 50, 70, 90 % of the new one."""
    options = {"events": 12_000, "separation": 5, "drift_at": 1000, "drift_over": 9999, "words": 40}
    story = source(**options).stream.story
    old = Story(story.prior, story.shares, story.orders, 40)
    rows = events(**options)
    words = np.array([[int(word[1:]) for word in row["text"].split(" ")] for row in rows], np.int32)
    origin = old.optimal(words, np.arange(12_000))
    new = np.array([row["label"] != f"label{k}" for row, k in zip(rows, origin, strict=True)])
    assert not new[:1000].any()
    assert_allclose(new[1000:11_000].reshape(5, 2000).mean(axis=1), [0.1, 0.3, 0.5, 0.7, 0.9], atol=0.045)
    assert new[11_000:].all()


# Options


def test_options_by_default_and_all_given() -> None:
    assert parse_options({}) == SyntheticOptions()
    given = {
        "events": "7",
        "labels": "3",
        "words": "2",
        "vocabulary": "9",
        "seed": "5",
        "zipf": "0.5",
        "separation": "0",
        "prior": "1,1,2",
        "unlabelled": "0.5",
        "drift_at": "0",
        "drift_over": "4",
    }
    assert parse_options(given) == SyntheticOptions(7, 3, 2, 9, 5, 0.5, 0.0, "1,1,2", 0.5, 0, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "4"}, "synthetic://: no option 'label'; did you mean 'labels'?"),
        ({"xyz": "4"}, "no option 'xyz'; choose one of events, labels, words, vocabulary, seed, zipf"),
        ({"events": "-1"}, "synthetic://: events=-1 needs to be a whole number, or inf for an endless stream"),
        ({"events": "1e6"}, "events=1e6 needs"),
        ({"labels": "1"}, "labels=1 needs to be a whole number from 2 to 10,000"),
        ({"words": "0"}, "words=0 needs to be a whole number from 1 to 1,000"),
        ({"vocabulary": "many"}, "vocabulary=many needs to be a whole number from 2"),
        ({"seed": "-3"}, "seed=-3 needs to be a whole number from 0"),
        ({"seed": "٣"}, "seed=٣ needs to be a whole number from 0"),
        ({"zipf": "0"}, "zipf=0 needs to be a number above 0, at most 10"),
        ({"zipf": "nan"}, "zipf=nan needs"),
        ({"separation": "-0.1"}, "separation=-0.1 needs to be a number from 0 to 100"),
        ({"unlabelled": "1.1"}, "unlabelled=1.1 needs to be a share from 0 to 1"),
        ({"prior": "flat"}, "prior=flat needs to be uniform, zipf, or positive shares separated by commas"),
        ({"prior": "1,0"}, "prior=1,0 needs to be uniform, zipf, or positive"),
        ({"prior": "1,2,3"}, "prior=1,2,3 has 3 shares, but labels=2"),
        ({"drift_at": "soon"}, "drift_at=soon needs to be a whole number from 0"),
        ({"drift_over": "10"}, "drift_over=10 needs drift_at"),
        ({"labels": "10000", "vocabulary": "10000"}, "labels=10000 times vocabulary=10000 needs to be at most 50,000,"),
    ],
)
def test_wrong_options_are_refused_with_the_expected_values(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        source(**options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_address_with_a_path_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"synthetic://events=5: takes options only, as in synthetic://\?events"):
        source(address="synthetic://events=5")


def test_write_jsonl_writes_the_streams_lines(tmp_path: Path) -> None:
    path = tmp_path / "small.jsonl"
    write_jsonl(path, **SMALL)
    assert path.read_bytes() == b"\n".join(WHOLE) + b"\n"


def test_write_jsonl_refuses_an_endless_stream(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="an endless stream can't be written to a file"):
        write_jsonl(tmp_path / "endless.jsonl", events=0)
    assert not list(tmp_path.iterdir())
