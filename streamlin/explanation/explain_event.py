"""Explains a model's prediction for an event, of whichever task."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from streamlin.errors import RecordError
from streamlin.events import Batch
from streamlin.explanation.explain import explain
from streamlin.explanation.explanation import Explanation
from streamlin.model import Model

if TYPE_CHECKING:
    from streamlin.explanation.tag_explanation import TagExplanation


def explain_event(model: Model, event: Batch, learners: Sequence[str] | None = None) -> "Explanation | TagExplanation":
    """Explain why a model, of texts or of sentences, predicts the label, or the tags, of a batch of one event.

    learners : the names of the learners to explain; None for all.

    Raises
    ------
    ConfigError : an unknown learner, or one whose scores are not sums over features.
    RecordError : the event is only the label of an earlier one; a sentence has no tokens, or too many.
    """
    if event.label_only is not None and event.label_only.any():
        kind = "a text, found only a label" if event.tokens is None else "tokens or a text, found only tags"
        raise RecordError(f"expected {kind}")
    if event.tokens is None:
        categories = {name for view in model.views.values() for name in view.categories}
        return explain(model, event.texts, learners, {name: event.extra[name][0] for name in categories})
    from streamlin.explanation.explain_tags import explain_tags  # only sentences need the taggers

    return explain_tags(cast(Any, model), event, learners)
