"""The features of tokens and their rows: what taggers read, and what is the same for all taggers of a model."""

from typing import Annotated

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from streamlin.config.features import MAX_ROWS, TOKEN_BITS
from streamlin.learners.parameters import checked
from streamlin.tagging.features import TokenBuckets, TokenView
from streamlin.tagging.rows import TokenRows
from streamlin.tagging.sentences import Sentences


class TokenFeatures:
    """The templates of tokens, and the rows of their buckets.

    view : makes the buckets. rows : of features, `"tokens"`, and of the hidden Markov model's `"contexts"`.

    Parameters
    ----------
    columns : the names of further lists, one value for each token, which are features too.
    bits : features are hashed to 2^bits buckets.
    max_rows : once there are so many features, further ones are ignored.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "features"

    @checked
    def __init__(
        self,
        columns: tuple[str, ...] = (),
        bits: Annotated[int, Ge(1), Le(31)] = TOKEN_BITS,
        max_rows: Annotated[int, Ge(1)] = MAX_ROWS,
    ) -> None:
        self.view = TokenView(bits, columns)
        self.rows = {name: TokenRows(bits, max_rows) for name in ("tokens", "contexts")}

    @property
    def full(self) -> bool:
        """Whether a feature was left without a row because of `max_rows`."""
        return any(rows.full for rows in self.rows.values())

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of rows of features, and of contexts."""
        return len(self.rows["tokens"]), len(self.rows["contexts"])

    def sentences(self, features: TokenBuckets, learned: NDArray[np.bool_] | None = None) -> Sentences:
        """Sentences as taggers read them; those with `learned`, bool[n], bring rows for their features."""
        brings = np.zeros(features.bounds.size - 1, np.bool_) if learned is None else learned
        rows = self.rows["tokens"].assign(features.bounds, features.buckets, brings)
        contexts = self.rows["contexts"].assign(features.bounds, features.contexts, brings)
        return Sentences(features.bounds, *rows, *contexts)
