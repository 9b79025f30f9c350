"""Explanations of sentences: contributions sum to what each tagger's decoder compares; what they contain."""

import json
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamlin.errors import ConfigError, RecordError
from streamlin.explanation.explain_tags import explain_tags
from streamlin.tagging import crf, hmm, log_linear
from streamlin.tagging import structured_perceptron as perceptron
from streamlin.tagging.contexts import ContextCounts, level_probabilities, set_priors, set_probabilities
from streamlin.tagging.kinds import KINDS
from streamlin.tagging.viterbi import best_path, new_lattice, padded, set_limits
from tests.explanation.sentences import FORMS, STREAM, explained, taught
from tests.tagging.running import Sentence, batch_of, real_sentences, roughened

SHARE = 1e-4


@pytest.fixture(scope="module")
def real(data):
    """A model of real sentences with hidden tags and weights, and sentences that it has not seen."""
    sentences = real_sentences(data / "pos-ud-ewt.jsonl.gz", 330)
    return taught(roughened(sentences[:300])), sentences[300:]


def test_every_tagger_is_explained_here():
    assert {form["kind"] for form in FORMS} == set(KINDS)


def read(model, tokens):
    """A sentence as taggers read it."""
    return model.features.sentences(model.featurize(batch_of([Sentence(tokens, [None] * len(tokens))])))


def summed(reasons):
    """What the explanation has for each token: float64[m, K] of its features alone, and with the tags before."""
    parts = reasons.parts
    features = np.sum(parts.features, axis=1, dtype=float) + np.sum(parts.contexts, axis=1, dtype=float)
    return features, features + sum(parts.before.values())


def test_parts_sum_to_the_scores_of_every_tagger(real):
    model, sentences = real
    for sentence in sentences:
        explained(model, sentence.tokens)


def test_predicted_tags_have_the_best_score(real):
    """With the tags before and behind; but for a beam, and the hidden Markov model's pruning, of which none matters."""
    model, sentences = real
    for sentence in sentences:
        for name, reasons in explained(model, sentence.tokens).learners.items():
            for t in range(len(sentence.tokens)):
                token = reasons.token(t)
                assert token.scores[token.code] >= token.scores[token.ranked].max() - SHARE, (name, sentence.tokens, t)


@pytest.mark.parametrize("name", ["crf", "with_counts"])
def test_parts_sum_to_the_scores_of_the_crfs_decoder(real, name):
    """Those of each token's tags, and that of the best path."""
    model, sentences = real
    tagger, n_tags = model.learners[name], len(model.labels)
    for tokens, _, _ in sentences:
        own, chained = summed(explained(model, tokens).learners[name])
        n, rows = len(tokens), read(model, tokens)
        weights, counted = tagger._model(), tagger._counted()
        lattice, capacity = new_lattice(n, weights.weights.shape[1]), weights.weights.shape[1]
        scratch = crf._Scratch(*(np.zeros((n, capacity), np.float32) for _ in range(6)))
        sizes, known = (n_tags, n_tags), int(rows.rows_before[0])
        crf.set_scores(
            *(rows, 0, 0, n, known, sizes, tagger.counts, np.float32(1.0)), *(weights, counted, lattice, scratch)
        )
        assert_allclose(own, lattice.scores[:, :n_tags], rtol=SHARE, atol=SHARE)
        path = np.empty(n, np.int32)
        set_limits(weights.transitions, n_tags, lattice.limits)
        best = best_path(lattice, lattice.scores, weights.transitions, n, n_tags, path)
        assert_allclose(chained[np.arange(n), path].sum(), best, rtol=SHARE, atol=SHARE)


@pytest.mark.parametrize("name", ["structured_perceptron", "averaged", "aggressive"])
def test_parts_sum_to_the_scores_of_the_perceptrons_decoder(real, name):
    model, sentences = real
    tagger, n_tags = model.learners[name], len(model.labels)
    kind = perceptron._STEPS[tagger.step]
    for tokens, _, _ in sentences:
        own, chained = summed(explained(model, tokens).learners[name])
        n, rows, weights = len(tokens), read(model, tokens), tagger._model()
        lattice = new_lattice(n, weights.weights.shape[1])
        known, width = int(rows.rows_before[0]), padded(n_tags)
        perceptron.set_emissions(rows.rows, known, weights.slots, weights.weights, width, lattice.scores)
        set_limits(weights.transitions, n_tags, lattice.limits)
        tagged = perceptron.Tagged(np.empty(n, np.int32), np.empty(1), np.empty(0, np.float32))
        perceptron.predict(rows, 0, n, n_tags, kind, weights, lattice, tagged)
        compared = lattice.alpha if name == "averaged" else lattice.scores
        assert_allclose(own, compared[:, :n_tags], rtol=SHARE, atol=SHARE)
        assert_allclose(
            chained[np.arange(n), tagged.tags].sum(), lattice.delta[n - 1, tagged.tags[-1]], rtol=SHARE, atol=SHARE
        )


@pytest.mark.parametrize("name", ["log_linear", "beam"])
def test_parts_sum_to_the_log_linear_taggers_scores(real, name):
    """Those of each token behind the tags before; their softmax is the confidence."""
    model, sentences = real
    tagger, n_tags = model.learners[name], len(model.labels)
    for tokens, _, _ in sentences:
        reasons = explained(model, tokens).learners[name]
        _, chained = summed(reasons)
        logs = chained - np.logaddexp.reduce(chained, axis=1)[:, None]
        assert_allclose(np.exp(logs[np.arange(len(tokens)), reasons.tags].sum()), reasons.confidence, rtol=1e-3)
        weights, capacity = tagger._model(), tagger._model().weights.shape[1]
        shares = np.empty(capacity, np.float32)
        scratch = log_linear._Scratch(
            np.empty((len(tokens), capacity), np.float32),
            np.empty(capacity, np.float32),
            shares,
            shares.view(np.int32),
            np.empty(capacity, np.int32),
            *(np.empty((1, 1), np.int32) for _ in range(2)),
            *(np.empty(1) for _ in range(2)),
            np.empty((1, 1), np.float32),
        )
        rows = read(model, tokens)
        known = int(rows.rows_before[0])
        log_linear.set_emissions(rows.rows, known, weights.slots, weights.weights, padded(n_tags), scratch.scores)
        for t, (second, first) in enumerate(zip([-1, -1, *reasons.tags], [-1, *reasons.tags], strict=False)):
            if t < len(tokens):
                log_linear.set_local(weights, t, n_tags, int(second), int(first), scratch)
                assert_allclose(chained[t], scratch.local[:n_tags], rtol=SHARE, atol=SHARE)


@pytest.mark.parametrize("name", ["beam", "hmm", "first_order"])
def test_another_tag_changes_the_sentences_score_by_its_parts(real, name):
    """The parts of a tag that is put in the place of the predicted one tell by how much the whole score falls."""
    model, sentences = real
    tagger, n_tags = model.learners[name], len(model.labels)

    def score(rows, tags):
        parts = tagger.parts(rows, tags, n_tags)
        local = (
            np.sum(parts.features, axis=1, dtype=float) + np.sum(parts.contexts, axis=1) + sum(parts.before.values())
        )
        if name == "beam":
            local = local - np.logaddexp.reduce(local, axis=1)[:, None]
        return local[np.arange(tags.size), tags].sum()

    for tokens, _, _ in sentences[:6]:
        reasons, rows = explained(model, tokens).learners[name], read(model, tokens)
        whole = score(rows, reasons.tags)
        for t in range(len(tokens)):
            scores = reasons.token(t).scores
            for k in range(n_tags):
                changed = reasons.tags.copy()
                changed[t] = k
                fall = scores[reasons.tags[t]] - scores[k]
                assert_allclose(whole - score(rows, changed), fall, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["hmm", "first_order"])
def test_parts_sum_to_the_hidden_markov_models_logarithms(real, name):
    """Each history and word by the kernels; and of all sequences together the confidence."""
    model, sentences = real
    tagger, n_tags = model.learners[name], len(model.labels)
    for tokens, _, _ in sentences:
        reasons, rows = explained(model, tokens).learners[name], read(model, tokens)
        own, chained = summed(reasons)
        counted, transitions = tagger._counted(), tagger._model()
        priors, p = (np.empty(padded(n_tags), np.float32) for _ in range(2))
        set_priors(counted, n_tags, padded(n_tags), priors)
        for t, (second, first) in enumerate(zip([-1, -1, *reasons.tags], [-1, *reasons.tags], strict=False)):
            if t == len(tokens):
                break
            set_probabilities(counted, rows, 0, t, np.float32(tagger.theta), padded(n_tags), priors, p)
            assert_allclose(own[t], np.log(p[:n_tags].astype(float) / priors[:n_tags]), rtol=SHARE, atol=SHARE)
            for k in range(n_tags):
                q = hmm.transition(
                    tagger.order,
                    tagger.alpha,
                    counted.total[0],
                    int(second),
                    int(first),
                    k,
                    float(priors[k]),
                    transitions,
                )
                assert_allclose(chained[t, k] - own[t, k], np.log(q), rtol=1e-6, atol=1e-6)


def test_all_sequences_of_the_hidden_markov_model_give_its_confidence():
    model = taught(STREAM, "hmm")
    tagger = model.learners["hmm"]
    for tokens in (["the", "dog", "walks"], ["Dogs", "."], ["x"]):
        reasons, rows, totals = explained(model, tokens).learners["hmm"], read(model, tokens), {}
        considered = [np.flatnonzero(row) for row in reasons.parts.considered]
        for path in product(*considered):
            tags = np.array(path, np.int32)
            parts = tagger.parts(rows, tags, 4)
            local = parts.contexts.sum(axis=1) + sum(parts.before.values())
            totals[path] = np.exp(local[np.arange(tags.size), tags].sum())
        assert max(totals, key=totals.get) == tuple(reasons.tags)
        assert_allclose(max(totals.values()) / sum(totals.values()), reasons.confidence, rtol=1e-4)


def test_levels_of_contexts_end_with_the_kernels_probabilities(real):
    model, sentences = real
    counted, n_tags = model.learners["hmm"]._counted(), len(model.labels)
    rows = read(model, sentences[0].tokens)
    p = level_probabilities(counted, rows.contexts, 1.0, n_tags)
    priors, own = (np.empty(padded(n_tags), np.float32) for _ in range(2))
    set_priors(counted, n_tags, padded(n_tags), priors)
    for t in range(len(sentences[0].tokens)):
        set_probabilities(counted, rows, 0, t, np.float32(1.0), padded(n_tags), priors, own)
        assert_allclose(p[-1, t], own[:n_tags], rtol=1e-6)


def test_a_perceptron_by_hand():
    """The first sentence knows no tag. In "b c", tags X Y, all is predicted X, of equal scores the first.

    So at c, W_Y += 1 and W_X -= 1 for its 22 features, T[X, Y] += 1 and T[X, X] -= 1. Then "c" alone has c's own 13
    features, of w, lower, affixes, shape and bias; w+1 and w+2 are outside, as there, and suf3+1 and shape+1; not w-1.
    """
    learner = {"kind": "structured_perceptron", "step": "perceptron"}
    model = taught([Sentence(["a"], ["X"]), Sentence(["b", "c"], ["X", "Y"])], learner)
    [reasons] = explained(model, ["c"]).learners.values()
    token = reasons.token(0)
    found = dict(zip(token.names, token.added.tolist(), strict=True))
    clock = 2
    assert {name: added for name, added in found.items() if name in ("w=c", "bias", "w+1=<end>", "w|w+1=c|<end>")} == {
        name: [-1.0 / clock, 1.0 / clock] for name in ("w=c", "bias", "w+1=<end>", "w|w+1=c|<end>")
    }
    assert found["w-1=<start>"] == [0.0, 0.0]
    assert token.beside["tag-1=<start>"].tolist() == [0.0, 0.0]
    assert reasons.predicted == ["Y"]


def test_the_hidden_markov_model_by_hand():
    """One sentence "a", X: P(X) = (1 + 1) / 2. With Y from "b": P(k) = (1 + 1/2) / 3 each; theta is 1.

    w=b: its shape x had X and Y; P(Y | x) = (1 + 1/2) / 3; with b as suffix P(Y) = (1 + 1/2) / 2 = 3/4, each level on.
    """
    model = taught([Sentence(["a"], ["X"]), Sentence(["b"], ["Y"])], "hmm")
    [reasons] = explained(model, ["b"]).learners.values()
    token = reasons.token(0)
    p = [0.5, 0.5]
    for _ in range(5):
        p.append((1 + p[-1]) / 2)
    steps = dict(zip(token.names, np.diff(np.log(p)), strict=True))
    for name, added in zip(token.names, token.added, strict=True):
        assert_allclose(added[1], steps[name], atol=1e-6)
    assert_allclose(token.beside["prior"], np.log([0.5, 0.5]))
    assert list(token.beside) == ["prior", "tag-1=<start>", "tag-2|tag-1=<start>|<start>"]
    assert token.names == ["shape=x", "shape|suf1=x|b", "shape|suf2=x|b", "shape|suf3=x|b", "shape|suf4=x|b", "w=b"]


def test_features_of_columns_are_named():
    batch = batch_of([Sentence(["x", "y"], ["A", "B"]), Sentence(["y", "x"], ["B", "A"])])
    batch.tokens.columns = {"pos": ["N", "V", "V", "N"]}
    model = taught([], "crf", "hmm", fields={"columns": ["pos"]})
    model.step(batch, model.featurize(batch))
    explanation = explained(model, ["z", "x"], pos=["V", "N"])
    token = explanation.learners["crf"].token(0)
    assert "pos=V" in [name for name, _ in token.heaviest(50)[0]]
    assert "w=z" in token.unseen
    assert "w|pos=z|V" in explanation.learners["hmm"].token(0).unseen


def test_the_counts_of_a_crf_are_named_as_such():
    model = taught(STREAM, {"kind": "crf", "counts": True})
    names = explained(model, ["the", "cat"]).learners["crf"].token(0).names
    assert len(names) == 22 + 6
    assert names[-1] == "counts of w=the"


def test_tags_beside_a_token_are_named():
    model = taught(STREAM, *FORMS)
    learners = explained(model, ["the", "dog", "barks"]).learners
    assert list(learners["crf"].token(0).beside) == ["tag-1=<start>", "tag+1=NOUN"]
    assert list(learners["crf"].token(2).beside) == ["tag-1=NOUN"]
    assert list(learners["log_linear"].token(1).beside) == ["tag-1=DET", "tag-2|tag-1=<start>|DET"]
    assert list(learners["beam"].token(0).beside)[2:] == ["tag+1=NOUN", "tag+2=VERB"]
    assert list(learners["first_order"].token(1).beside) == ["prior", "tag-1=DET", "tag+1=VERB"]


def test_features_without_a_row_are_unseen():
    model = taught(STREAM, "crf")
    token = explained(model, ["zyx", "dog"]).learners["crf"].token(0)
    assert "w=zyx" in token.unseen
    assert "bias" not in token.unseen
    assert not np.any(token.added[~token.known])


def test_max_rows_leaves_features_unseen():
    model = taught(STREAM, "crf", features={"max_rows": 5})
    token = explained(model, ["The", "dog"]).learners["crf"].token(0)
    assert len(token.unseen) == 22 - 5


def test_explanation_of_a_sentence_as_json():
    """For each tag, features, rest and beside sum to its score."""
    model = taught(STREAM)
    explanation = explained(model, ["the", "big", "dog", "barks"])
    told = json.loads(json.dumps(explanation.to_dict(3), allow_nan=False))
    assert told["tokens"] == ["the", "big", "dog", "barks"]
    assert (told["predicted"], told["lead"]) == (explanation.predicted, explanation.lead)
    for name, learner in told["learners"].items():
        assert learner["predicted"] == explanation.learners[name].predicted
        for token in learner["tokens"]:
            assert next(iter(token["scores"])) == token["predicted"]
            for tag, score in token["scores"].items():
                added = [feature["adds"][tag] for feature in (*token["features"], *token["beside"], token["rest"])]
                assert_allclose(sum(added), score, atol=1e-9)
            assert len(token["features"]) <= 3


def test_without_a_tag_there_is_nothing_to_explain():
    explanation = explained(taught([]), ["a", "b"])
    assert explanation.predicted == [None, None]
    for told in explanation.to_dict()["learners"].values():
        assert told["predicted"] == [None, None]
        assert [token["scores"] for token in told["tokens"]] == [{}, {}]
    assert str(explanation).startswith("crf: no tag is known yet")


def test_only_the_chosen_taggers_are_explained():
    model = taught(STREAM)
    batch = batch_of([Sentence(["a"], [None])])
    assert list(explain_tags(model, batch, ["hmm", "beam"]).learners) == ["hmm", "beam"]
    with pytest.raises(ConfigError, match=r"^no learner 'cfr'; did you mean 'crf'\?$"):
        explain_tags(model, batch, ["cfr"])


def test_a_sentence_without_tokens_or_with_too_many_is_refused(monkeypatch):
    model = taught(STREAM, "crf")
    with pytest.raises(RecordError, match=r"^the sentence has no tokens, expected at least one to explain$"):
        explain_tags(model, batch_of([Sentence([], [])]))
    monkeypatch.setattr("streamlin.explanation.explain_tags.MOST_CELLS", 3 * 22 * 4 + 1)
    explain_tags(model, batch_of([Sentence(["a"] * 3, [None] * 3)]))
    with pytest.raises(RecordError, match=r"^the sentence has 4 tokens, expected at most 3 to explain with 4 tags$"):
        explain_tags(model, batch_of([Sentence(["a"] * 4, [None] * 4)]))


def test_explaining_a_sentence_changes_nothing():
    model = taught(STREAM)
    before = {name: array.copy() for name, array in model.state()[0].items()}
    explained(model, ["a", "new", "sentence"])
    after = model.state()[0]
    assert after.keys() == before.keys()
    assert all(np.array_equal(after[name], array, equal_nan=True) for name, array in before.items())


def test_explanations_stay_when_the_model_learns_on():
    model = taught(STREAM)
    explanation = explained(model, ["the", "dog"])
    before = explanation.to_dict()
    batch = batch_of([Sentence(["the", "dog"], ["X", "Y"])] * 5)
    model.step(batch, model.featurize(batch))
    assert explanation.to_dict() == before
    assert explained(model, ["the", "dog"]).to_dict() != before


def test_counts_are_contexts_of_the_hidden_markov_model():
    """The CRF's counts and those of an HMM are the same, so that their parts are, too, for a weight of 1."""
    model = taught(STREAM, {"kind": "crf", "counts": True}, "hmm")
    model.learners["crf"].count_weight[0] = 1.0
    learners = explained(model, ["the", "dog"]).learners
    assert isinstance(model.learners["crf"]._counted(), ContextCounts)
    assert_allclose(learners["crf"].parts.contexts, learners["hmm"].parts.contexts, atol=1e-5)
