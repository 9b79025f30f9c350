"""What docs/architecture.md says of the arrays that the built-in learners keep in a checkpoint."""

from generator.blocks import table
from generator.docstrings import entries
from streamlin.learners import KINDS, Learner


def listed() -> dict[str, str]:
    """The table of arrays; one row for all learners that keep the same."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, learner in KINDS.items():
        meanings = entries(learner, "Attributes", list(learner.tables))
        for name in learner.tables:
            described = (f"`learners/NAME/{name}`", *_type(learner(), name), meanings[name])
            kinds.setdefault(described, []).append(f"`{kind}`")
    rows = [[name, " ".join(of), dtype, shape, holds] for (name, dtype, shape, holds), of in kinds.items()]
    return {"arrays of learners": table(["array of a learner", "kinds", "dtype", "shape", "holds"], rows)}


def _type(learner: Learner, name: str) -> tuple[str, str]:
    """The dtype and the shape in words."""
    array = getattr(learner, name)
    words = ["rows", "1"] if name in learner.shared else ["rows", "labels"][2 - array.ndim :]
    return f"`{array.dtype}`", f"`[{', '.join(words)}]`"
