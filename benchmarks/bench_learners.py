"""Each learner on a batch of 1,000 events with 20 features, whose rows and labels are all known."""

import numpy as np
import pytest

from streamlin.features import Buckets
from streamlin.features.rows import RowIndex
from streamlin.learners import KINDS, targets

N_EVENTS, N_FEATURES, BITS = 1000, 20, 16


def random_events(n_labels):
    """Features with Zipf frequencies, like words, in 2^16 buckets; label codes in order of first sight."""
    random = np.random.default_rng(0)
    buckets = (random.zipf(1.3, N_EVENTS * N_FEATURES) % (1 << BITS)).astype(np.int32)
    indptr = np.arange(0, buckets.size + 1, N_FEATURES)
    codes = random.integers(0, n_labels, N_EVENTS)
    codes[:n_labels] = np.arange(n_labels)
    return Buckets(indptr, buckets, np.ones(buckets.size, np.float32)), codes.astype(np.int32)


@pytest.mark.parametrize("n_labels", [2, 20, 150])
@pytest.mark.parametrize("kind", KINDS)
def bench_score_then_learn(benchmark, kind, n_labels):
    features, codes = random_events(n_labels)
    rows, learner, scores = RowIndex(BITS), KINDS[kind](), np.empty((N_EVENTS, n_labels))
    first = targets(codes, np.ones(N_EVENTS), 0)
    examples = rows.examples(features, first.codes >= 0)
    learner.grow(len(rows), n_labels)
    learner.score_then_learn(examples, first, scores)  # compiled outside the timer
    again = rows.examples(features, first.codes >= 0), targets(codes, np.ones(N_EVENTS), n_labels), scores
    benchmark.extra_info["events"] = N_EVENTS
    benchmark(learner.score_then_learn, *again)


@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
def bench_rows(benchmark, known):
    """Rows for the buckets of a batch that are all new, or all known."""
    features, _ = random_events(2)
    learned = np.ones(N_EVENTS, np.bool_)
    index = RowIndex(BITS)
    index.examples(features, learned)
    if known:
        benchmark(index.examples, features, learned)
    else:
        benchmark.pedantic(
            lambda fresh: fresh.examples(features, learned), setup=lambda: ((RowIndex(BITS),), {}), rounds=100
        )
