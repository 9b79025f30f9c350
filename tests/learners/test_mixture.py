"""The mixture, by hand, beside its twin, and on real streams with its members."""

from copy import deepcopy
from math import exp, inf, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from connectors.synthetic.options import parse_options
from connectors.synthetic.source import SyntheticStream
from streamlin import Pipeline
from streamlin.config.loading import load_config
from streamlin.config.presets import PRESETS
from streamlin.evaluation import Prequential
from streamlin.events import single_records
from streamlin.formats import open_format
from streamlin.learners import Mixture, targets
from streamlin.learners.mixing import Change
from streamlin.learners.targets import no_targets
from streamlin.model import Model
from tests.naive_mixture import NaiveMixture
from tests.naive_mixture import mixed as naive_mixed
from tests.sample_streams import batches, read_events, thinned


def mixed(mixture, scores, codes, n_known=0, weights=None):
    """The mixture's scores of a batch, from the members' scores [M, n, n_labels]."""
    scores, codes = np.array(scores, np.float64), np.array(codes, np.int32)
    mixture.grow(scores.shape[2])
    out = np.empty(scores.shape[1:])
    weights = np.ones(codes.size) if weights is None else np.array(weights, np.float64)
    mixture.score_then_learn(scores, targets(codes, weights, n_known), out)
    return out


def test_two_members_by_hand():
    """Two labels known; scores (1, -1) and (0, 2): centred (1, -1) and (-1, 1), variance 1 each, so nothing is scaled.

    With w = 0.75 each they cancel: z = (0, 0), p = 1/2 each, so the output's temperature is e^0 = 1 and scores are 0.
    The label is 0: errors are (-1/2, 1/2). w's gradients: -1 and 1, the first Adagrad step is 0.05: w = (0.8, 0.7).
    v: gradients -1/2 each for member 0, 1/2 for member 1; squares 1/2: steps 0.02 * (1/2) / sqrt(1/2) = 0.02 / sqrt(2).
    t's gradient: tanh(1) - 1 < 0 for member 0, tanh(1) + 1 > 0 for member 1: steps 0.1: t = (0.1, -0.1).
    The spreads are 1 each, seen is 1. The same scores again: c = e^0.1 (1, -1) and e^-0.1 (-1, 1).
    """
    mixture = Mixture(2)
    scores = [[[1, -1]], [[0, 2]]]
    assert mixed(mixture, scores, [0], n_known=2).tolist() == [[0, 0]]
    assert_allclose(mixture.weights, [0.8, 0.7], rtol=1e-9)
    step = 0.02 / sqrt(2)
    assert_allclose(mixture.label_weights, [[step, -step], [step, -step]], rtol=1e-9)
    assert_allclose(mixture.temperatures, [0.1, -0.1], rtol=1e-9)
    z = (0.8 + step) * exp(0.1) - (0.7 - step) * exp(-0.1)
    assert_allclose(mixed(mixture, scores, [-1], n_known=2), [[0, -2 * z]], rtol=1e-9)


def test_first_variances_by_hand():
    """Scores (20, 0): centred (10, -10), variance 100; the first variance is 10. With w = 1 they get 20 / sqrt V apart.

    Before the first label V = 10. With a mean of 100 and 500 seen, f = 1 - 0.001 * 500 = 1/2: V = 5 + 50; with 1,000,
    all there can be, f = 0 and V = 100. Scores (2, 0) have a variance of 1, below the first: V = 1.
    """
    for seen, scores, expected in ((0, 20, 10), (500, 20, 55), (1000, 20, 100), (500, 2, 1)):
        mixture = Mixture(1, [1.0], [10.0])
        mixture.seen[()], mixture.spreads[:] = seen, seen * scores**2 / 4
        found = mixed(mixture, [[[scores, 0]]], [-1], n_known=2)
        assert_allclose(found, [[0, -scores / sqrt(expected)]], rtol=1e-12)


def test_changes_of_shards_by_hand():
    """Three shards change w_0 by 0.1, 0.2 and 0.3, their mean 0.2; two of them by 0.1 and 0.3, the same mean.

    With one event each three of them go almost three times as far as one, so the bound holds: sqrt(3) times the mean.
    150 and 300 events go 1 - 1/e and 1 - 1/e^2 of the way, 450 of them 1 - 1/e^3: that for the sum of both, over two.
    What fades, as the sum of squares, moves by the mean; the second shard's labels have the codes 1 and 0.
    """
    labels = [np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([0, 1], np.int32)]

    def change(shard, step, events):
        none = {name: np.zeros_like(getattr(Mixture(2), name)) for name in Mixture.tables}
        own = {"weights": [step, 0.0], "weight_squares": [step, 0.0], "label_weights": [[step, 0.0], [0.0, 0.0]]}
        given = {name: np.array(table) for name, table in own.items()} | {"events": np.array(float(events))}
        return Change(np.zeros(0, np.int32), labels[shard], {}, none | given)

    mixture = Mixture(2)
    mixture.grow(2)
    mixture.mix([change(0, 0.1, 1), change(1, 0.2, 1), change(2, 0.3, 1)])
    assert_allclose(mixture.weights, [0.75 + sqrt(3) * 0.2, 0.75])
    assert_allclose(mixture.weight_squares, [0.2, 0.0])
    assert_allclose(mixture.label_weights, [[sqrt(3) * 0.4 / 3, 0], [sqrt(3) * 0.2 / 3, 0]])
    mixture = Mixture(2)
    mixture.grow(2)
    mixture.mix([change(0, 0.1, 150), change(2, 0.3, 300)])
    factor = (1 - exp(-3)) / (2 - exp(-1) - exp(-2))
    assert 0.5 < factor < 1 / sqrt(2)
    assert_allclose(mixture.weights, [0.75 + factor * 0.4, 0.75])


def test_members_start_with_the_weights_that_are_given():
    """As above, but w = (1, 1/2): z = (1/2, -1/2), so the better label scores 0, the other one -1."""
    mixture = Mixture(2, [1.0, 0.5])
    assert mixed(mixture, [[[1, -1]], [[0, 2]]], [-1], n_known=2).tolist() == [[0, -1]]


def test_a_label_not_yet_known_teaches_no_weight():
    mixture = Mixture(2)
    out = mixed(mixture, [[[1, -1, -inf]], [[2, 0, -inf]]], [2], n_known=2)
    assert out[0, 2] == -inf
    assert mixture.seen == 1
    assert mixture.weights.tolist() == [0.75, 0.75]
    assert not mixture.label_weights.any()


def test_without_labels_nothing_changes():
    mixture = Mixture(2)
    mixed(mixture, [[[1, -1]], [[0, 2]]], [0], n_known=2)
    before = {name: array.copy() for name, array in mixture.state(2).items()}
    out = np.empty((3, 2))
    mixture.score_then_learn(np.ones((2, 3, 2)), no_targets(3, 2), out)
    for name, array in mixture.state(2).items():
        assert_array_equal(array, before[name])
    assert out.tolist() == [[0, 0]] * 3


def test_overflowed_scores_are_ignored():
    mixture = Mixture(2)
    out = mixed(mixture, [[[inf, -1.0]], [[2.0, 0.0]]], [0], n_known=2)
    assert out[0, 0] > out[0, 1]
    assert all(np.isfinite(array).all() for array in mixture.state(2).values())


value = st.floats(-50, 50, width=32)


@st.composite
def score_streams(draw):
    """Members' scores [M, n, K], codes in order of first sight, weights."""
    members, n = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    codes, known = [], 0
    for _ in range(n):
        codes.append(draw(st.integers(-1, known)))
        known = max(known, codes[-1] + 1)
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n))
    scores = draw(st.lists(value, min_size=members * n * known, max_size=members * n * known))
    return np.array(scores).reshape(members, n, known), codes, weights


@given(score_streams(), st.integers(1, 5), st.booleans(), st.sampled_from([0.01, 10.0, None]))
def test_any_stream_gives_the_scores_of_the_twin(stream, size, given_start, variance):
    scores, codes, weights = stream
    start = [0.5 / m for m in range(1, 1 + len(scores))] if given_start else []
    given = start, [variance, *[inf] * (len(scores) - 1)] if variance else []
    mixture, twin, known = Mixture(len(scores), *given), NaiveMixture(len(scores), *given), 0
    for begin in range(0, len(codes), size):
        part = slice(begin, begin + size)
        n_labels = max([known, *(code + 1 for code in codes[part])])
        ours = mixed(mixture, scores[:, part, :n_labels], codes[part], known, weights[part])
        for i, code in enumerate(codes[part]):
            own = [member[begin + i, :known].tolist() for member in scores]
            assert ours[i, :known].tolist() == twin.step(own, code, weights[begin + i])
            assert (ours[i, known:] == -inf).all()
            known = max(known, code + 1)
    assert mixture.weights.tolist() == twin.w
    assert mixture.temperatures.tolist() == twin.t


@given(score_streams(), st.integers(1, 4))
def test_shards_are_mixed_as_by_the_twin(stream, n_shards):
    """Two rounds of shards that know all labels; what each has changed is added to the mixture from before."""
    scores, codes, weights = stream
    members, _, n_labels = scores.shape
    mixture, twin = Mixture(members), NaiveMixture(members)
    for _ in range(2):
        changes, twins = [], []
        for events in (range(shard, len(codes), n_shards) for shard in range(n_shards)):
            if not any(codes[i] >= 0 for i in events):
                continue
            own, naive = deepcopy(mixture), deepcopy(twin)
            mixed(own, scores[:, events], [codes[i] for i in events], n_labels, [weights[i] for i in events])
            for i in events:
                naive.step(scores[:, i].tolist(), codes[i], weights[i])
            mixture.grow(n_labels)
            moved = {name: getattr(own, name) - getattr(mixture, name) for name in Mixture.tables}
            moved["label_weights"] = moved["label_weights"][:n_labels]
            changes.append(Change(np.zeros(0, np.int32), np.arange(n_labels, dtype=np.int32), {}, moved))
            twins.append(naive)
        if changes:
            mixture.mix(changes)
            twin = naive_mixed(twin, twins)
    assert mixture.weights.tolist() == twin.w
    assert mixture.temperatures.tolist() == twin.t
    assert mixture.output.tolist() == twin.output
    assert mixture.weight_squares.tolist() == twin.w_squares
    assert float(mixture.seen) == twin.seen
    assert float(mixture.events) == 0, "not in a checkpoint: differences to any other number are rounded otherwise"
    for (m, k), value in twin.v.items():
        assert mixture.label_weights[k, m] == value


@given(score_streams(), st.data())
def test_the_linear_form_reproduces_the_scores_of_a_text(stream, data):
    """After any stream, even without labels, scores are factors times centred scores minus the offset."""
    scores, codes, weights = stream
    n_labels = scores.shape[2]
    assume(n_labels)
    mixture = Mixture(len(scores), None, data.draw(st.sampled_from([None, [10.0] * len(scores)])))
    learned = data.draw(st.integers(0, len(codes)))
    mixed(mixture, scores[:, :learned], codes[:learned], 0, weights[:learned])
    members = scores[:, -1]
    factors, lift = mixture.linear(members)
    centred = members - members.mean(axis=1, keepdims=True)
    found = mixed(mixture, members[:, None], [-1], n_labels)[0]
    added = factors * centred
    size = 1.0 + np.abs(added).max(initial=0.0)  # what is left of large numbers is as exact as they are
    assert_allclose(added.sum(axis=0) - lift, found, rtol=1e-9, atol=1e-12 * size)


def run(events, size=250):
    """A model of the preset that has learned events."""
    model = Model(load_config(flags={"preset": "accurate"}, environment={}))
    for batch in batches(events, size):
        model.step(batch, model.featurize(batch))
    return model


def accuracies(prequential: Prequential):
    return dict(zip(prequential.learners, prequential.tally.running().tolist(), strict=False))


@pytest.mark.parametrize(("name", "n", "vw"), [("sms-spam", 5574, 0.9794), ("trec-6", 5952, 0.801)])
def test_a_mixture_beats_its_members_and_vowpal_wabbit(data, name, n, vw):
    """Vowpal Wabbit's accuracies are the best of five configurations, in a single pass over the same events."""
    *members, mixture = accuracies(run(read_events(data / f"{name}.jsonl.gz", n)).prequential).values()
    assert mixture > vw
    assert mixture > max(members)


def test_with_few_labels_the_start_of_the_preset_pays(data):
    """sms-spam with 5 % of its labels, over all events: 1 point above naive Bayes, 0.3 above an equal start."""
    events = read_events(data / "sms-spam.jsonl.gz", 5574)
    labels, shown = [event.label for event in events], np.random.default_rng(0).random(5574) < 0.05
    preset = PRESETS["accurate"]
    members = [learner.get("name", learner["kind"]) for learner in preset["learners"][:-1]]
    alike = {"kind": "mixture", "name": "alike", "members": members}
    pipeline = Pipeline(features=preset["features"], learners=[*preset["learners"], alike])
    masked = [
        {"text": event.text, "label": event.label if show else None} for event, show in zip(events, shown, strict=True)
    ]
    found = [prediction.learners for prediction in pipeline.run(masked)]
    right = {name: np.mean([row[name] == label for row, label in zip(found, labels, strict=True)]) for name in found[0]}
    assert right["mixture"] > right["naive_bayes"] + 0.01
    assert right["mixture"] > right["alike"] + 0.003


def test_batches_and_hidden_labels_change_nothing(data):
    """Batches of 1, 7 and all events; hiding a label does not change the prediction of its event."""
    events = thinned(read_events(data / "trec-6.jsonl.gz", 150))
    whole = run(events, size=150)
    for size in (1, 7):
        parts = run(events, size=size)
        for (name, ours), theirs in zip(parts.state()[0].items(), whole.state()[0].values(), strict=True):
            assert_array_equal(ours, theirs, err_msg=name)


def test_a_mixture_adapts_when_topics_swap():
    """Within 2,000 events after the swap accuracy is back at 95 % of that in the 1,000 events before."""
    stream = SyntheticStream(parse_options({"events": "12000", "labels": "2", "seed": "3", "drift_at": "10000"}))
    config = load_config(flags={"preset": "accurate"}, sets=["features.chars.ngrams=[1, 3]"], environment={})
    decoder = open_format("json", {}, config.fields, ())
    model, window = Model(config), []
    for begin in range(0, 12_000, 1000):
        lines, _ = stream.lines(begin, begin + 1000)
        batch, _ = decoder.decode(single_records(lines.splitlines()))
        model.step(batch, model.featurize(batch))
        window.append(model.prequential.tally.windowed()[len(model.names) - 1])
    assert window[11] >= 0.95 * window[9]
