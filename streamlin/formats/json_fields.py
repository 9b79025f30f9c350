"""The fields to read from JSON objects, as a type that msgspec checks while decoding.

A dotted name is first looked up whole, as a key. Without such a value it is a path into nested objects: `meta.class` is
a struct `meta` with a field `class`.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import msgspec

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, RecordError

SCALAR = str | int | float | None
STRINGS, TAGS = list[str] | None, list[str | None] | None

_Tree = dict[str, Any]


class JsonFields:
    """The type of objects with the configured fields, and the location of each field in it.

    needs_text : whether an object must have a text.
    has_tokens : whether it has lists of tokens, tags and further columns instead of a label.
    has_trees : whether it has a tree instead of tags and columns.
    type : a msgspec Struct; other keys of an object are ignored.
    Raises ConfigError for an invalid path, and for paths that exclude each other.
    """

    def __init__(
        self,
        fields: FieldsConfig,
        extra: Sequence[str],
        needs_text: bool = True,
        has_tokens: bool = False,
        has_trees: bool = False,
    ) -> None:
        self._attributes: dict[tuple[str, ...], list[str]] = {}
        tree: _Tree = {}
        kinds = _kinds(fields, extra, needs_text and not has_tokens, has_tokens, has_trees)
        for path, kind in kinds.items():
            _insert(tree, path, kind)
        tree |= {path: kind for path, kind in kinds.items() if "." in path}
        self.type: Any = self._struct(tree, [], [])

    def column(self, rows: Sequence[Any], path: str) -> list[Any]:
        """The values at a path in objects of `type`; None where a value is missing."""
        values = self._values(rows, (path,))
        if "." not in path or None not in values:
            return values
        nested = self._values(rows, tuple(path.split(".")))
        return [at_path if whole is None else whole for whole, at_path in zip(values, nested, strict=True)]

    def _values(self, rows: Sequence[Any], keys: tuple[str, ...]) -> list[Any]:
        first, *rest = self._attributes[keys]
        values = list(map(attrgetter(first), rows))
        for attribute in rest:
            values = [None if value is None else getattr(value, attribute) for value in values]
        return values

    def _struct(self, tree: _Tree, keys: list[str], attributes: list[str]) -> Any:
        """The struct of the subtree at `keys`; attributes are numbered, since a key need not be an identifier."""
        definitions: list[Any] = []
        rename = {}
        for number, (key, kind) in enumerate(tree.items()):
            attribute = f"f{number}"
            rename[attribute] = key
            subkeys, subattributes = [*keys, key], [*attributes, attribute]
            if isinstance(kind, dict):
                kind = self._struct(kind, subkeys, subattributes)
                needed = any(field.required for field in msgspec.structs.fields(kind))
                kind = kind if needed else kind | None
            else:
                self._attributes[tuple(subkeys)] = subattributes
                needed = kind is str
            definitions.append((attribute, kind) if needed else (attribute, kind, None))
        return msgspec.defstruct("Fields", definitions, rename=rename, gc=False, kw_only=True)


def _kinds(
    fields: FieldsConfig, extra: Sequence[str], needs_text: bool, has_tokens: bool, has_trees: bool
) -> dict[str, Any]:
    """Path -> type. A single text field is required if `needs_text`; where it may be in several places, none is."""
    text = str if needs_text and len(fields.text) == 1 and "." not in fields.text[0] else str | None
    own: list[tuple[str, Any]] = [(path, text) for path in fields.text]
    if has_trees:
        own += [(fields.tokens, STRINGS), (fields.tree, str | None)]
    elif has_tokens:
        own += [(fields.tokens, STRINGS), (fields.tags, TAGS), *((column, TAGS) for column in fields.columns)]
    else:
        own.append((fields.label, SCALAR))
    own += [(fields.id, SCALAR), (fields.weight, float | None), (fields.time, SCALAR)]
    paths = [path for path, _ in own]
    for path in paths:
        if paths.count(path) > 1:
            raise ConfigError(f"fields: '{path}' is used twice; each field needs a path of its own")
    return dict.fromkeys(extra, Any) | dict(own)


def _insert(tree: _Tree, path: str, kind: Any) -> None:
    """Insert a type into the tree at a path."""
    if any(character in '"\\' or character < " " for character in path):
        shown = path if path.isprintable() else ascii(path)
        raise ConfigError(
            f"fields: '{shown}' holds a quotation mark, backslash or control character, which no name may; "
            "a key with a dot is named as it is, log.level"
        )
    *branches, leaf = path.split(".")
    if "" in branches or not leaf:
        raise ConfigError(f"fields: '{path}' is not a path; expected names separated by single dots")
    for branch in branches:
        tree = tree.setdefault(branch, {})
        if not isinstance(tree, dict):
            raise ConfigError(f"fields: '{branch}' can't be both a value and the parent of '{path}'")
    if leaf in tree:
        raise ConfigError(f"fields: '{path}' can't be both a value and the parent of other fields")
    tree[leaf] = kind


def put(tree: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path, unless it is None. Raises RecordError if a part of the path is a value."""
    if value is None:
        return
    *branches, leaf = path.split(".")
    for branch in branches:
        tree = tree.setdefault(branch, {})
        if not isinstance(tree, dict):
            raise RecordError(f"'{path}' can't be set: '{branch}' is a value")
    if isinstance(tree.get(leaf), dict):
        raise RecordError(f"'{path}' can't be both a value and the parent of other fields")
    tree[leaf] = value
