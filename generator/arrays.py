"""What docs/architecture.md says of the arrays that the built-in learners keep in a checkpoint."""

from generator.blocks import table
from generator.docstrings import entries
from streamlin.learners import KINDS, Learner
from streamlin.tagging.base import Kind, Tagger
from streamlin.tagging.crf import CRF
from streamlin.tagging.kinds import KINDS as TAGGERS

_SHAPES: dict[Kind, str] = {
    "context": "contexts",
    "chain": "tags + 1, tags",
    "pairs": "pairs, tags",
    "pair": "pairs",
    "pair_rows": "tags + 1, tags + 1",
    "tags": "tags",
    "tags_and_start": "tags + 1",
}
_SPARSE = ("rows", "contexts")


def listed() -> dict[str, str]:
    """The table of arrays; one row for all learners that keep the same."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, learner in KINDS.items():
        meanings = entries(learner, "Attributes", list(learner.tables))
        for name in learner.tables:
            described = (f"`learners/NAME/{name}`", *_type(learner(), name), meanings[name])
            kinds.setdefault(described, []).append(f"`{kind}`")
    rows = [[name, " ".join(of), dtype, shape, holds] for (name, dtype, shape, holds), of in kinds.items()]
    titles = ["kinds", "dtype", "shape", "holds"]
    return {
        "arrays of learners": table(["array of a learner", *titles], rows),
        "arrays of taggers": table(["array of a tagger", *titles], _of_taggers()),
    }


def _type(learner: Learner, name: str) -> tuple[str, str]:
    """The dtype and the shape in words."""
    array = getattr(learner, name)
    words = ["rows", "1"] if name in learner.shared else ["rows", "labels"][2 - array.ndim :]
    return f"`{array.dtype}`", f"`[{', '.join(words)}]`"


def _of_taggers() -> list[list[str]]:
    """Tables of features are kept as the cells that are not 0; `crf` has some with `counts` only."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, tagger in TAGGERS.items():
        made = CRF(counts=True) if tagger is CRF else tagger()
        kept = [name for name, table in made.tables.items() if table != "slots"]
        meanings = entries(tagger, "Attributes", kept)
        for name in kept:
            for described in _described(made, name, meanings[name]):
                kinds.setdefault(described, [])
                if f"`{kind}`" not in kinds[described]:
                    kinds[described].append(f"`{kind}`")
    return [[name, " ".join(of), dtype, shape, holds] for (name, dtype, shape, holds), of in kinds.items()]


def _described(tagger: Tagger, name: str, meaning: str) -> list[tuple[str, ...]]:
    """The rows of one table."""
    array, kind = getattr(tagger, name), tagger.tables[name]
    if kind in _SPARSE:
        of = "features" if kind == "rows" else "contexts"
        return [
            (f"`learners/NAME/{kind}/sizes`", "`uint16`", f"`[{of}]`", "how many cells of each row are not 0"),
            (f"`learners/NAME/{kind}/tags`", "`uint16`", "`[cells]`", "the tags of these cells, row by row"),
            (f"`learners/NAME/{kind}/{name}`", f"`{array.dtype}`", "`[cells]`", meaning),
        ]
    shape = ", ".join(map(str, array.shape)) if kind == "fixed" else _SHAPES[kind]
    return [(f"`learners/NAME/{name}`", f"`{array.dtype}`", f"`[{shape}]`", meaning)]
