"""Tuning the garbage collector."""

import gc

_THRESHOLD = 100_000
"""New objects until a collection. The columns of a few batches are a few thousand objects, none of them in a cycle."""


def tune_garbage_collector() -> None:
    """Make collections rare, and exclude all objects that exist by now."""
    gc.freeze()  # imported modules are never freed, and scanning them takes longer than learning a batch
    gc.set_threshold(_THRESHOLD)
