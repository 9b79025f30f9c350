"""Learners that read several views: in a pipeline and alone, beside a twin, in checkpoints, with words set by hand."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamlin.checkpoint.inspection import inspect
from streamlin.config import RunConfig, ViewConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Event
from streamlin.features import View
from streamlin.learners import KINDS, Arow, LogisticRegression
from streamlin.model import Model
from streamlin.pipeline import Pipeline
from tests import naive
from tests.sample_streams import batch_of, batches, examples_of, read_events, thinned

BITS = 16
VIEWS = {
    "words": {"ngrams": [1, 2]},
    "pairs": {"tokens": "skip", "values": "counts", "min_count": 2},
    "shapes": {"tokens": "shape"},
}
LEARNERS = [
    {"kind": "arow", "name": "a", "features": ["words", "shapes"], "normalize": True, "r": 1.0},
    {"kind": "logistic_regression", "name": "l", "features": ["shapes", "words"], "damping": 0.1, "least_error": 0.001},
    {"kind": "naive_bayes", "name": "n", "features": ["words", "pairs", "shapes"]},
    {"kind": "naive_bayes", "name": "u", "features": ["words", "shapes"], "smoothing": "prior", "unlabelled": [1.0]},
    {"kind": "mixture"},
]


@pytest.fixture(scope="module")
def stream(data):
    return thinned(read_events(data / "trec-6.jsonl.gz", 600))


def config_of(**tables):
    return RunConfig(**{"features": VIEWS | {"bits": BITS}, "learners": LEARNERS} | tables)


def scores_of(model, events, size):
    """Predictions of all learners in batches of a size, and the state as a checkpoint has it."""
    found = [model.step(batch, model.featurize(batch))[1] for batch in batches(events, size)]
    return np.concatenate([one.confidences for one in found]), np.concatenate([one.predicted for one in found], axis=1)


def copied(state):
    return {name: array.copy() for name, array in state[0].items()}, json.loads(json.dumps(state[1]))


def test_batches_threads_and_restarts_do_not_matter(stream):
    whole, parts, resumed = Model(config_of()), Model(config_of(pipeline={"threads": 1})), Model(config_of())
    expected = scores_of(whole, stream, 600)
    for ours, theirs in zip(scores_of(parts, stream, 7), expected, strict=True):
        assert_array_equal(ours, theirs)
    first = Model(config_of())
    scores_of(first, stream[:251], 50)
    resumed.restore(*copied(first.state()))
    for ours, theirs in zip(scores_of(resumed, stream[251:], 50), expected, strict=True):
        assert_array_equal(ours, theirs[..., 251:])
    arrays, again = whole.state()[0], resumed.state()[0]
    assert arrays.keys() == again.keys()
    assert {"joint_rows/a", "joint_rows/l", "joint_rows/n", "joint_rows/u"} <= arrays.keys()
    for name, array in arrays.items():
        assert_array_equal(array, again[name], err_msg=name)


def joined(stream, views):
    """The examples of several views as one: features are (view, bucket), the values of each view have length 1."""
    columns = [examples_of(stream, view) for view in views]
    for own in zip(*columns, strict=True):
        x = {}
        for number, one in enumerate(own):
            scale = naive._scale_to_one(one.x)
            x |= {number << BITS | bucket: float(np.float32(scale * value)) for bucket, value in one.x.items()}
        yield own[0]._replace(x=x)


@pytest.mark.parametrize(
    ("learner", "twin"),
    [
        (lambda views: Arow(1.0, normalize=True, features=views), naive.NaiveArow(1.0)),
        (
            lambda views: LogisticRegression(squares="feature", damping=0.1, least_error=1e-3, features=views),
            naive.NaiveLogisticRegression(squares="feature", damping=0.1, least_error=1e-3, normalize=False),
        ),
    ],
    ids=["arow", "logistic_regression"],
)
def test_a_learner_alone_gives_the_predictions_of_the_twin(stream, learner, twin):
    """Event by event, many at once, and beside each other."""
    views = [View(ViewConfig(), BITS), View(ViewConfig(tokens="shape"), BITS)]
    events = stream[:300]
    expected = [naive.best(twin.step(*example)) for example in joined(events, views)]
    columns = [e.text for e in events], [e.label for e in events], [e.weight for e in events]
    many, one = learner(views), learner(views)
    assert many.learn_many(*columns) == expected
    for text, label, weight in zip(*columns, strict=True):
        one.learn_one(text, label, weight)
    ours, theirs = (learner.state(learner.n_rows, len(learner.labels)) for learner in (one, many))
    for table, array in ours.items():
        assert_array_equal(array, theirs[table], err_msg=table)
    assert [one.predict_one(text) for text in columns[0]] == many.predict_many(columns[0])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_learner_learns_several_views(stream, kind):
    """As in a pipeline, bit for bit."""
    views = {"words": ViewConfig(), "first": ViewConfig(tokens="first")}
    events = [event for event in stream if event.label is not None and event.weight == 1][:120]
    tables = {name: view.model_dump() for name, view in views.items()}
    config = RunConfig(features=tables | {"bits": BITS}, learners=[{"kind": kind.name, "features": ["words", "first"]}])
    model = Model(config)
    _, predicted = scores_of(model, events, 50)
    alone = kind(features=[View(view, BITS) for view in views.values()])
    names = [*model.labels.names, None]
    texts, labels = [event.text for event in events], [event.label for event in events]
    assert alone.learn_many(texts, labels) == [names[code] for code in predicted[0]]


def test_mappings_and_wrong_views_are_refused():
    with pytest.raises(RecordError, match="a learner of several views takes texts only"):
        Arow(features=[View(), View()]).learn_one({"a": 1}, "x")
    for wrong in ("words", [], [View(), "words"]):
        with pytest.raises(
            ConfigError, match=r"^features must be a View, as in View\(ViewConfig\(...\)\), or a list of them, got"
        ):
            Arow(features=wrong)
    with pytest.raises(ConfigError, match="set_priors: expected a learner of one view"):
        Arow(features=[View(), View()]).set_priors({"spam": {"prize": 1}})


def test_words_set_by_hand_start_the_views_that_have_them():
    """Of the two views only one has the word; the learner of shapes alone starts without it, and a notice says so."""
    learners = [*LEARNERS[:2], {"kind": "arow", "name": "s", "features": "shapes"}]
    model = Model(config_of(learners=learners, priors={"spam": {"prize": 1.0}, "ham": {"lunch": 1.0}}))
    assert model.pop_notices() == ["s can't start with the words of [priors], and learns without them"]
    batch = batch_of([Event("a prize")])
    features = model.featurize(batch)
    assert [model.labels.names[code] for code in model.scores(batch, features)[:2, 0].argmax(axis=1)] == ["spam"] * 2


def test_inspect_names_the_view_of_each_feature(tmp_path, stream):
    features = VIEWS | {"bits": BITS, "names": 10_000}
    with Pipeline(features=features, learners=LEARNERS[:1], checkpoint={"path": str(tmp_path / "s")}) as pipeline:
        for event in stream[:100]:
            if event.label is not None:
                pipeline.learn_one(event.text, event.label)
        pipeline.save()
    found = inspect(str(tmp_path / "s"))
    assert found["learners"]["a"]["features"] == ["words", "shapes"]
    heaviest = [feature for own in found["heaviest"]["a"].values() for feature in own]
    assert {view for _, _, view in heaviest} == {"words", "shapes"}
    assert all(found["names"][view][str(bucket)] for bucket, _, view in heaviest)
