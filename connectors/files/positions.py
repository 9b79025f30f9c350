"""What a position in a file must be, before a file is looked for by it."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from streamlin.errors import CheckpointError
from streamlin.events import SourceContext

_NUMBERS = ("device", "inode")
_TEXTS = ("before",)
_MORE_NUMBERS, _MORE_TEXTS = ("size", "unended", "damaged"), ("file", "head", "error")


def check_positions(context: SourceContext) -> None:
    """Raise CheckpointError if a checkpoint's position is not one in a file."""
    for part, position in chain(context.positions.items(), context.elsewhere):
        if not _is_in_a_file(position):
            raise CheckpointError(f"{part}: the checkpoint's position is not in a file: {position!r:.200}")


def _is_in_a_file(position: Mapping[str, Any]) -> bool:
    numbers = [position.get(name) for name in _NUMBERS]
    numbers += [position[name] for name in _MORE_NUMBERS if position.get(name) is not None]
    texts = [position.get(name) for name in _TEXTS]
    texts += [position[name] for name in _MORE_TEXTS if name in position]
    return all(type(number) is int and number >= 0 for number in numbers) and all(type(text) is str for text in texts)
