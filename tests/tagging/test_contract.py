"""The check of taggers in streamlin.testing passes for the built-in ones and fails for broken ones."""

from functools import partial

import numpy as np
import pytest

from streamlin.tagging.kinds import KINDS
from streamlin.testing import check_tagger

HMM = KINDS["hmm"]


@pytest.mark.parametrize("tagger", KINDS.values(), ids=KINDS.keys())
def test_built_in_taggers_pass_the_check(tagger):
    check_tagger(tagger)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("crf", {"counts": True}),
        ("log_linear", {"beam": 3}),
        ("structured_perceptron", {"step": "perceptron"}),
        ("structured_perceptron", {"step": "passive_aggressive"}),
        ("hmm", {"order": 1}),
    ],
)
def test_their_other_forms_pass_the_check(kind, parameters):
    check_tagger(partial(KINDS[kind], **parameters))


class Peeking(HMM):
    """Uses a tag of a sentence in its prediction."""

    def tag_then_learn(self, sentences, targets, tagged):
        super().tag_then_learn(sentences, targets, tagged)
        seen = (targets.codes >= 0) & (tagged.tags >= 0)
        tagged.tags[seen] = np.minimum(targets.codes[seen], targets.known.min() - 1)


class Batched(HMM):
    """Predicts a whole batch before it learns any of it."""

    def tag_then_learn(self, sentences, targets, tagged):
        super().tag_then_learn(sentences, targets._replace(codes=np.full_like(targets.codes, -1)), tagged)
        other = tagged._replace(tags=tagged.tags.copy(), confidences=tagged.confidences.copy())
        super().tag_then_learn(sentences, targets, other)


class Forgetful(HMM):
    """Restores all tables but one."""

    def restore(self, arrays):
        super().restore(arrays)
        self.tag_counts[:] = 0


class Heedless(HMM):
    """Counts sentences of weight 0, too."""

    def tag_then_learn(self, sentences, targets, tagged):
        super().tag_then_learn(sentences, targets, tagged)
        self.total += (targets.weights == 0).sum()


class Unexplained(HMM):
    """Its parts do not have the tags that it predicts among those considered."""

    def parts(self, sentences, tags, n_tags):
        found = super().parts(sentences, tags, n_tags)
        return found._replace(considered=np.zeros_like(found.considered))


class Overflowing(HMM):
    def parts(self, sentences, tags, n_tags):
        found = super().parts(sentences, tags, n_tags)
        return found._replace(contexts=np.full_like(found.contexts, np.inf))


@pytest.mark.parametrize(
    ("tagger", "broken"),
    [
        (Peeking, "tags hidden|in batches of"),
        (Batched, "in batches of"),
        (Forgetful, "its state, restored"),
        (Heedless, "with weight 0"),
        (Unexplained, "predicted tags are considered"),
        (Overflowing, "finite parts"),
    ],
)
def test_a_tagger_that_breaks_the_contract_fails_the_check(tagger, broken):
    with pytest.raises(AssertionError, match=broken):
        check_tagger(tagger)
