"""Tuning the garbage collector."""

import gc

_THRESHOLD = 100_000
"""New objects until a collection. The columns of a few batches are a few thousand objects, none of them in a cycle."""


def collect_rarely() -> None:
    """Make collections rare: while everything is imported they take time, and next to nothing could be freed."""
    gc.set_threshold(_THRESHOLD)


def freeze() -> None:
    """Exclude all objects that exist by now: modules are never freed, and scanning them takes longer than a batch."""
    gc.freeze()
