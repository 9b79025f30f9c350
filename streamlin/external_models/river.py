"""Classifiers of river: `learn_one`, `predict_proba_one`, `predict_one`."""

import sys
from collections.abc import Callable
from typing import Any

from streamlin.external_models.adapter import Adapter, Answer, NoClassifierError, check_methods, described, takes
from streamlin.external_models.inputs import Inputs


class River(Adapter):
    """A river classifier, a pipeline of river that ends in one, or whatever has its methods.

    view : of the features that it gets, as a mapping of bucket to value; None: it gets the text.
    """

    def __init__(self, make: Callable[[], Any], view: str | None) -> None:
        super().__init__(make)
        self._view = view
        self._gives_shares = hasattr(self.model, "predict_proba_one")

    def checked(self, model: Any) -> Any:
        """See `Adapter`."""
        check_methods(model, "a river classifier", ("learn_one", "predict_one"))
        base, last = sys.modules.get("river.base"), model
        while hasattr(last, "_last_step"):
            last = last._last_step
        if base is not None and isinstance(last, base.Estimator) and not isinstance(last, base.Classifier):
            raise NoClassifierError(f"needs to give a river classifier, gave {described(last)}, which is none")
        return model

    def x_of(self, inputs: Inputs, i: int) -> Any:
        """See `Adapter`."""
        return inputs.texts[i] if self._view is None else inputs.mapping(self._view, i)

    def predict(self, x: Any) -> Answer:
        """Probabilities; of a model that has none, a label."""
        if self._gives_shares:
            try:
                return self.model.predict_proba_one(x)
            except NotImplementedError:  # how river says that it has none
                self._gives_shares = False
        return self.model.predict_one(x)

    def learn(self, x: Any, label: str, weight: float) -> str | None:
        """See `Adapter`; a model that takes no `w` learns every event alike."""
        if weight != 1.0 and takes(self.model.learn_one, "w"):
            self.model.learn_one(x, label, w=weight)
        else:
            self.model.learn_one(x, label)
        return None
