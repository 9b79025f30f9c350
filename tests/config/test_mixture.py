"""The table of a mixture: its members, and the weights with which they start."""

import pytest

from streamlin.config import RunConfig
from streamlin.model import Model

MEMBERS = [{"kind": "naive_bayes"}, {"kind": "perceptron"}, {"kind": "arow"}]


def config_of(**keys: object) -> RunConfig:
    return RunConfig.model_validate({"learners": [*MEMBERS, {"kind": "mixture"} | keys]})


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"members": ["arov"]}, "no learner 'arov' listed before it, expected one of naive_bayes, perceptron, arow"),
        ({"start": [1.0, 2.0]}, "learners.mixture.start: found 2 weights, expected one for each of 3 members"),
        ({"members": ["arow"], "start": [1, 2]}, "found 2 weights, expected one for each of 1 members"),
        ({"first_variances": {"sgd": 1.0}}, "learners.mixture.first_variances: 'sgd' is not a member, expected one of"),
        ({"first_variances": {"arow": 0.0}}, "greater than 0"),
        ({"start": []}, "found 0 weights, expected one for each of 3 members"),
        ({"start": [1.0, 0.0, 1.0]}, "greater than 0"),
        ({"start": [1.0, float("inf"), 1.0]}, "finite number"),
        ({"start": "much"}, "valid tuple"),
    ],
)
def test_a_bad_table_is_refused(keys: dict[str, object], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        config_of(**keys)


def test_members_start_with_their_weights() -> None:
    model = Model(config_of(members=["perceptron", "naive_bayes"], start=[0.25, 1]))
    assert model.mixtures["mixture"].weights.tolist() == [0.25, 1.0]
    assert Model(config_of()).mixtures["mixture"].weights.tolist() == [0.5, 0.5, 0.5]
