"""Trees in brackets, one a line: `(S (NP (DT the) (NN dog)) (VP (VBZ barks)))`.

The form is that of the Penn Treebank (Marcus, Santorini, Marcinkiewicz, Computational Linguistics 19 (1993) 313-330).
Nothing here recurses, so trees may be of any depth.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import DecodeError, RecordError
from streamlin.formats.lengths import Lengths
from streamlin.formats.tokens import Tokenized, sentences

_PARTS = re.compile(r"[()]|[^() \t\n\r\f\v]+")
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_FUNCTION = re.compile(r"(?<=.)[-=].*")
_TRACE = "-NONE-"
_TOPS = ("", "TOP", "ROOT", "S1")
"""The outermost bracket is left out if it has one of these labels."""
_ROUND = {"-LRB-": "(", "-RRB-": ")"}


class Bracket(NamedTuple):
    """A constituent: its label, and its words, numbered from `begin` to before `end`."""

    label: str
    begin: int
    end: int


class Tree(NamedTuple):
    """A sentence's words, the tag of each, and its brackets, an outer one before those in it."""

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]


class _Open(NamedTuple):
    """A bracket that is not closed yet: its number among all, its first word, and the words and brackets in it."""

    number: int
    begin: int
    parts: list[str]


def read_tree(text: str) -> Tree:
    """The tree in brackets.

    Traces (`-NONE-`) and brackets without words are left out, and of labels what follows `-` or `=`: `NP-SBJ=2` is
    `NP`. The words `-LRB-` and `-RRB-` stand for round brackets.

    Raises
    ------
    DecodeError : brackets are not balanced, the line has more than one tree, or no word, or a bracket is not a tag with
        a word or a label with brackets.
    """
    words, tags, brackets, stack = list[str](), list[str](), list[Bracket](), list[_Open]()
    for found in _PARTS.finditer(text):
        part, column = found.group(), found.start() + 1
        if not stack and (part != "(" or text[: column - 1].strip()):
            raise DecodeError(f"{part!r:.40} at character {column} is outside of the tree, expected one tree a line")
        if part == "(":
            if stack and len(stack[-1].parts) > 1 and stack[-1].parts[1] != "(":
                raise DecodeError(f"a bracket at character {column} follows a word, expected (TAG word)")
            if stack:
                stack[-1].parts[:] = [*(stack[-1].parts or [""])[:1], "("]
            stack.append(_Open(len(brackets), len(words), []))
            brackets.append(Bracket("", len(words), len(words)))
        elif part != ")":
            if len(stack[-1].parts) > 1:
                raise DecodeError(f"the word {part!r:.40} at character {column} has no tag, expected (TAG word)")
            stack[-1].parts.append(part)
        else:
            _close(stack.pop(), column, words, tags, brackets)
    if stack:
        raise DecodeError(f"{len(stack)} brackets are not closed")
    if not words:
        raise DecodeError("the tree has no words")
    return Tree(words, tags, brackets[1:] if brackets and _is_top(brackets[0], len(words)) else brackets)


def _close(opened: _Open, column: int, words: list[str], tags: list[str], brackets: list[Bracket]) -> None:
    """Keep what a bracket holds: a word with its tag, or the bracket, if there are words in it."""
    number, begin, parts = opened
    if len(parts) < 2:
        raise DecodeError(f"the bracket that ends at character {column} has no word, expected (TAG word)")
    label, content = parts
    if content != "(":
        del brackets[number:]
        if label != _TRACE:
            words.append(_ROUND.get(content, content))
            tags.append(label)
    elif begin == len(words):
        del brackets[number:]
    else:
        brackets[number] = Bracket(label if label.startswith("-") else _FUNCTION.sub("", label), begin, len(words))


def _is_top(bracket: Bracket, n: int) -> bool:
    return bracket.label in _TOPS and (bracket.begin, bracket.end) == (0, n)


def write_tree(tree: Tree) -> str:
    """The tree in brackets, which `read_tree` reads as the same tree.

    Round brackets in words are `-LRB-` and `-RRB-`, blanks `_`. What is not in one bracket is in one without a label.
    """
    words, tags, brackets = tree
    if len(words) > 1 or brackets:
        top = brackets[:1] and brackets[0][1:] == (0, len(words)) and not _is_top(brackets[0], len(words))
        brackets = brackets if top else [Bracket("", 0, len(words)), *brackets]
    parts, ends, at = list[str](), list[int](), 0
    for word, (text, tag) in enumerate(zip(words, tags, strict=True)):
        while at < len(brackets) and brackets[at].begin == word:
            parts.append(f"({brackets[at].label} ")
            ends.append(brackets[at].end)
            at += 1
        parts.append(f"({tag} {_written(text)})")
        while ends and ends[-1] == word + 1:
            parts.append(")")
            ends.pop()
        parts.append(" ")
    return "".join(parts).rstrip(" ")


def _written(word: str) -> str:
    """A word as it stands in brackets."""
    return _BLANKS.sub("_", word.replace("(", "-LRB-").replace(")", "-RRB-")) or "_"


def chains(brackets: Sequence[Bracket]) -> list[Bracket]:
    """The brackets, those of the same words joined: their labels, the outer one first, with blanks between."""
    joined: list[Bracket] = []
    labels: list[str] = []
    for number, (label, begin, end) in enumerate(brackets):
        labels.append(label)
        if number + 1 == len(brackets) or brackets[number + 1][1:] != (begin, end):
            joined.append(Bracket(" ".join(labels), begin, end))
            labels = []
    return joined


def columns_of_trees(
    trees: Sequence[Tree | None],
    tokens: Sequence[Sequence[str]],
    lengths: Lengths,
    offsets: NDArray[np.int64] | None = None,
) -> tuple[list[str | None], Tokenized]:
    """The labels of n events, which are trees in brackets, and their columns of tokens; tags are those of the trees.

    tokens : of each event; its tree's words if it has a tree.

    Raises
    ------
    RecordError : a label, or those of several brackets with the same words, are longer than `lengths` allow.
    """
    for tree in trees:
        if tree is not None:
            lengths.check_labels([bracket.label for bracket in chains(tree.brackets)])
    tags = [None if tree is None else tree.tags for tree in trees]
    return [None if tree is None else write_tree(tree) for tree in trees], sentences(tokens, tags, {}, offsets)


def check_words(given: Sequence[str], tree: Tree) -> None:
    """Raise RecordError if an event's tokens are not as many as its tree's words."""
    if len(given) != len(tree.words):
        raise RecordError(f"the tree has {len(tree.words)} words for {len(given)} tokens, expected as many")
