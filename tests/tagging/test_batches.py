"""Nothing depends on how sentences come in batches, or on restarts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamlin.tagging.sparse_rows import packed, unpacked
from tests.tagging.running import (
    ALL,
    assert_same_model,
    batch_of,
    by_row,
    joined,
    learn,
    new_model,
    real_sentences,
    restored,
    roughened,
)

OTHERS = (
    {"kind": "crf", "counts": True},
    {"kind": "log_linear", "beam": 3},
    {"kind": "structured_perceptron", "step": "perceptron"},
    {"kind": "hmm", "order": 1},
)
PASSIVE_AGGRESSIVE = ({"kind": "structured_perceptron", "step": "passive_aggressive"},)
KINDS = pytest.mark.parametrize("kinds", [ALL, OTHERS, PASSIVE_AGGRESSIVE], ids=["default", "others", "pa"])


@pytest.fixture(scope="module")
def real(data):
    return batch_of(roughened(real_sentences(data / "pos-ud-ewt.jsonl.gz", 120), seed=3))


@KINDS
@pytest.mark.parametrize("share", [False, True])
def test_batches_of_any_size_are_equal_bit_for_bit(real, kinds, share):
    """Lines, arrays and report; with the probabilities of tokens, too."""
    whole = new_model(*kinds, pipeline={"token_confidence": share})
    expected = learn(whole, real, 500)
    for size in (1, 7):
        model = new_model(*kinds, pipeline={"token_confidence": share})
        outcome = learn(model, real, size)
        assert outcome.lines == expected.lines
        assert_array_equal(outcome.confidences, expected.confidences)
        assert_same_model(model, whole)


@KINDS
def test_a_restart_anywhere_changes_nothing(real, kinds):
    """Also before the first sentence, and while tags are still new."""
    whole = new_model(*kinds)
    expected = learn(whole, real)
    model, begin, outcomes = new_model(*kinds), 0, []
    for end in (0, 1, 2, 5, 30, len(real)):
        outcomes.append(learn(model, real[begin:end], 7))
        model, begin = restored(model), end
    found = joined(outcomes, len(whole.names))
    assert found.tags == expected.tags
    assert_array_equal(found.confidences, expected.confidences)
    assert_same_model(model, whole)


def test_a_restart_of_a_bounded_model_changes_nothing(real):
    whole = new_model(*ALL, features={"max_rows": 400})
    expected = learn(whole, real)
    model = new_model(*ALL, features={"max_rows": 400})
    first = learn(model, real[:30])
    model = restored(model)
    assert joined([first, learn(model, real[30:])], 4).tags == expected.tags
    assert_same_model(model, whole)


def test_cells_that_are_not_zero_are_packed_and_unpacked():
    random = np.random.default_rng(0)
    tables = {name: random.normal(size=(50, 16)).astype(np.float32) for name in ("weights", "squares")}
    for table in tables.values():
        table[random.random(table.shape) < 0.8] = 0.0
    slots = random.permutation(50)[:40].astype(np.int32)
    slots[9] = -1
    cells = packed(tables, slots, 11)
    assert cells["sizes"].sum() == cells["tags"].size < 40 * 11 / 2
    assert cells["sizes"][9] == 0
    for name, table in tables.items():
        found = unpacked(cells["sizes"], cells["tags"], cells[name], 24)
        assert_array_equal(found[:, :11], np.where(slots[:, None] < 0, 0.0, table[slots])[:, :11])
        assert found.shape == (40, 24)
        assert not found[:, 11:].any()


def test_a_checkpoint_holds_no_zeros(real):
    """Of features: most of them meet a few tags."""
    model = new_model("crf")
    learn(model, real)
    arrays, n = model.state()[0], len(model.labels)
    sizes = arrays["learners/crf/rows/sizes"]
    assert sizes.size == len(model.rows["tokens"])
    assert arrays["learners/crf/rows/tags"].size == sizes.sum() < sizes.size * n / 2


def test_restored_places_are_those_of_learned_features(real):
    """Each feature with weights gets a place of its own, in order; what is learned after it has the next ones."""
    model = new_model("crf")
    learn(model, real[:30])
    resumed = restored(model)
    own, other = model.learners["crf"], resumed.learners["crf"]
    n = len(model.rows["tokens"])
    assert 0 < int(other.n_slots[0]) <= int(own.n_slots[0]) < n
    assert_array_equal(other.slots[other.slots >= 0], np.arange(int(other.n_slots[0])))
    assert_array_equal(by_row(own, "weights", n), by_row(other, "weights", n))
    learn(model, real[30:])
    learn(resumed, real[30:])
    n = len(model.rows["tokens"])
    assert_array_equal(by_row(own, "weights", n), by_row(other, "weights", n))
