"""A tagger in the manner of scikit-learn."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from streamlin.errors import ConfigError
from streamlin.events import Batch
from streamlin.learners.wrappers import Wrapper
from streamlin.sklearn.sentences import as_sentences, checked_tags
from streamlin.sklearn.validation import sample_weights
from streamlin.tagging.alone import StandaloneTagger, batch_of
from streamlin.tagging.base import MOST_TAGS, Tagger
from streamlin.tagging.token_features import TokenFeatures


class OnlineTagger(Wrapper, BaseEstimator):  # type: ignore[misc]  # it has no types
    """scikit-learn's interface, on top of a tagger.

    X is a list of sentences, each a list of tokens; with `columns`, each a mapping from `"tokens"` and the columns'
    names to such lists. y has a list of tags for each sentence; None is an unknown tag.

    `partial_fit` learns sentence by sentence, so that one call with all sentences equals one call for each; `fit`
    forgets everything, then does the same, in the order given. Tags need not be announced.

    Attributes
    ----------
    classes_ : the tags known so far, sorted; set once there is one.
    tagger_ : the tagger with its features and tags, created from the parameters at the first call.
    """

    tagger_: StandaloneTagger
    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the sentences in one pass. Raises what `partial_fit` raises.

        Raises
        ------
        ValueError : also if no tag is known.
        """
        tagger = self._learned(self._new_tagger(), X, y, sample_weight)
        if not tagger.labels:
            raise ValueError("y has no tag that is known and of a weight above 0, expected at least one")
        for name in ("tagger_", "classes_"):
            self.__dict__.pop(name, None)
        return self._keep(tagger)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn further sentences, one by one.

        y : their tags, which may be new. sample_weight : of each sentence, >= 0; None: 1 each.

        Raises
        ------
        ValueError : a parameter, X, y or sample_weight is invalid, or they differ in length; nothing is learned.
        """
        tagger = vars(self).get("tagger_") or self._new_tagger()
        return self._keep(self._learned(tagger, X, y, sample_weight))

    def predict(self, X: Any) -> list[list[str]]:
        """The tags of each sentence."""
        check_is_fitted(self, "classes_")
        tokens, columns = as_sentences(X, tuple(self.columns))
        batch = batch_of(tokens, [None] * len(tokens), columns, np.ones(len(tokens)))
        return self.tagger_.predict(batch)  # type: ignore[return-value]  # a tag is known

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of tokens that get their tag, of those whose tag is known.

        sample_weight : of each sentence, >= 0; None: 1 each.

        Raises
        ------
        ValueError : as of `partial_fit`; or no tag is known.
        """
        predicted = self.predict(X)
        tags, weights = checked_tags(y, predicted), sample_weights(sample_weight, len(predicted))
        known = [np.array([tag is not None for tag in own], np.bool_) for own in tags]
        right = [
            [guess == tag for guess, tag in zip(guesses, own, strict=True)]
            for guesses, own in zip(predicted, tags, strict=True)
        ]
        total = float(weights @ [own.sum() for own in known])
        if not total:
            raise ValueError("y has no tag that is known and of a weight above 0, expected at least one")
        return float(weights @ [np.sum(own) for own in right]) / total

    def _new_tagger(self) -> StandaloneTagger:
        try:
            tagger: Tagger = self._made(self._kind)
            return StandaloneTagger(tagger, self._made(TokenFeatures))
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def _learned(self, tagger: StandaloneTagger, X: Any, y: Any, sample_weight: Any) -> StandaloneTagger:
        """The tagger once it has learned sentences."""
        batch = self._batch(tagger, X, y, sample_weight)
        was_full = tagger.features.full
        tagger.learn(batch)
        if tagger.features.full and not was_full:
            warnings.warn(f"max_rows: there are {self.max_rows:,} features, further ones are ignored", stacklevel=3)
        return tagger

    def _batch(self, tagger: StandaloneTagger, X: Any, y: Any, sample_weight: Any) -> Batch:
        """The sentences as a batch, all of it checked."""
        tokens, columns = as_sentences(X, tagger.features.view.columns)
        tags, weights = checked_tags(y, tokens), sample_weights(sample_weight, len(tokens))
        new = {tag for own in tags for tag in own} - {None, *tagger.labels.names}
        if len(tagger.labels) + len(new) > MOST_TAGS:
            raise ValueError(f"y has more than {MOST_TAGS:,} different tags; are these the tags?")
        return batch_of(tokens, tags, columns, weights)

    def _keep(self, tagger: StandaloneTagger) -> Self:
        self.tagger_ = tagger
        if tagger.labels:
            self.classes_ = np.array(sorted(tagger.labels.names))
        return self
