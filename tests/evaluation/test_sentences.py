"""Everything that is counted about taggers, against lists of sentences."""

import itertools
import json
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.config import EvaluationConfig
from streamlin.evaluation.report import report_of
from streamlin.evaluation.tagging import TaggingPrequential
from streamlin.events import LabelIndex
from streamlin.features.murmur3 import murmur3_32
from tests.naive_sentences import Judged, NaiveTagging

LEARNERS, WINDOW, FADING = ["first", "second"], 3, 0.8
SPAN_TAGS = ["O", "B-X", "I-X", "B-Y"]
PREFIXES = {"running": "", "window": "window_", "fading": "fading_"}


@st.composite
def streams(draw, tags=SPAN_TAGS):
    """Sentences of up to five tokens, some tags hidden, some predictions absent, some of weight 0."""
    tag, word = st.sampled_from(tags), st.sampled_from("abcd")

    def sentence(n):
        def of(values):
            return st.lists(values, min_size=n, max_size=n)

        hidden = st.sampled_from([of(tag), of(tag), of(st.none() | tag), of(st.none())]).flatmap(lambda own: own)
        weight = st.sampled_from([1.0, 1.0, 2.0, 0.5, 0.0])
        return st.builds(Judged, of(word), hidden, st.tuples(of(st.none() | tag), of(tag)), weight)

    return draw(st.lists(st.integers(0, 5).flatmap(sentence), max_size=12))


class Run:
    """A measure that is told of sentences in batches; a tag that was not learned yet is no prediction."""

    def __init__(self, **config):
        self.config = EvaluationConfig(window=WINDOW, fading=FADING, **config)
        self.prequential, self.labels = TaggingPrequential(LEARNERS, self.config), LabelIndex()
        self.lead, self.baseline = [], []

    def step(self, sentences):
        weights = np.array([s.weight for s in sentences], np.float64)
        tags = [tag if s.weight > 0 else None for s in sentences for tag in s.tags]
        codes = self.labels.learn(tags)
        bounds = np.cumsum([0, *(len(s.words) for s in sentences)])
        predicted = np.array(
            [[self.labels.code(tag) for s in sentences for tag in s.predicted[m]] for m in range(2)], np.int32
        ).reshape(2, -1)
        words = np.array([hash_of(word) for s in sentences for word in s.words], np.uint32)
        lead, baselines, _ = self.prequential.count(predicted, codes, bounds, weights, words, self.labels, {})
        self.lead += lead.tolist()
        self.baseline += [[*self.labels.names, None][code] for code in baselines[0]]

    def report(self):
        return report_of(self.prequential, self.labels)


def hash_of(word):
    data = np.frombuffer(word.encode(), np.uint8)
    return np.uint32(murmur3_32(data, np.int64(0), np.int64(data.size)) & 0xFFFFFFFF)


def known_only(sentences):
    """The same sentences, where tags are predicted only once they were learned, as taggers do."""
    seen, kept = set(), []
    for words, tags, predicted, weight in sentences:
        own = tuple([tag if tag in seen else None for tag in guess] for guess in predicted)
        kept.append(Judged(words, tags, own, weight))
        seen |= {tag for tag in tags if tag is not None} if weight > 0 else set()
    return kept


@given(streams(), st.lists(st.integers(0, 12), max_size=4))
def test_all_figures_are_those_of_a_list_of_sentences(stream, cuts):
    stream = known_only(stream)
    run, twin = Run(), NaiveTagging(2, WINDOW, FADING)
    bounds = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    for begin, end in itertools.pairwise(bounds):
        run.step(stream[begin:end])
    baseline = [tag for sentence in stream for tag in twin.step(sentence)]
    assert (run.baseline, run.lead) == (baseline, twin.leads)
    report = run.report()
    rows = [*(report["learners"][name] for name in LEARNERS), report["baselines"]["commonest_tag"]]
    has_spans = any(tag not in (None, "O") for s in twin.sentences for tag in s[0].tags)
    for m, row in enumerate(rows):
        for span, prefix in PREFIXES.items():
            for key, value in twin.figures(m, span).items():
                if prefix + key in row and (has_spans or key not in ("f1", "precision", "recall")):
                    found = np.nan if row[prefix + key] is None else row[prefix + key]
                    assert_allclose(found, np.nan if value is None else value, atol=1e-9, err_msg=prefix + key)
        assert_allclose(none_as_nan(row["interval"]), none_as_nan(twin.interval(m)), atol=1e-6)
    only, window = run.prequential.sums("running").only, run.prequential.sums("window").only
    for a in range(3):
        for b in range(3):
            assert (only[a, b], window[a, b]) == (twin.better(a, b), twin.better(a, b, True))


def none_as_nan(interval):
    return [np.nan, np.nan] if interval is None else list(interval)


def test_the_report_has_every_figure():
    """By hand: 3 of 4 tokens; 1 of 2 sentences; 1 of 2 spans found, 1 of 1 predicted; the word a is known at last."""
    run = Run()
    run.step([Judged(["a", "b"], ["B-X", "O"], (["B-X", "O"],) * 2, 1.0)])
    run.step([Judged(["a", "c"], ["B-X", "O"], (["O", "O"],) * 2, 1.0)])
    row = run.report()["learners"]["first"]
    assert row["accuracy"] == 0.75
    assert row["sentences_right"] == 0.5
    assert (row["precision"], row["recall"]) == (1.0, 0.5)
    assert row["f1"] == pytest.approx(2 / 3)
    assert (row["known_accuracy"], row["unknown_accuracy"]) == (0.0, 1.0)


def test_spans_are_counted_while_all_tags_look_like_them():
    """A tag of another form ends it."""
    run = Run()
    run.step([Judged(["a"], ["B-X"], (["B-X"],) * 2, 1.0)])
    assert run.report()["learners"]["first"]["f1"] == 1.0
    run.step([Judged(["a"], ["NOUN"], (["B-X"],) * 2, 1.0)])
    assert "f1" not in run.report()["learners"]["first"]


def test_spans_before_another_tag_count_whatever_the_batches():
    """The tag is in a sentence behind that of a span, in the same batch or in the next one."""
    stream = known_only([Judged(["a"], [tag], (["B-X"], ["O"]), 1.0) for tag in ("B-X", "O", "NOUN", "B-X")])
    whole, parts = Run(), Run()
    whole.step(stream)
    for sentence in stream:
        parts.step([sentence])
    assert whole.prequential.sentences.totals("running").shared.tolist() == [4.0, 3.0, 4.0, 1.0]
    assert_array_equal(whole.prequential.sentences.shared, parts.prequential.sentences.shared)
    assert_array_equal(whole.prequential.sentences.own, parts.prequential.sentences.own)


@given(streams() | streams(["O", "B-X", "NOUN"]), st.integers(1, 5))
def test_batches_and_a_restart_change_nothing(stream, size):
    """Arrays, bit for bit, and the report."""
    stream = known_only(stream)
    whole, parts = Run(), Run()
    whole.step(stream)
    for begin in range(0, len(stream), size):
        arrays, rest = parts.prequential.state()
        after = Run()
        after.prequential.restore({name: array.copy() for name, array in arrays.items()}, json.loads(json.dumps(rest)))
        after.labels, after.lead, after.baseline = LabelIndex(parts.labels.names), parts.lead, parts.baseline
        after.prequential.know_tags(after.labels)
        parts = after
        parts.step(stream[begin : begin + size])
    assert (parts.lead, parts.baseline) == (whole.lead, whole.baseline)
    for name, array in whole.prequential.state()[0].items():
        assert_array_equal(array, parts.prequential.state()[0][name], err_msg=name, strict=True)
    assert whole.report() == parts.report()


def test_the_configured_lead_is_given_out():
    run = Run(lead="second")
    run.step([Judged(["a"], ["X"], (["X"], ["X"]), 1.0)])
    assert run.lead == [1]


def test_mcnemar_counts_sentences():
    """The first is better in all of five sentences of ten tokens: p of the sign test, not of fifty tokens."""
    run = Run()
    run.step([Judged(["a"] * 10, ["X"] * 10, (["X"] * 10, [None] * 10), 1.0)] * 5)
    (pair,) = [pair for pair in run.report()["pairs"] if {pair["first"], pair["second"]} == set(LEARNERS)]
    assert (pair["only_first"], pair["only_second"]) == (5, 0)
    assert pair["p"] == pytest.approx(2 * comb(5, 0) / 2**5)


@pytest.mark.parametrize("size", [1, 7, 400])
def test_drift_watches_whole_sentences_and_numbers_them(size):
    """The first is right 200 times, then has one of two tokens wrong; sentences without a tag are not numbered."""
    right = Judged(["a", "b"], ["O", "B-X"], (["O", "B-X"], ["O", "B-X"]), 1.0)
    wrong = right._replace(predicted=(["O", "O"], ["O", "B-X"]))
    unknown = Judged(["a"], [None], (["O"], ["O"]), 1.0)
    sentences = [*[right, unknown] * 200, *[wrong, unknown] * 200]
    run, alarms = Run(), []
    for begin in range(0, len(sentences), size):
        run.step(sentences[begin : begin + size])
        alarms += run.prequential.new_alarms
    (alarm,) = alarms
    assert (alarm["learner"], alarm["before"]) == ("first", 1.0)
    assert 200 < alarm["labelled"] < 264
    assert report_of(run.prequential, run.labels)["drift"] == {
        "of": "sentence accuracy",
        "alarms": 1,
        "falls": 1,
        "last_alarms": [alarm],
    }
