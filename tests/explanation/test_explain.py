"""Explanations: contributions sum to the scores for every learner; what they contain."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.config.loading import load_config
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Event
from streamlin.explanation import explain
from tests import naive_features as naive
from tests.explanation.models import EVERY, VIEWS, checked, events_of, taught
from tests.features.batches import texts
from tests.sample_streams import batch_of, batches, read_events, thinned

words = st.lists(st.sampled_from(["win", "a", "Prize", "now", "lunch", "12", "é"]), max_size=6).map(" ".join)
streams = st.lists(
    st.builds(Event, words, st.none() | st.sampled_from("abc"), weight=st.sampled_from([0.0, 0.5, 1.0, 2.0])),
    max_size=25,
)


@settings(max_examples=40, deadline=None)
@given(streams, words | texts)
def test_base_and_contributions_sum_to_the_score(events, text):
    """Every learner, variants and mixtures, whatever was learned, whatever the text."""
    checked(taught(events), text)


@pytest.mark.parametrize(
    ("name", "n"), [("sms-spam.jsonl.gz", 600), ("trec-6.jsonl.gz", 500), ("clinc150.jsonl.gz", 400)]
)
def test_contributions_sum_to_the_score_on_real_streams(data, name, n):
    events = thinned(read_events(data / name, n + 10))
    model = taught(events[:n], features=VIEWS | {"bits": 18})
    for event in events[n:]:
        checked(model, event.text)


def test_contributions_sum_to_the_score_with_preset_accurate(data):
    events = read_events(data / "sms-spam.jsonl.gz", 420)
    config = load_config(flags={"preset": "accurate"}, environment={})
    model = taught(events[:400], config.model_dump()["learners"], features={**config.model_dump()["features"]["views"]})
    for event in events[400:]:
        explanation = checked(model, event.text)
        views = [features.view for features in explanation.learners["mixture"].views]
        assert views == ["words", "shape", "first", "head", "whitespace", "skip", "chars"]


def test_a_perceptron_by_hand():
    """The first event has no rival. In the second, "b c" of y, x is said: W_y += 1 and W_x -= 1 for b, b c, c, bias.

    Then "c d" has c alone: for x -1 and the bias -1, for y +1 and the bias +1.
    """
    pairs = [("a b", "x"), ("b c", "y")]
    model = taught(events_of(*pairs), [{"kind": "perceptron"}], features={})
    [reasons] = checked(model, "c d").learners.values()
    assert reasons.predicted == "y"
    assert reasons.base_name == "bias"
    assert reasons.base.tolist() == [-1.0, 1.0]
    [reason], rest = reasons.heaviest(5)
    assert reason.feature.ngrams == ["c"]
    assert reason.feature.spans == [(0, 1)]
    assert reason.added.tolist() == [-1.0, 1.0]
    assert rest.tolist() == [0.0, 0.0]
    assert reasons.unseen(5) == ["c d", "d"]
    assert reasons.n_unseen == 2


def test_naive_bayes_by_hand():
    """x has seen a and a a, y has seen b: V = 3, N_x = 2, N_y = 1, alpha = 0.3.

    log theta_x of a is log (1 + 0.3) / (2 + 0.9), log theta_y is log 0.3 / (1 + 0.9); the prior is log 1/2 for both.
    """
    model = taught(events_of(("a a", "x"), ("b", "y")), [{"kind": "naive_bayes"}], features={})
    [reasons] = checked(model, "a").learners.values()
    assert reasons.base_name == "prior"
    assert_allclose(reasons.base, np.log([0.5, 0.5]))
    assert_allclose(reasons.added, [np.log([1.3 / 2.9, 0.3 / 1.9])])


def test_heaviest_features_come_first_and_the_rest_is_summed(data):
    events = read_events(data / "sms-spam.jsonl.gz", 400)
    model = taught(events)
    for reasons in checked(model, events[-1].text).learners.values():
        everything, nothing = reasons.heaviest(10_000)
        assert len(everything) == len(reasons.added)
        assert not nothing.any()
        code = reasons.labels.index(reasons.predicted)
        weights = [abs(reason.added[code] - reason.added.mean()) for reason in everything]
        assert weights == sorted(weights, reverse=True)
        some, rest = reasons.heaviest(3)
        assert [reason.feature for reason in some] == [reason.feature for reason in everything[:3]]
        assert_allclose(sum(reason.added for reason in some) + rest, reasons.added.sum(axis=0), atol=1e-9)


def test_features_have_their_ngrams_and_locations():
    model = taught(events_of(("win a prize", "x"), ("lunch", "y")), [{"kind": "naive_bayes"}], features={})
    text = "Win WIN a\tprize\nnow"
    [reasons] = checked(model, text).learners.values()
    told = {tuple(reason.feature.ngrams): reason.feature.spans for reason in reasons.heaviest(99)[0]}
    assert told == {
        ("win",): [(0, 3), (4, 7)],
        ("win a",): [(4, 9)],
        ("a",): [(8, 9)],
        ("a prize",): [(8, 15)],
        ("prize",): [(10, 15)],
    }
    assert reasons.unseen(2) == ["win win", "prize now"]


def test_ngrams_in_one_bucket_are_one_feature():
    """With one bit; also n-grams of other texts, if names are kept."""
    features = {"bits": 1, "names": 10, "words": {"ngrams": [1, 1]}}
    model = taught(events_of(("a b c d", "x"), ("e f", "y")), [{"kind": "naive_bayes"}], features=features)
    [reasons] = checked(model, "d c b").learners.values()
    found = [reason.feature for reason in reasons.heaviest(9)[0]]
    assert sorted(ngram for feature in found for ngram in feature.ngrams) == ["b", "c", "d"]
    told = {naive.bucket(ngram, 1) for ngram in "bcd"}
    others = [ngram for ngram in "aef" if naive.bucket(ngram, 1) in told]
    assert sorted(ngram for feature in found for ngram in feature.also) == others != []


def test_a_category_is_a_feature():
    events = [Event("a", label, extra={"product": value}) for label, value in (("x", "card"), ("y", "loan")) * 3]
    fields = {"categories": ["product"]}
    model = taught(events, [{"kind": "perceptron"}], features={}, fields=fields)
    [reasons] = explain(model, "a", categories={"product": "loan"}).learners.values()
    assert reasons.predicted == "y"
    reason = reasons.heaviest(1)[0][0]
    assert (reason.feature.ngrams, reason.feature.spans) == (["product=loan"], [(1, 1)])
    [without] = explain(model, "a").learners.values()
    assert len(without.added) == 1
    with pytest.raises(ConfigError, match=r"no category 'produkt' \(fields.categories\); did you mean 'product'\?"):
        explain(model, "a", categories={"produkt": "loan"})


def test_ngrams_do_not_cross_pieces():
    model = taught(events_of(("a b", "x"), ("c", "y")), [{"kind": "naive_bayes"}], features={})
    [reasons] = explain(model, ["a", "b"]).learners.values()
    assert sorted(reason.feature.ngrams[0] for reason in reasons.heaviest(9)[0]) == ["a", "b"]
    assert explain(model, ["a", "b"]).text == "a\nb"


def test_without_a_label_there_is_nothing_to_explain():
    for text in ("", "a text"):
        explanation = checked(taught([]), text)
        assert explanation.predicted is None
        for reasons in explanation.learners.values():
            assert reasons.heaviest(5)[0] == []
            assert reasons.confidence is None
    assert {told["predicted"] for told in explanation.to_dict()["learners"].values()} == {None}


def test_without_known_features_the_score_is_the_base():
    model = taught(events_of(("a b", "x"), ("c d", "y")) * 3)
    for text in ("", "QQQ WWW"):
        for name, reasons in checked(model, text).learners.items():
            # a blank is known to those that read letters, the number of words to those that read shapes
            if name not in ("of_letters", "of_two", "of_many", "mixture", "of_mixtures"):
                assert reasons.heaviest(9)[0] == []
                assert_allclose(reasons.scores, reasons.base, rtol=1e-12)


def test_only_the_chosen_learners_are_explained():
    model = taught(events_of(("a b", "x"), ("c d", "y")))
    assert list(explain(model, "a", ["of_mixtures", "perceptron"]).learners) == ["of_mixtures", "perceptron"]
    assert explain(model, "a", ["sgd"]).lead == model.names[0], "none was right yet"
    with pytest.raises(ConfigError, match=r"no learner 'perzeptron'; did you mean 'perceptron'\?"):
        explain(model, "a", ["perzeptron"])


@pytest.mark.parametrize("odd", [None, 5, b"bytes", {"a": 1}, ["a", None]])
def test_input_that_is_not_a_text_is_refused(odd):
    with pytest.raises(RecordError, match="can't be explained: expected a text"):
        explain(taught([]), odd)


def test_confidence_equals_that_of_the_models_prediction():
    events = events_of(("win a prize", "spam"), ("see you", "ham"), ("win lunch", "spam")) * 4
    for learner in EVERY:
        name = learner.get("name", learner["kind"])
        model = taught(events, evaluation={"lead": name})
        batch = batch_of([Event("win you")])
        predictions = model.predict(batch, model.featurize(batch))[1]
        explanation = explain(model, "win you")
        assert explanation.lead == name
        assert explanation.learners[name].confidence == predictions.confidences[0]


def test_explaining_changes_nothing():
    model = taught(events_of(("a b", "x"), ("c d", "y")) * 3)
    before = {name: array.copy() for name, array in model.state()[0].items()}
    explain(model, "a new text, a b")
    after = model.state()[0]
    assert after.keys() == before.keys()
    assert all(np.array_equal(after[name], array, equal_nan=True) for name, array in before.items())


def test_explanation_as_json():
    """For each label, base, features and rest sum to its score."""
    model = taught(events_of(("win a prize now", "spam"), ("see you at lunch", "ham")) * 3)
    explanation = explain(model, "win a lunch")
    told = json.loads(json.dumps(explanation.to_dict(2), allow_nan=False))
    assert (told["text"], told["predicted"], told["lead"]) == ("win a lunch", explanation.predicted, explanation.lead)
    for learner in told["learners"].values():
        for label, score in learner["scores"].items():
            added = [feature["adds"][label] for feature in learner["features"]]
            assert_allclose(learner["base"][label] + sum(added) + learner["rest"]["adds"][label], score, atol=1e-9)
        assert len(learner["features"]) == 2
    feature = told["learners"]["naive_bayes"]["features"][0]
    assert feature["view"] == "words"
    assert feature["ngrams"][0] in ("win", "a", "win a", "lunch")


def test_overflowed_scores_are_none_in_json():
    model = taught(events_of(("a", "x"), ("b", "y")), [{"kind": "perceptron"}, {"kind": "mixture"}], features={})
    model.learners["perceptron"].bias[0] = np.inf
    explanation = explain(model, "a")
    assert "inf" in str(explanation)
    told = explanation.to_dict()
    assert told["learners"]["perceptron"]["scores"]["x"] is None
    assert told["learners"]["mixture"]["scores"] == {"x": 0.0, "y": 0.0}
    json.dumps(told, allow_nan=False)


def test_a_text_of_one_megabyte():
    model = taught(events_of(("a b", "x"), ("c d", "y")) * 3)
    text = "a b c nöw 12 " * 80_000
    explanation = checked(model, text)
    assert len(explanation._repr_html_()) < 10_000_000
    assert "a b" in str(explanation)


def test_explanations_do_not_depend_on_batch_size():
    events = events_of(("win a prize now", "spam"), ("see you at lunch", "ham"), ("a prize at lunch", "spam")) * 5
    one, many = taught([]), taught(events)
    for batch in batches(events, 1):
        one.step(batch, one.featurize(batch))
    assert explain(one, "a prize").to_dict() == explain(many, "a prize").to_dict()


def test_every_kind_of_learner_is_explained():
    assert {learner["kind"] for learner in EVERY} >= {"naive_bayes", "mixture", "arow", "sgd"}
