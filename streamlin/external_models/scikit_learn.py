"""Classifiers of scikit-learn that have `partial_fit`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from streamlin.external_models.adapter import Adapter, Answer, NoClassifierError, check_methods, described, takes
from streamlin.external_models.inputs import Inputs


class ScikitLearn(Adapter):
    """A classifier that learns by `partial_fit`, one event a call.

    scikit-learn fixes the labels at the first call. With `classes` these are the labels, and no other one is learned.
    Without, the model begins at the second label, and whenever a new label comes a new model begins, which knows all
    labels so far and nothing else.

    Parameters
    ----------
    view : of the features that it gets, as a sparse matrix of one row; None: it gets a list of one text.
    bits : the matrix has 2^bits columns.
    classes : all labels there will be; none: they are not known.
    """

    def __init__(self, make: Callable[[], Any], view: str | None, bits: int, classes: Sequence[str]) -> None:
        super().__init__(make)
        self._view, self._bits, self._declared = view, bits, bool(classes)
        self._classes = list(classes)
        self._begun = self._told = False
        self._beginnings = 0
        if view is not None:
            import scipy.sparse  # noqa: F401  # or a missing one would be found out at the first event

    def checked(self, model: Any) -> Any:
        """See `Adapter`."""
        check_methods(model, "a scikit-learn classifier with partial_fit", ("partial_fit", "predict"))
        base = sys.modules.get("sklearn.base")
        if base is not None and isinstance(model, base.BaseEstimator) and not base.is_classifier(model):
            raise NoClassifierError(f"needs to give a scikit-learn classifier, gave {described(model)}, which is none")
        return model

    def x_of(self, inputs: Inputs, i: int) -> Any:
        """See `Adapter`."""
        return [inputs.texts[i]] if self._view is None else inputs.matrix(self._view, i, self._bits)

    def predict(self, x: Any) -> Answer:
        """Probabilities; of a model that has none, a label; None before it has begun."""
        if not self._begun:
            return None
        if not callable(getattr(self.model, "predict_proba", None)):
            return self.model.predict(x)[0]
        (shares,) = np.asarray(self.model.predict_proba(x), np.float64)
        labels = getattr(self.model, "classes_", sorted(self._classes))
        return dict(zip(map(str, labels), shares.tolist(), strict=True))

    def learn(self, x: Any, label: str, weight: float) -> str | None:
        """See `Adapter`; a model that takes no `sample_weight` learns every event alike."""
        news = self._meet(label) if label not in self._classes else None
        if label not in self._classes or len(self._classes) < 2:
            return news
        how: dict[str, Any] = {}
        if weight != 1.0 and takes(self.model.partial_fit, "sample_weight"):
            how["sample_weight"] = np.array([weight])
        if not self._begun and takes(self.model.partial_fit, "classes"):
            how["classes"] = np.array(sorted(self._classes))
        self.model.partial_fit(x, np.array([label]), **how)
        self._begun = True
        return news

    def rest(self) -> dict[str, Any]:
        """See `Adapter`."""
        return {"classes": list(self._classes), "begun": self._begun, "beginnings": self._beginnings}

    def restore(self, model: Any, rest: Mapping[str, Any]) -> None:
        """See `Adapter`."""
        super().restore(model, rest)
        self._classes, self._begun, self._beginnings = list(rest["classes"]), rest["begun"], rest["beginnings"]

    def _meet(self, label: str) -> str | None:
        """A label that the model does not know: it is passed over, or a new model begins."""
        if self._declared:
            told, self._told = self._told, True
            return None if told else f"label {label!r:.60} is not among its classes; it learns no event of it"
        self._classes.append(label)
        if not self._begun:
            return None
        self.model, self._begun = self.checked(self._make()), False
        self._beginnings += 1
        if self._beginnings & (self._beginnings - 1):  # told when their number has doubled
            return None
        return (
            f"label {label!r:.60} is new, and scikit-learn fixes the labels at the first call: it begins anew, for the "
            f"{_ordinal(self._beginnings)} time; classes = [...] in its configuration says them beforehand"
        )


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second"}.get(number, f"{number}th")
