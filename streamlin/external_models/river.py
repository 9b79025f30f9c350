"""Classifiers of river: `learn_one`, `predict_proba_one`, `predict_one`."""

import sys
from collections.abc import Callable
from typing import Any

from streamlin.external_models.adapter import Adapter, Answer, NotAClassifierError, accepts, check_methods, described
from streamlin.external_models.inputs import Inputs


class River(Adapter):
    """A river classifier, a river pipeline that ends with one, or any object with the same methods.

    view : the view whose features it gets, as a mapping of bucket to value; None: it gets the text.
    """

    def __init__(self, make: Callable[[], Any], view: str | None) -> None:
        super().__init__(make)
        self._view = view
        self._gives_probabilities = hasattr(self.model, "predict_proba_one")

    def checked(self, model: Any) -> Any:
        """See `Adapter`."""
        check_methods(model, "a river classifier", ("learn_one", "predict_one"))
        base, last = sys.modules.get("river.base"), model
        while hasattr(last, "_last_step"):
            last = last._last_step
        if base is not None and isinstance(last, base.Estimator) and not isinstance(last, base.Classifier):
            raise NotAClassifierError(f"should return a river classifier, returned {described(last)}")
        return model

    def x_of(self, inputs: Inputs, i: int) -> Any:
        """See `Adapter`."""
        return inputs.texts[i] if self._view is None else inputs.mapping(self._view, i)

    def predict(self, x: Any) -> Answer:
        """Probabilities; a label, if the model gives no probabilities."""
        if self._gives_probabilities:
            try:
                return self.model.predict_proba_one(x)
            except NotImplementedError:  # raised by a river model without probabilities
                self._gives_probabilities = False
        return self.model.predict_one(x)

    def learn(self, x: Any, label: str, weight: float) -> str | None:
        """See `Adapter`; a model without the argument `w` ignores weights."""
        if weight != 1.0 and accepts(self.model.learn_one, "w"):
            self.model.learn_one(x, label, w=weight)
        else:
            self.model.learn_one(x, label)
        return None
