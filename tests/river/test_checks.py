"""river's own checks, all of them."""

import pytest
from river import checks

from streamlin import river

MODELS = [getattr(river, name)() for name in river.__all__]


def cases():
    """Each model with each of its checks in river, numbered since some checks occur for several streams."""
    for model in MODELS:
        for number, check in enumerate(checks.yield_checks(model)):
            yield pytest.param(model, check, id=f"{model}-{number}-{check.__name__}")


@pytest.mark.parametrize(("model", "check"), list(cases()))
def test_rivers_own_checks_pass(model, check):
    check(model.clone())


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_check_of_river_is_skipped(model):
    assert model._unit_test_skips() == set()
    names = [check.__name__ for check in checks.yield_checks(model)]
    assert {"check_learn_many_matches_learn_one", "check_predict_proba_many_matches_predict_proba_one"} < set(names)
