"""The parser in plain Python, one sentence at a time, on dicts of counts and of cells."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import exp, log
from typing import Any, NamedTuple

from streamlin.formats.trees import Tree
from tests.naive_tagging import Contexts, Token

Nested = tuple[Any, ...]
"""A bracket: its label and its parts; a tag and its word."""


class Item(NamedTuple):
    """What a symbol of a cell has: the best tree's probability, and that of all trees."""

    best: float
    total: float


class Outcome(NamedTuple):
    """The best tree's probability, its share, and the logarithm of the sentence's; None where there is no tree."""

    best: float | None
    share: float | None
    log_probability: float | None


def nested(tree: Tree) -> Nested:
    """A tree as nested tuples; a bracket without a label around what has none of its own."""
    leaves: list[Nested] = [(tag, word) for tag, word in zip(tree.tags, tree.words, strict=True)]
    parts = _parts(list(tree.brackets), leaves, 0, len(leaves))
    return parts[0] if len(parts) == 1 else ("", *parts)


def _parts(brackets: list[Any], leaves: list[Nested], begin: int, end: int) -> list[Nested]:
    found: list[Nested] = []
    while begin < end:
        if brackets and brackets[0].begin == begin and brackets[0].end <= end:
            label, _, stop = brackets.pop(0)
            found.append((label, *_parts(brackets, leaves, begin, stop)))
            begin = stop
        else:
            found.append(leaves[begin])
            begin += 1
    return found


class NaivePCFG:
    """Symbols are tuples: a tag; labels and the parent's; or these and the siblings before."""

    def __init__(self, vertical: int = 2, horizontal: int = 1, alpha: float = 20.0, beam: float = 12.0) -> None:
        self.vertical, self.horizontal, self.alpha, self.beam = vertical, horizontal, alpha, exp(-beam)
        self.rules: Counter[Any] = Counter()
        self.totals: Counter[Any] = Counter()
        self.roots: Counter[Any] = Counter()
        self.contexts, self.tags, self.words = Contexts(), list[str](), Counter[Any]()

    def learn(self, tokens: Sequence[Token], tree: Tree) -> None:
        """Count a sentence's words and rules."""
        for token, tag in zip(tokens, tree.tags, strict=True):
            if tag not in self.tags:
                self.tags.append(tag)
            self.contexts.count(token, self.tags.index(tag), 1.0)
            self.words[token.contexts[-1]] += 1
        rules: list[Any] = []
        self.roots[self._symbol(nested(tree), "", rules)] += 1
        self.rules.update(rules)
        self.totals.update(left for left, _ in rules)

    def probability(self, tokens: Sequence[Token], tree: Nested) -> float:
        """Of the tree, with P(tag | word) / P(tag) for each word."""
        rules: list[Any] = []
        root = self._symbol(tree, "", rules)
        p = self.roots[root] / (self.roots.total() + self.alpha)
        for left, right in rules:
            p *= self.rules[left, right] / (self.totals[left] + self.alpha)
        for token, tag in zip(tokens, _tags(tree), strict=True):
            p *= self._ratios(token)[tag]
        return p

    def _symbol(self, tree: Nested, parent: str, rules: list[Any]) -> Any:
        """The symbol of a tree, whose rules are appended."""
        if isinstance(tree[1], str):
            return tree[0]
        label, parts = _joined(tree)
        symbol = left = (label, parent if self.vertical > 1 else "")
        labels, symbols = [_joined(part)[0] for part in parts], [self._symbol(part, label, rules) for part in parts]
        for number in range(len(parts) - 2):
            memory = tuple(labels[max(0, number + 1 - self.horizontal) : number + 1])
            rules.append((left, (symbols[number], (*symbol, memory))))
            left = (*symbol, memory)
        rules.append((left, tuple(symbols[-2:])))
        return symbol

    def parse(self, tokens: Sequence[Token], bits: int) -> Outcome:
        by_right = defaultdict[Any, list[Any]](list)
        for (left, right), count in self.rules.items():
            by_right[right].append((left, count / (self.totals[left] + self.alpha)))
        cells: dict[tuple[int, int], dict[Any, Item]] = {}
        n = len(tokens)
        for i, token in enumerate(tokens):
            cell = {tag: Item(p, p) for tag, p in self._ratios(token).items()}
            for tag, item in list(cell.items()):
                for left, p in by_right[(tag,)]:
                    _add(cell, left, item.best * p, item.total * p)
            cells[i, i + 1] = self._kept(cell)
        for width in range(2, n + 1):
            for i in range(n - width + 1):
                cell = {}
                for k in range(i + 1, i + width):
                    for a, first in cells[i, k].items():
                        for b, second in cells[k, i + width].items():
                            for left, p in by_right[(a, b)]:
                                best, total = first.best * second.best * p, first.total * second.total * p
                                _add(cell, left, best, total)
                cells[i, i + width] = self._kept(cell)
        return self._best(cells[0, n], sum(self._log_word(token, bits) for token in tokens))

    def _ratios(self, token: Token) -> dict[str, float]:
        p, priors = self.contexts.probabilities(token, len(self.tags), 1.0), self.contexts.priors(len(self.tags))
        return {tag: p[k] / priors[k] for k, tag in enumerate(self.tags) if p[k] >= 1e-4 * p.max()}

    def _log_word(self, token: Token, bits: int) -> float:
        n, different = self.words.total(), len(self.words)
        return log((self.words[token.contexts[-1]] + different / 2**bits) / (n + different))

    def _kept(self, cell: dict[Any, Item]) -> dict[Any, Item]:
        """What is within the beam."""
        least = self.beam * max((item.best for item in cell.values()), default=0.0)
        return {symbol: item for symbol, item in cell.items() if item.best >= least}

    def _best(self, cell: dict[Any, Item], words: float) -> Outcome:
        n = self.roots.total() + self.alpha
        shares = {symbol: self.roots[symbol] / n for symbol in cell}
        total = sum(item.total * shares[symbol] for symbol, item in cell.items())
        if not total:
            return Outcome(None, None, None)
        top = max(cell, key=lambda symbol: cell[symbol].best * shares[symbol])
        return Outcome(cell[top].best * shares[top], cell[top].best * shares[top] / total, log(total) + words)


def _joined(tree: Nested) -> tuple[str, tuple[Nested, ...]]:
    """A tree's label, joined with those of the brackets of the same words, and its parts; of a word its tag."""
    labels = [tree[0]]
    while len(tree) == 2 and isinstance(tree[1], tuple) and isinstance(tree[1][1], tuple):
        tree = tree[1]
        labels.append(tree[0])
    return " ".join(labels), tree[1:]


def _tags(tree: Nested) -> list[str]:
    return [tree[0]] if isinstance(tree[1], str) else [tag for part in tree[1:] for tag in _tags(part)]


def _add(cell: dict[Any, Item], symbol: Any, best: float, total: float) -> None:
    old = cell.get(symbol, Item(0.0, 0.0))
    cell[symbol] = Item(max(best, old.best), old.total + total)
