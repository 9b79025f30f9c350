"""The predictions of texts that wait: each learner's scores, and what the baselines predicted."""

import numpy as np
from numpy.typing import NDArray

from streamlin.delayed_labels.plan import Plan
from streamlin.errors import CheckpointError
from streamlin.evaluation.predictions import Earlier


def recall(plan: Plan, scores: NDArray[np.float64]) -> Earlier:
    """Replace the scores float64[L, R, n_labels] of texts that are learned now by those of when they arrived.

    Returns where the other predictions of that time are.
    """
    here, asked, before = plan.recalled()
    scores[:, here] = scores[:, asked]
    for row, text in before:
        known = text.scores.shape[1]
        if known > scores.shape[2]:
            raise CheckpointError(f"the text of id {text.id!r:.60} waits with scores of {known} labels")
        scores[:, row, :known] = text.scores
        scores[:, row, known:] = -np.inf
    baselines = np.array([text.codes for _, text in before], np.int32)
    return Earlier(here, asked, np.array([row for row, _ in before], np.int64), baselines.T)


def keep(plan: Plan, scores: NDArray[np.float64], known: NDArray[np.int64], baselines: NDArray[np.int32]) -> None:
    """Keep the predictions for the texts that still wait.

    scores float64[L, R, n_labels]; known int64[R], number of candidate labels; baselines int32[2, R], see
    `Predictions`.
    """
    plan.keep(lambda row: (scores[:, row, : known[row]].copy(), baselines[:, row].copy()))
