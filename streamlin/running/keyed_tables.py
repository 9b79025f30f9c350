"""How large the tables of all keys may become, for the limits of tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from streamlin.events import Batch
from streamlin.features import Buckets

if TYPE_CHECKING:
    from streamlin.keyed.models import KeyModels


def most_bytes(keys: "KeyModels", entries: Mapping[str, int], events: int, labels: int) -> int:
    """An upper bound of their size once events with so many features, by view, are learned.

    labels : an upper bound of the labels that one key will have. A key that is dropped meanwhile counts as if it were
        kept.
    """
    rows = {view: len(index) + entries[view] for view, index in keys.rows.items()}
    return keys.table_bytes(rows, min(keys.slots.limit, len(keys) + events), labels)


def most_labels(keys: "KeyModels", given: Sequence[str | None]) -> int:
    """An upper bound of the labels that one key will have once events of these keys are learned."""
    times = Counter(key for key in given if key is not None)
    had = np.append(keys.labels.count, 0)[keys.slots.look_up([*times])]
    return max(keys.labels.width, int((had + np.fromiter(times.values(), np.int64, len(times))).max(initial=0)))


def bytes_after(keys: "KeyModels", event: Batch, code: int, features: Mapping[str, Buckets]) -> int:
    """Their size once the one event of a batch is learned. code : of its label, -1 for a new one."""
    key = event.extra[keys.field][0]
    if key is None:
        return most_bytes(keys, dict.fromkeys(keys.rows, 0), 0, keys.labels.width)
    slot = int(keys.slots.look_up([key])[0])
    dropped = keys.slots.oldest() if slot < 0 else -1
    rows = {
        view: len(index)
        + index.new_rows(features[view].buckets, slot)
        - (int(index.count[dropped]) if dropped >= 0 else 0)
        for view, index in keys.rows.items()
    }
    had = 0 if slot < 0 else int(keys.labels.count[slot])
    is_new = slot < 0 or code < 0 or not keys.labels.has(slot, code)
    new_keys = int(slot < 0 and dropped < 0)
    return keys.table_bytes(rows, len(keys) + new_keys, max(keys.labels.width, had + is_new))
