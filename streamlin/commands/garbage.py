"""When the garbage collector runs."""

import gc

_GARBAGE = 100_000
"""Objects made until the collector looks at them. The columns of a few batches are some thousands, none in a cycle."""


def tune_garbage() -> None:
    """Have it look seldom, and at nothing that is there by now."""
    gc.freeze()  # what was imported lives on; to look it through takes longer than to learn a batch
    gc.set_threshold(_GARBAGE)
