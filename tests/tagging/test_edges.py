"""What is rare in sentences, and what must never take part in a prediction."""

import json
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlin.config import RunConfig
from streamlin.errors import ConfigError
from streamlin.tagging.admission import TagAdmission
from tests.tagging.running import (
    ALL,
    Sentence,
    assert_same_model,
    batch_of,
    by_row,
    learn,
    new_model,
    predict,
    real_sentences,
    roughened,
)

DOG = Sentence(["the", "dog", "barks"], ["D", "N", "V"])


@pytest.fixture(scope="module")
def real(data):
    return roughened(real_sentences(data / "pos-ud-ewt.jsonl.gz", 40))


def test_nothing_is_predicted_while_no_tag_is_known():
    """Not for the first sentence either: its own tags are no candidates."""
    model = new_model(*ALL)
    outcome = learn(model, [Sentence(["a"], [None]), DOG, Sentence(["dog"], [None])])
    for tags in outcome.tags:
        assert tags[:2] == [[None], [None] * 3]
        assert tags[2] != [None]
    assert np.isnan(outcome.confidences[:, :2]).all()


def test_empty_sentences_change_nothing():
    model, plain = new_model(*ALL), new_model(*ALL)
    outcome = learn(model, [Sentence([], []), DOG, Sentence([], []), DOG, Sentence([], [])])
    expected = learn(plain, [DOG, DOG])
    assert [[tags for tags in own if tags] for own in outcome.tags] == expected.tags
    arrays, plain_arrays = model.state()[0], plain.state()[0]
    for name in (name for name in arrays if name.startswith("learners/")):
        assert np.array_equal(arrays[name], plain_arrays[name]), name


def test_sentences_of_one_token_are_learned():
    model = new_model(*ALL)
    learn(model, [Sentence(["yes"], ["X"]), Sentence(["no"], ["Y"])] * 20)
    outcome = predict(model, [Sentence(["yes"], [None]), Sentence(["no"], [None])])
    assert outcome.tags == [[["X"], ["Y"]]] * 4


def test_a_stream_of_empty_sentences_has_predictions():
    outcome = learn(new_model(*ALL), [Sentence([], [])] * 3)
    assert [json.loads(line)["predicted"] for line in outcome.lines.splitlines()] == [[], [], []]


def test_unknown_words_get_a_tag_from_their_shape(data):
    """After 300 sentences, a new word with a number's shape is a number for every tagger."""
    model = new_model(*ALL)
    learn(model, real_sentences(data / "pos-ud-ewt.jsonl.gz", 300))
    outcome = predict(model, [Sentence(["They", "bought", "917346", "zqxors", "."], [None] * 5)])
    for (tags,) in outcome.tags:
        assert tags[2] == "NUM"
        assert tags[4] == "PUNCT"


def test_sentences_without_tags_teach_nothing(real):
    """Neither do those of weight 0."""
    model, plain = new_model(*ALL), new_model(*ALL)
    learn(model, real)
    learn(plain, real)
    learn(model, [Sentence(s.tokens, [None] * len(s.tokens)) for s in real])
    learn(model, [s._replace(weight=0.0) for s in real])
    learn(model, [Sentence(["unheard", "of"], ["BRAND", "NEW"], 0.0)])
    assert_same_model_but_counts(model, plain)
    assert "BRAND" not in model.labels.names


def assert_same_model_but_counts(model, other):
    """All arrays, bit for bit."""
    arrays, others = model.state()[0], other.state()[0]
    for name in arrays:
        assert np.array_equal(arrays[name], others[name], equal_nan=arrays[name].dtype.kind == "f"), name
    assert model.labels.names == other.labels.names


def test_a_tag_that_appears_in_the_last_sentence_is_no_candidate_there(real):
    """It is one afterwards."""
    model, plain = new_model(*ALL), new_model(*ALL)
    late = Sentence(["zwrf", "the"], ["LATE", "DET"])
    whole = learn(model, [*real, late], size=500)
    assert whole.tags[0][-1] == learn(plain, [*real, Sentence(late.tokens, [None, None])], size=500).tags[0][-1]
    assert all("LATE" not in tags for own in whole.tags for tags in own)
    learn(model, [late] * 30)
    assert [own[0][0] for own in predict(model, [Sentence(["zwrf"], [None])]).tags] == ["LATE"] * 4


@settings(max_examples=15)
@given(st.data())
def test_hiding_a_sentence_leaves_its_prediction(real, data):
    """Its tags, and rows and tags that it brings, take no part; in a batch with the sentences around it."""
    at = data.draw(st.integers(0, len(real) - 1))
    hidden = [*real[:at], Sentence(real[at].tokens, [None] * len(real[at].tokens)), *real[at + 1 :]]
    seen, blind = learn(new_model(*ALL), real, size=500), learn(new_model(*ALL), hidden, size=500)
    for own, other in zip(seen.tags, blind.tags, strict=True):
        assert own[: at + 1] == other[: at + 1]
    assert np.array_equal(seen.confidences[:, : at + 1], blind.confidences[:, : at + 1], equal_nan=True)


def test_predicting_is_what_learning_would_have_predicted(real):
    """And it changes nothing."""
    model, plain, batch = new_model(*ALL), new_model(*ALL), batch_of(real)
    for i in range(len(real)):
        guess, before = predict(model, batch[i : i + 1]), learn(model, batch[i : i + 1])
        assert guess.tags == before.tags
        assert np.array_equal(guess.confidences, before.confidences, equal_nan=True)
    learn(plain, batch, size=1)
    assert_same_model(model, plain)


def test_a_hundred_thousand_tokens_in_one_sentence():
    """The sentences around it are learned as ever."""
    words = [f"w{i % 1000}" for i in range(100_000)]
    long = Sentence(words, ["ODD" if i % 2 else "EVEN" for i in range(100_000)])
    model = new_model(*ALL)
    outcome = learn(model, [DOG, long, DOG, Sentence(words, [None] * len(words))], size=2)
    assert [len(own[1]) for own in outcome.tags] == [100_000] * 4
    for own in outcome.tags:
        assert np.mean([tag == truth for tag, truth in zip(own[3], long.tags, strict=True)]) > 0.9
    assert np.isfinite(outcome.confidences[[0, 1, 3], 1:]).all()


def test_too_many_tags_end_the_run_before_they_are_learned():
    """The error names the key, and the first tag too many; those of sentences of weight 0 do not count."""
    model = new_model(*ALL)
    admission = TagAdmission(model, RunConfig(task="tagging", pipeline={"max_labels": 3}))

    def admit(sentence):
        batch = batch_of([sentence])
        features = model.featurize(batch)
        if not admission.fits(batch, features):
            admission.check(batch, features)

    admit(DOG)
    learn(model, [DOG])
    admit(DOG)
    admit(Sentence(["a"], ["W"], 0.0))
    with pytest.raises(ConfigError, match=r"pipeline.max_labels: found more than 3 tags, 'W' at -:0 is one too many"):
        admit(Sentence(["a", "b"], ["W", None]))
    assert model.labels.names == ["D", "N", "V"]


@pytest.mark.parametrize("most", [1, 50, 500])
def test_rows_are_bounded_whatever_the_batches(real, most):
    """One notice tells it; predictions and arrays are those of other batches."""
    models = [new_model(*ALL, features={"max_rows": most}) for _ in "123"]
    outcomes = [learn(model, real, size=size) for model, size in zip(models, (1, 7, 500), strict=True)]
    for model, outcome in zip(models, outcomes, strict=True):
        assert len(model.rows["tokens"]) == most >= len(model.rows["contexts"])
        assert outcome.lines == outcomes[0].lines
        assert_same_model(model, models[0])
    for model in models:
        (notice,) = model.pop_notices()
        assert notice == f"features.max_rows: there are {most:,} features, further ones are ignored"
        learn(model, real)
        assert model.pop_notices() == []


def test_features_within_the_bound_are_learned_as_without_it(real):
    """A bound that is never reached changes nothing, and no notice speaks of it."""
    bounded, free = new_model(*ALL, features={"max_rows": 1_000_000}), new_model(*ALL)
    assert learn(bounded, real).lines == learn(free, real).lines
    assert bounded.pop_notices() == []


def test_a_sentence_of_equal_tokens_keeps_its_features_apart():
    """The same word may have two tags in one sentence."""
    model = new_model(*ALL)
    sentence = Sentence(["can", "can", "can"], ["X", "Y", "X"])
    learn(model, [sentence] * 60)
    assert predict(model, [sentence]).tags[0] == [["X", "Y", "X"]]


def test_thousands_of_tags_are_learned():
    """More than the sums' threshold leaves apart while all are equally probable."""
    sentence = Sentence([f"w{i}" for i in range(1500)], [f"T{i}" for i in range(1500)])
    model = new_model("crf")
    learn(model, [sentence])
    weights = by_row(model.learners["crf"], "weights", len(model.rows["tokens"]))[:, :1500]
    assert np.isfinite(weights).all()
    outcome = predict(model, [Sentence(["w7", "w8"], [None, None])])
    assert outcome.tags == [[["T7", "T8"]]]
    assert 0 < outcome.confidences[0, 0] < 0.9


def test_new_rows_are_not_too_few_while_others_are_learned():
    """The service counts them on a thread of its own, and accepts what they leave room for."""
    model = new_model(*ALL)
    admission = TagAdmission(model, RunConfig(task="tagging"))
    features = model.featurize(batch_of([Sentence([f"asked{i}" for i in range(20)], ["A"] * 20)]))
    counted, is_over = [], threading.Event()

    def count() -> None:
        while not is_over.is_set():
            counted.append(admission.new_rows(features))

    counting = threading.Thread(target=count)
    counting.start()
    learn(model, [Sentence([f"{j} {i}" for i in range(20)], [*"AB"] * 10) for j in range(300)], size=1)
    is_over.set()
    counting.join()
    left = admission.new_rows(features)
    assert len(counted) > 100
    assert all(own[kind] >= left[kind] for own in counted for kind in left)
