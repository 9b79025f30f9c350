"""Probabilistic context-free grammar, counted online.

Charniak, "Tree-bank grammars", AAAI 1996, 1031-1036; Klein, Manning, ACL 2003, 423-430, for vertical and horizontal
memory.
"""

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import Annotated, Literal, NamedTuple

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.formats.trees import Bracket, Tree
from streamlin.learners.parameters import Positive, checked
from streamlin.learners.tables import Array
from streamlin.parsing.cky import Chart, parse
from streamlin.parsing.grammar import RULE_BYTES, SYMBOL_BYTES, Grammar
from streamlin.parsing.lexicon import Lexicon
from streamlin.parsing.trees import is_whole, labels_of, rules_of
from streamlin.storage.arrays import Expected, Layout, length_of
from streamlin.tagging.sentences import Sentences


class Parsed(NamedTuple):
    """What a parser says of a sentence.

    tags, brackets : as of `Tree`. covered : whether the grammar has a tree of the whole sentence; otherwise these are
    pieces side by side, and the following two are NaN.
    confidence : the tree's share of the probability of all trees. log_probability : of the sentence, the natural
    logarithm, summed over all its trees.
    """

    tags: list[str]
    brackets: list[Bracket]
    covered: bool
    confidence: float = float("nan")
    log_probability: float = float("nan")


class PCFG:
    """Probabilistic context-free grammar.

    The most probable tree under counts with a Dirichlet prior, found by the CKY algorithm::

        argmax P(root) prod_rules P(A -> B C) prod_words P(t | w) / P(t)
        P(A -> B C) = N(A -> B C) / (N(A) + alpha)

    P(t | w) is the chain of the tagger `hmm`. Brackets of the same words are one symbol; a constituent of more than two
    parts becomes rules of two. Where no tree is found, the widest constituents stand side by side, from the left.

    Parameters
    ----------
    vertical : 2: constituents with different parents are different symbols; 1: they are not.
    horizontal : how many siblings the rest of a constituent remembers.
    alpha : the weight of rules that were never seen.
    theta : how much a word is drawn towards its suffix, and so on.
    beam : a constituent is left out where it is e^beam times less probable than the best one of the same words.
    max_tokens : longer sentences are learned, not parsed.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "pcfg"

    @checked
    def __init__(
        self,
        vertical: Literal[1, 2] = 2,
        horizontal: Literal[1, 2] = 1,
        alpha: Positive = 20.0,
        theta: Positive = 1.0,
        beam: Positive = 12.0,
        max_tokens: Annotated[int, Ge(1)] = 40,
    ) -> None:
        self.vertical, self.horizontal, self.max_tokens = vertical, horizontal, max_tokens
        self.alpha, self.theta, self.beam = alpha, theta, beam
        self.lexicon = Lexicon()
        self.grammar = Grammar(1)
        self._tag_symbols = np.zeros(0, np.int32)

    def bound(self, most: int) -> None:
        """Set how many rules there may be, before any is learned."""
        self.grammar = Grammar(most)

    def parse(self, sentences: Sentences, i: int, tags: Sequence[str], bits: int) -> Parsed | None:
        """The tree of sentence i; None if it is too long, or has no words, or nothing is learned.

        tags : those known by now. bits : contexts are hashed to 2^bits buckets.
        """
        n = int(sentences.bounds[i + 1] - sentences.bounds[i])
        if not tags or not 0 < n <= self.max_tokens:
            return None
        if len(tags) > self._tag_symbols.size:
            self._tag_symbols = self.grammar.symbols.codes(tags)
        chart = parse(
            self.lexicon.ratios(sentences, i, len(tags), self.theta),
            self._tag_symbols,
            self.grammar.rules,
            len(self.grammar.symbols),
            self.alpha,
            exp(-self.beam),
        )
        cell = _cell(0, n, n)
        entries = np.arange(chart.begins[cell], chart.ends[cell])
        roots = self.grammar.roots[: len(self.grammar.symbols)]
        shares = roots[chart.symbols[entries]] / (roots.sum() + self.alpha)
        best, total = chart.best[entries] * shares, float(chart.sums[entries] @ shares)
        if not total > 0.0:
            return self._pieces(chart, n)
        top = int(best.argmax())
        words = self.lexicon.log_probability(sentences, i, bits)
        built = _built(chart, [int(entries[top])], self.grammar.symbols.names)
        return Parsed(*built, True, float(best[top]) / total, log(total) + float(chart.scales[cell]) + words)

    def learn(self, sentences: Sentences, i: int, tree: Tree, codes: NDArray[np.int32], weight: float) -> None:
        """Count the tree of sentence i; codes are those of the tags of all sentences."""
        self.lexicon.learn(sentences, i, codes, weight)
        root, rules = rules_of(tree, self.vertical, self.horizontal)
        self.grammar.learn(root, rules, tree.tags, weight)

    def _pieces(self, chart: Chart, n: int) -> Parsed:
        """The widest constituents from the left."""
        names, found, begin = self.grammar.symbols.names, list[int](), 0
        while begin < n:
            for end in range(n, begin, -1):
                cell = _cell(begin, end, n)
                entries = range(int(chart.begins[cell]), int(chart.ends[cell]))
                whole = [entry for entry in entries if is_whole(names[chart.symbols[entry]])]
                if whole:
                    found.append(max(whole, key=lambda entry: float(chart.best[entry])))
                    break
            begin = end
        return Parsed(*_built(chart, found, names), False)

    def table_bytes(self, n_contexts: int, n_tags: int, rules: int) -> int:
        """The size of all tables for so many contexts and tags, and so many more rules."""
        symbols = len(self.grammar.symbols) + 2 * rules
        chart = 4 * (self.max_tokens + 1) * symbols
        words = self.lexicon.table_bytes(0, n_contexts, n_tags)
        return words + RULE_BYTES * (len(self.grammar) + rules) + SYMBOL_BYTES * symbols + chart

    def state(self, n_contexts: int, n_tags: int) -> dict[str, Array]:
        """The arrays of a checkpoint; the names of symbols are kept beside it."""
        return self.lexicon.state(0, n_contexts, n_tags) | self.grammar.state()

    def expected(self, n_contexts: int, n_tags: int, layout: Mapping[str, Layout]) -> dict[str, Expected]:
        """What the arrays of a `state` must be. layout : of the arrays in a file."""
        sizes = length_of(layout, "rules"), length_of(layout, "roots")
        return self.lexicon.expected(0, n_contexts, n_tags, layout) | self.grammar.expected(*sizes)

    def restore(self, arrays: Mapping[str, Array], symbols: Sequence[str], tags: Sequence[str]) -> None:
        """Use a `state` with its symbols and tags. Raises CheckpointError if they do not fit together."""
        self.lexicon.restore(arrays)
        self.grammar.restore(symbols, arrays)
        if not set(tags) <= set(symbols):
            raise CheckpointError("the checkpoint's grammar lacks a tag")


def _cell(begin: int, end: int, n: int) -> int:
    return begin * n + end - 1


def _built(chart: Chart, entries: Sequence[int], names: Sequence[str]) -> tuple[list[str], list[Bracket]]:
    """Tags and brackets of the trees of entries, side by side."""
    tags, brackets, stack = list[str](), list[Bracket](), list(reversed(entries))
    while stack:
        entry = stack.pop()
        if entry < 0:  # the end of a bracket
            brackets[~entry] = brackets[~entry]._replace(end=len(tags))
            continue
        name, left, right = names[chart.symbols[entry]], int(chart.left[entry]), int(chart.right[entry])
        if left < 0:
            tags.append(name)
            continue
        for label in labels_of(name):
            stack.append(~len(brackets))
            brackets.append(Bracket(label, len(tags), len(tags)))
        stack += [right, left] if right >= 0 else [left]
    return tags, brackets
