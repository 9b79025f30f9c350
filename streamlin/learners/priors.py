"""What learners start with where words are set by hand: the table `[priors]`, cut by a view, as rows and labels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import PriorsConfig
from streamlin.errors import ConfigError
from streamlin.events import LabelIndex
from streamlin.features import View
from streamlin.features.rows import RowIndex
from streamlin.features.set_words import word_features


class Priors(NamedTuple):
    """How often features are held to have occurred with labels before the first event; m pairs, none of them twice.

    rows, codes : int32[m], the feature and the label. strengths : float64[m] > 0, in occurrences with value 1.
    n_labels : how many labels have such a table, be it empty; they have the first codes.
    """

    rows: NDArray[np.int32]
    codes: NDArray[np.int32]
    strengths: NDArray[np.float64]
    n_labels: int


def learn_priors(
    config: PriorsConfig, view: View, index: RowIndex, labels: LabelIndex, view_name: str = "words"
) -> Priors:
    """The words as a view cuts them. Brings the labels, and a row for each of their features.

    Raises
    ------
    ConfigError : a word is not an n-gram of the view.
    """
    strengths: dict[tuple[int, int], float] = {}
    for label, words in config.labels.items():
        code = labels.learn_one(label)
        for word, weight in words.items():
            try:
                buckets, shares = word_features(view, word, view_name)
            except ConfigError as error:
                raise ConfigError(f"priors.{label}: {error}") from None
            for row, share in zip(index.bring(buckets).tolist(), shares.tolist(), strict=True):
                strengths[row, code] = strengths.get((row, code), 0.0) + config.strength * weight * share
    rows, codes = np.array([*strengths], np.int32).reshape(-1, 2).T
    return Priors(rows, codes, np.array([*strengths.values()]), len(config.labels))


def words_of(config: PriorsConfig) -> Sequence[str]:
    """All words, each once."""
    return [*dict.fromkeys(word for words in config.labels.values() for word in words)]
