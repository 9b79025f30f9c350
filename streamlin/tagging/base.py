"""What all taggers share: tables that grow, and their form in a checkpoint."""

import math
from collections.abc import Mapping
from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.learners.tables import Array, resized
from streamlin.storage.arrays import Expected, Layout, expected, like
from streamlin.tagging.parts import Parts
from streamlin.tagging.sentences import Sentences, Tagged, TagTargets
from streamlin.tagging.sparse_rows import packed, packed_slots, unpacked
from streamlin.tagging.viterbi import LANES

Kind = Literal[
    "rows",
    "slots",
    "contexts",
    "context",
    "chain",
    "pairs",
    "pair",
    "pair_rows",
    "tags",
    "tags_and_start",
    "fixed",
]
"""The shape of a table: [rows, tags], [rows], [contexts, tags], [contexts], [tags + 1, tags], [pairs, tags], [pairs],
[tags + 1, tags + 1], [tags], [tags + 1]; or one that never changes. "slots" are the places of the features' weights in
tables of the kind "rows"."""
_SPARSE = ("rows", "contexts")
_MANY, _RESERVED = 1 << 14, 1 << 28
"""Features from which on tables are no small ones, and the bytes that these get at once, of memory not yet in use.

Where the memory that is not in use is limited too (`ulimit -v`), they get what they need.
"""
MOST_TAGS = 1 << 16
"""The largest number of tags, as a checkpoint has two bytes for each."""


class Tagger:
    """An online tagger of sentences, whose features and tags the pipeline numbers.

    A subclass names its tables, with their kinds; one kernel tags and learns, sentence by sentence. Tables grow; new
    rows and tags always start as zeros. Columns are a multiple of `viterbi.LANES`.
    """

    name: ClassVar[str]
    kinds: ClassVar[dict[str, Kind]]
    """The learned tables and their kinds."""
    slots: NDArray[np.int32]

    def __init__(self) -> None:
        self.tables = dict(self.kinds)
        self.n_pairs = np.zeros(1, np.int64)
        """Number of pairs of tags that were seen, as histories of a second order."""
        self.n_slots = np.zeros(1, np.int64)
        """Number of features that were learned, which have weights."""
        self._used = {"rows": 0, "contexts": 0, "tags": 0}

    def make_tables(self) -> None:
        """Create all tables, empty; those of kind "fixed" are the subclass's own."""
        for name, kind in self.tables.items():
            if kind != "fixed":
                setattr(self, name, np.full(self._shape(kind, 0, 0, 0, 0), *_FILLS.get(kind, (0.0, np.float32))))

    def tag_then_learn(self, sentences: Sentences, targets: TagTargets, tagged: Tagged) -> None:
        """Set the predictions of each sentence, made before it is learned; see `grow`."""
        raise NotImplementedError

    def parts(self, sentences: Sentences, tags: NDArray[np.int32], n_tags: int) -> Parts:
        """The scores by which it predicts the tags int32[m] of one sentence, as sums; nothing of it was learned.

        n_tags : the number of known tags, > 0.
        """
        raise NotImplementedError

    def grow(self, n_rows: int, n_contexts: int, n_tags: int) -> None:
        """Make room for so many features, contexts and tags; and for the pairs of tags that a batch may bring."""
        capacity = self._capacity(n_tags)
        for name, kind in self.tables.items():
            if kind == "fixed":
                continue
            table = getattr(self, name)
            shape = self._shape(kind, n_rows, n_contexts, capacity, int(self.n_pairs[0]))
            if all(size <= old for size, old in zip(shape, table.shape, strict=True)):
                continue
            setattr(self, name, self._larger(table, kind, shape))
        self._used = {"rows": n_rows, "contexts": n_contexts, "tags": n_tags}

    def _larger(self, table: Array, kind: Kind, shape: tuple[int, ...]) -> Array:
        """A table with room for `shape`; what counts events, and not tags, grows fourfold, or to `_RESERVED` at once.

        Rows that nobody has written to take no memory, but each growth copies those in use to fresh memory.
        """
        if kind in ("rows", "slots", "contexts", "context", "pairs", "pair"):
            rows = max(shape[0], 4 * table.shape[0]) if shape[0] > table.shape[0] else table.shape[0]
            if kind == "rows" and rows > _MANY and getrlimit(RLIMIT_AS)[0] == RLIM_INFINITY:
                rows = max(rows, _RESERVED // (shape[1] * table.itemsize))
            shape = (rows, *shape[1:])
        larger = resized(table, shape, {"rows": int(self.n_slots[0]), "contexts": self._used["contexts"]}.get(kind))
        if kind == "slots":
            larger[table.size :] = -1
        if kind == "pair_rows":
            larger[table.shape[0] :, :] = -1
            larger[:, table.shape[1] :] = -1
        return larger

    def _capacity(self, n_tags: int) -> int:
        """Columns for so many tags: as before, or a quarter more and a multiple of LANES."""
        old = next((getattr(self, name).shape[-1] for name, kind in self.tables.items() if kind in _WIDE), 0)
        if n_tags <= old:
            return old
        return min(-(-max(n_tags, old + old // 4) // LANES) * LANES, MOST_TAGS)

    def _shape(self, kind: Kind, n_rows: int, n_contexts: int, n_tags: int, n_pairs: int) -> tuple[int, ...]:
        return {
            "rows": (n_rows, n_tags),
            "slots": (n_rows,),
            "contexts": (n_contexts, n_tags),
            "context": (n_contexts,),
            "chain": (n_tags + 1, n_tags),
            "pairs": (n_pairs, n_tags),
            "pair": (n_pairs,),
            "pair_rows": (n_tags + 1, n_tags + 1),
            "tags": (n_tags,),
            "tags_and_start": (n_tags + 1,),
            "fixed": (),
        }[kind]

    def make_room_for_pairs(self, tokens: int) -> None:
        """Make room for the pairs that so many tokens may bring."""
        n_pairs = int(self.n_pairs[0]) + tokens
        for name, kind in self.tables.items():
            table = getattr(self, name)
            if kind in ("pairs", "pair") and table.shape[0] < n_pairs:
                setattr(self, name, resized(table, (max(n_pairs, 2 * table.shape[0]), *table.shape[1:]), None))

    def table_bytes(self, n_rows: int, n_contexts: int, n_tags: int) -> int:
        """The size of all tables for so many features, contexts and tags."""
        shapes = {
            name: self._shape(kind, n_rows, n_contexts, n_tags, int(self.n_pairs[0]))
            for name, kind in self.tables.items()
        }
        return sum(math.prod(shape) * getattr(self, name).itemsize for name, shape in shapes.items())

    def state(self, n_rows: int, n_contexts: int, n_tags: int) -> dict[str, Array]:
        """Every table, cut to what is in use; of those of features only the cells that are not 0."""
        self.grow(n_rows, n_contexts, n_tags)
        arrays: dict[str, Array] = {}
        for kind in _SPARSE:
            wide = {name: getattr(self, name) for name in self.tables if self.tables[name] == kind}
            if wide:
                slots = self.slots[:n_rows] if kind == "rows" else np.arange(n_contexts, dtype=np.int32)
                arrays |= {f"{kind}/{name}": array for name, array in packed(wide, slots, n_tags).items()}
        for name, kind in self.tables.items():
            if kind == "fixed":
                arrays[name] = getattr(self, name)
            elif kind not in (*_SPARSE, "slots"):
                shape = self._shape(kind, n_rows, n_contexts, n_tags, int(self.n_pairs[0]))
                arrays[name] = getattr(self, name)[tuple(map(slice, shape))]
        return arrays

    def expected(self, n_rows: int, n_contexts: int, n_tags: int, layout: Mapping[str, Layout]) -> dict[str, Expected]:
        """What the arrays of a `state` must be. layout : of the arrays in a file, for the number of pairs of tags."""
        shapes = [layout[name][1] for name, kind in self.tables.items() if kind == "pairs" and name in layout]
        n_pairs = next((shape[0] for shape in shapes if shape), 0)
        arrays: dict[str, Expected] = {}
        for name, kind in self.tables.items():
            if kind in _SPARSE:
                used = n_rows if kind == "rows" else n_contexts
                arrays[f"{kind}/sizes"] = expected(np.uint16, used, highest=n_tags)
                arrays[f"{kind}/tags"] = expected(np.uint16, None, highest=max(n_tags - 1, 0))
                arrays[f"{kind}/{name}"] = expected(np.float32, None)
            elif kind == "fixed":
                arrays[name] = like(getattr(self, name))
            elif kind != "slots":
                shape = self._shape(kind, n_rows, n_contexts, n_tags, n_pairs)
                indexes = kind == "pair_rows"
                arrays[name] = expected(
                    getattr(self, name).dtype,
                    *shape,
                    lowest=-1 if indexes else 0,
                    highest=n_pairs - 1 if indexes else None,
                )
        return arrays

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Use the tables of a `state`. Raises CheckpointError if they contradict each other."""
        n_tags = next(
            (arrays[name].shape[-1] for name, kind in self.tables.items() if kind in ("chain", "tags")),
            0,
        )
        capacity = self._capacity(n_tags)
        for name, kind in self.tables.items():
            if kind in _SPARSE:
                sizes, tags = arrays[f"{kind}/sizes"], arrays[f"{kind}/tags"]
                if not int(sizes.sum()) == tags.size == arrays[f"{kind}/{name}"].size:
                    raise CheckpointError(f"the checkpoint's arrays of {self.name}, {kind}, do not fit together")
                if kind == "rows":
                    self.slots = packed_slots(sizes)
                    sizes = sizes[sizes > 0]
                    self.n_slots[0] = sizes.size
                setattr(self, name, unpacked(sizes, tags, arrays[f"{kind}/{name}"], capacity))
                self._used[kind] = arrays[f"{kind}/sizes"].size
            elif kind in ("fixed", "context", "pair"):
                setattr(self, name, arrays[name].copy())
            elif kind != "slots":
                array = arrays[name]
                if kind == "pairs":
                    self.n_pairs[0] = array.shape[0]
                shape = self._shape(kind, 0, 0, capacity, int(self.n_pairs[0]))
                setattr(self, name, self._larger(array, kind, shape) if array.shape != shape else array.copy())

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle: tables as in a checkpoint."""
        others = {name: value for name, value in vars(self).items() if name not in self.tables}
        return others | {"arrays": self.state(*self._used.values())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays = state.pop("arrays")
        vars(self).update(state)
        self.make_tables()
        self.restore(arrays)
        self._used = state["_used"]

    def arrays_of(self, names: tuple[str, ...]) -> tuple[Any, ...]:
        """Some of the tables, for a kernel."""
        return tuple(getattr(self, name) for name in names)


_WIDE: tuple[Kind, ...] = ("rows", "contexts", "chain", "pairs", "tags")
_FILLS: dict[str, tuple[Any, Any]] = {"pair_rows": (-1, np.int32), "slots": (-1, np.int32)}
