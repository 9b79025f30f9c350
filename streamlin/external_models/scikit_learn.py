"""Classifiers of scikit-learn with `partial_fit`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from streamlin.external_models.adapter import Adapter, Answer, NotAClassifierError, accepts, check_methods, described
from streamlin.external_models.inputs import Inputs


class ScikitLearn(Adapter):
    """A classifier that learns by `partial_fit`, one event per call.

    scikit-learn fixes the labels at the first call. With `classes`, these are the labels, and events of other labels
    are not learned. Without, training begins at the second label, and every new label starts a new model, which knows
    all labels so far and nothing else.

    Parameters
    ----------
    view : the view whose features it gets, as a sparse matrix of one row; None: it gets a list of one text.
    bits : the matrix has 2^bits columns.
    classes : all labels of the stream; empty if they are not known.
    """

    def __init__(self, make: Callable[[], Any], view: str | None, bits: int, classes: Sequence[str]) -> None:
        super().__init__(make)
        self._view, self._bits, self._declared = view, bits, bool(classes)
        self._classes = list(classes)
        self._fitted = self._reported = False
        self._restarts = 0
        if view is not None:
            import scipy.sparse  # noqa: F401  # otherwise a missing scipy would fail only at the first event

    def checked(self, model: Any) -> Any:
        """See `Adapter`."""
        check_methods(model, "a scikit-learn classifier with partial_fit", ("partial_fit", "predict"))
        base = sys.modules.get("sklearn.base")
        if base is not None and isinstance(model, base.BaseEstimator) and not base.is_classifier(model):
            raise NotAClassifierError(f"should return a scikit-learn classifier, returned {described(model)}")
        return model

    def x_of(self, inputs: Inputs, i: int) -> Any:
        """See `Adapter`."""
        return [inputs.texts[i]] if self._view is None else inputs.matrix(self._view, i, self._bits)

    def predict(self, x: Any) -> Answer:
        """Probabilities; a label, if the model gives no probabilities; None before the first training."""
        if not self._fitted:
            return None
        if not callable(getattr(self.model, "predict_proba", None)):
            return self.model.predict(x)[0]
        (shares,) = np.asarray(self.model.predict_proba(x), np.float64)
        labels = getattr(self.model, "classes_", sorted(self._classes))
        return dict(zip(map(str, labels), shares.tolist(), strict=True))

    def learn(self, x: Any, label: str, weight: float) -> str | None:
        """See `Adapter`; a model without the argument `sample_weight` ignores weights."""
        notice = self._add_label(label) if label not in self._classes else None
        if label not in self._classes or len(self._classes) < 2:
            return notice
        options: dict[str, Any] = {}
        if weight != 1.0 and accepts(self.model.partial_fit, "sample_weight"):
            options["sample_weight"] = np.array([weight])
        if not self._fitted and accepts(self.model.partial_fit, "classes"):
            options["classes"] = np.array(sorted(self._classes))
        self.model.partial_fit(x, np.array([label]), **options)
        self._fitted = True
        return notice

    def rest(self) -> dict[str, Any]:
        """See `Adapter`."""
        return {"classes": list(self._classes), "begun": self._fitted, "beginnings": self._restarts}

    def restore(self, model: Any, rest: Mapping[str, Any]) -> None:
        """See `Adapter`."""
        super().restore(model, rest)
        self._classes, self._fitted, self._restarts = list(rest["classes"]), rest["begun"], rest["beginnings"]

    def _add_label(self, label: str) -> str | None:
        """A label that the model does not know: ignore it, or start a new model. Returns a notice, or None."""
        if self._declared:
            reported, self._reported = self._reported, True
            return None if reported else f"label {label!r:.60} is not among its classes; it learns no event of it"
        self._classes.append(label)
        if not self._fitted:
            return None
        self.model, self._fitted = self.checked(self._make()), False
        self._restarts += 1
        if self._restarts & (self._restarts - 1):  # notices become rarer: at the 1st, 2nd, 4th, … restart
            return None
        return (
            f"label {label!r:.60} is new, and scikit-learn fixes the labels at the first call: it starts anew, for the "
            f"{_ordinal(self._restarts)} time; list all labels as classes = [...] in its configuration to avoid this"
        )


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second"}.get(number, f"{number}th")
