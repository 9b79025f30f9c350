"""Explains a model's prediction for an event, of whichever task."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from streamlin.events import Batch
from streamlin.explanation.explain import explain
from streamlin.explanation.explanation import Explanation
from streamlin.model import Model

if TYPE_CHECKING:
    from streamlin.explanation.tag_explanation import TagExplanation


def explain_event(model: Model, event: Batch, learners: Sequence[str] | None = None) -> "Explanation | TagExplanation":
    """Explain why a model, of texts or of sentences, predicts the label, or the tags, of an event; nothing is learned.

    event : a batch of one event, which has a text or tokens.
    learners : the names of the learners to explain; None for all.

    Raises
    ------
    ConfigError : an unknown learner, or one whose scores are not sums over features.
    RecordError : a sentence has no tokens, or too many.
    """
    if event.tokens is None:
        model.look_up_templates(event)
        categories = {name for view in model.views.values() for name in view.categories}
        categories |= set() if model.keys is None else {model.keys.field}
        return explain(model, event.texts, learners, {name: event.extra[name][0] for name in categories})
    from streamlin.explanation.explain_tags import explain_tags  # only sentences need the taggers

    return explain_tags(cast(Any, model), event, learners)
