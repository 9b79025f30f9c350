"""From the predictions of external models to scores."""

from math import inf, log, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamlin.events import LabelIndex
from streamlin.external_models.answers import AnswerError, scores_of

LABELS = LabelIndex(["spam", "ham", "eggs"])


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ({"spam": 0.5, "ham": 0.25, "eggs": 0.25}, [log(0.5), log(0.25)]),
        ({"ham": 1.0}, [log(1e-15), 0.0]),
        ({"spam": 1e-200}, [log(1e-200), log(1e-200) - 1.0]),
        ({"spam": 1e-200, "ham": 2e-200}, [log(1e-200), log(2e-200)]),
        ({"ham": np.float32(0.5), "bacon": 0.5, True: 0.1}, [log(1e-15), log(0.5)]),
        ("ham", [0.0, 1.0]),
        (np.str_("spam"), [1.0, 0.0]),
    ],
)
def test_probabilities_and_labels_become_scores(answer, scores):
    """Two of three labels are known yet; the third is ignored."""
    assert_allclose(scores_of(answer, LABELS, 2), scores)


@pytest.mark.parametrize("answer", [None, {}, "eggs", "bacon", 1, True, {"eggs": 1.0}, {"bacon": 1.0}, {"spam": 0.0}])
def test_an_answer_without_a_known_label_is_an_abstention(answer):
    assert scores_of(answer, LABELS, 2) is None


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"spam": nan}, "it gives 'spam' the probability nan"),
        ({"spam": 0.5, "bacon": inf}, "it gives 'bacon' the probability inf"),
        ({"spam": -0.1}, "it gives 'spam' the probability -0.1"),
        ({"spam": "much"}, "could not convert"),
        ({"spam": None}, "must be a string or a real number"),
        (nan, "it predicts nan"),
        (["spam"], "unhashable"),
    ],
)
def test_an_invalid_answer_is_an_error(answer, error):
    with pytest.raises((AnswerError, ValueError, TypeError), match=error):
        scores_of(answer, LABELS, 2)
