"""Trees as rules of a grammar in Chomsky's normal form, and back.

Of `(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))`, with the parent's label and one sibling remembered::

    (S)    -> (NP)S (S)(NP       (S)(NP -> (VP)S .
    (NP)S  -> DT NN              (VP)S  -> VBZ

A symbol is a tag; `(LABEL)PARENT`, a constituent, whose labels are several where brackets have the same words; or
`(LABEL)PARENT(SIBLING`, the rest of a constituent behind these siblings. Labels hold no round brackets, so no two
symbols are alike. Johnson, Computational Linguistics 24 (1998) 613-632, for parents; Klein, Manning, ACL 2003, 423-430.
"""

from collections.abc import Iterator
from typing import NamedTuple

from streamlin.formats.trees import Bracket, Tree, chains

Rule = tuple[str, str, str | None]
"""The symbols of the left-hand side and of its one or two parts."""


class _Node(NamedTuple):
    """A constituent: its label, its symbol, where its words end, and label and symbol of each part."""

    label: str
    symbol: str
    end: int
    parts: list[tuple[str, str]]


def rules_of(tree: Tree, vertical: int, horizontal: int) -> tuple[str, list[Rule]]:
    """The symbol of the whole tree, and its rules.

    vertical : 2: a constituent remembers its parent's label. horizontal : how many siblings before it the rest of a
        constituent remembers.
    """
    nodes = _nodes(tree, vertical)
    if not nodes:  # a single word
        return tree.tags[0], []
    return nodes[0].symbol, [rule for node in nodes for rule in _binary(node, horizontal)]


def _nodes(tree: Tree, vertical: int) -> list[_Node]:
    """The constituents, an outer one before those in it."""
    brackets, n = chains(tree.brackets), len(tree.words)
    if n > 1 and (not brackets or brackets[0].end < n or brackets[0].begin > 0):
        brackets = [Bracket("", 0, n), *brackets]
    nodes, stack, at = list[_Node](), list[_Node](), 0
    for word, tag in enumerate(tree.tags):
        while at < len(brackets) and brackets[at].begin == word:
            label, _, end = brackets[at]
            symbol = f"({label})" + (stack[-1].label if stack and vertical > 1 else "")
            node = _Node(label, symbol, end, [])
            if stack:
                stack[-1].parts.append((label, symbol))
            nodes.append(node)
            stack.append(node)
            at += 1
        if stack:
            stack[-1].parts.append((tag, tag))
        while stack and stack[-1].end == word + 1:
            stack.pop()
    return nodes


def _binary(node: _Node, horizontal: int) -> Iterator[Rule]:
    """The rules of a constituent, of two parts each: from left to right a part and the rest, at last two parts."""
    labels, symbols = zip(*node.parts, strict=True)
    if len(symbols) == 1:
        yield node.symbol, symbols[0], None
        return
    left = node.symbol
    for number in range(len(symbols) - 2):
        rest = "(".join((node.symbol, *labels[max(0, number + 1 - horizontal) : number + 1]))
        yield left, symbols[number], rest
        left = rest
    yield left, symbols[-2], symbols[-1]


def labels_of(symbol: str) -> list[str]:
    """The labels of a constituent; none of a tag, and none of a rest."""
    if not is_whole(symbol) or not symbol.startswith("("):
        return []
    return symbol[1 : symbol.index(")")].split(" ")


def is_whole(symbol: str) -> bool:
    """Whether a symbol is that of a constituent or a tag."""
    return "(" not in symbol[1:]
