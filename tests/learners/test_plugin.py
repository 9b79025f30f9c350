"""Learners that another package provides, found by entry point."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamlin.checkpoint.loading import config_of
from streamlin.config.loading import load_config
from streamlin.errors import ConfigError
from streamlin.learners import KINDS, Perceptron, from_config
from streamlin.model import Model
from tests.sample_streams import batches, read_events

POINTS = "[streamlin.learners]\ncareful = third_party:Careful\n"
MODULE = """
    from streamlin import ConfigError, Perceptron

    class Careful(Perceptron):
        name = "careful"

        def __init__(self, patience, mood="calm", features=None):
            super().__init__(features)
            if patience < 0:
                raise ConfigError(f"careful.patience must be 0 or more, got {patience}")
            self.patience, self.mood = patience + 0, mood
"""
OTHERS = """
    number = 5

    class NoLearner:
        pass

    class Any(Perceptron):
        def __init__(self, **keys):
            super().__init__()
            self.keys = keys
"""


def configured(*sets):
    """The configuration of a plugin, with further keys."""
    return load_config(sets=["learners=[{kind = 'careful', patience = 3}]", *sets], environment={})


def refused(*sets, **places):
    with pytest.raises(ConfigError) as error:
        Model(load_config(sets=sets, environment={}, **places))
    return str(error.value)


def test_the_entry_point_names_the_kind(install):
    install(POINTS, MODULE)
    config = configured("learners.careful.mood=grim", "learners.careful.features=words")
    (learner,) = config.learners
    made = from_config(learner)
    assert (type(made).__name__, made.patience, made.mood) == ("Careful", 3, "grim")
    assert learner.parameters() == {"patience": 3, "mood": "grim"}
    tables = config.fingerprint()["learners"]
    assert tables == [{"kind": "careful", "name": "careful", "features": "words", "patience": 3, "mood": "grim"}]
    assert config_of({"fingerprint": config.fingerprint()}).learners == config.learners


def test_a_plugin_learns_like_a_built_in_learner(install, data):
    """A subclass of the perceptron gives the perceptron's results, also from a restored state."""
    install(POINTS, MODULE)
    config = load_config(
        sets=["learners=[{kind = 'careful', patience = 0}, {kind = 'perceptron'}]", "features.bits=12"], environment={}
    )
    model, half = Model(config), Model(config)
    events = read_events(data / "trec-6.jsonl.gz", 300)
    for batch in batches(events, 50):
        predicted = model.step(batch, model.featurize(batch))[1].predicted
        assert_array_equal(predicted[0], predicted[1])
    for batch in batches(events[:200], 50):
        half.step(batch, half.featurize(batch))
    arrays, rest = half.state()
    other = Model(config)
    other.restore({name: array.copy() for name, array in arrays.items()}, rest)
    for batch in batches(events, 50, 200):
        other.step(batch, other.featurize(batch))
    assert_array_equal(other.state()[0]["learners/careful/weights"], model.state()[0]["learners/careful/weights"])


def test_the_learner_option_accepts_a_plugin(install):
    install(POINTS, MODULE.replace("self, patience,", "self, patience=1,"))
    config = load_config(learners=["careful", "perceptron"], sets=["learners.careful.patience=2"], environment={})
    assert [learner.kind for learner in config.learners] == ["careful", "perceptron"]
    assert config.learners[0].parameters() == {"patience": 2}
    line = refused(learners=["carefull"])
    assert line == "--learner carefull: no such learner; did you mean 'careful'?"


def test_errors_of_plugins_are_reported(install):
    more = "number = third_party:number\nlost = third_party:Lost\nnone = third_party:NoLearner\nany = third_party:Any\n"
    install(POINTS + more + "naive_bayes = third_party:Careful\n", MODULE + OTHERS)
    assert refused("learners=[{kind = 'carful'}]") == "learners: no learner 'carful'; did you mean 'careful'?"
    line = refused("learners=[{kind = 'careful', patince = 3}]")
    assert line == "learners.careful.patince: unknown key; did you mean 'patience'?"
    line = refused("learners=[{kind = 'careful', patience = -1}]")
    assert line == "careful.patience must be 0 or more, got -1"
    line = refused("learners=[{kind = 'careful', patience = 'much'}]")
    assert line.startswith("learners.careful: careful can't be created: '<' not supported")
    line = refused("learners=[{kind = 'careful', name = 'c'}]")
    assert line.startswith("learners.c: careful can't be created: ")
    assert "missing 1 required positional argument: 'patience'" in line
    assert refused("learners=[{kind = 'careful', patience = 1, features = 'chars'}]") == (
        "learners.careful.features: no view 'chars'; choose one of words"
    )
    line = refused("learners=[{kind = 'number'}]")
    assert line.endswith("'third_party:number' for kind 'number' is 5, expected a subclass of streamlin.Learner")
    line = refused("learners=[{kind = 'none'}]")
    assert line == "learners.none: 'none' is <class 'third_party.NoLearner'>, expected a subclass of streamlin.Learner"
    line = refused("learners=[{kind = 'lost'}]")
    assert line.startswith("the learner 'third_party:Lost' for kind 'lost' can't be loaded: ")
    model = Model(load_config(sets=["learners=[{kind = 'any', x = [1, 2]}]"], environment={}))
    assert model.learners["any"].keys == {"x": [1, 2]}
    ours = Model(load_config(learners=["naive_bayes"], environment={}))
    assert type(ours.learners["naive_bayes"]) is KINDS["naive_bayes"], "our own names stay ours"


def test_learners_without_a_weight_table_have_no_effective_weights():
    """`inspect` and `explain` skip such learners instead of failing."""

    class Other(Perceptron):
        tables = ("sums",)

        def __init__(self):
            super().__init__()
            del self.weights
            self.sums = np.zeros((0, 0))

    class Vector(Other):
        tables = ("sums", "weights")

        def __init__(self):
            super().__init__()
            self.weights = np.zeros(0)

    assert not Other().has_effective_weights
    assert not Vector().has_effective_weights
    assert all(kind().has_effective_weights for kind in KINDS.values())
