"""A grammar that grows: its symbols, and its rules with their counts."""

from collections.abc import Mapping, Sequence

import numpy as np

from streamlin.errors import CheckpointError
from streamlin.events import LabelIndex
from streamlin.learners.tables import Array, resized
from streamlin.parsing.cky import NONE, Rules
from streamlin.parsing.trees import Rule
from streamlin.storage.arrays import Expected, expected

RULE_BYTES, SYMBOL_BYTES = 400, 400
"""Of memory, at most, with names and indexes."""


class Grammar:
    """Counts of rules of one or two parts.

    most : further rules are ignored once there are so many. full : whether one was.
    symbols : their names and numbers. roots : float64[symbols], how often each was that of a whole tree.
    """

    def __init__(self, most: int) -> None:
        self.most, self.full = most, False
        self.symbols = LabelIndex()
        self.roots = np.zeros(1024)
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        self._right = np.empty((1024, 2), np.int32)
        self._rules = Rules(
            *(np.empty(1024, np.int32), np.empty(1024), np.empty(1024, np.int32)),
            *(np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int32)),
            *(np.zeros(1024), np.full(1024, NONE, np.int32), np.full(1024, NONE, np.int32)),
        )

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def rules(self) -> Rules:
        """The rules as the parser reads them; arrays may be longer than what is in use."""
        return self._rules

    def learn(self, root: str, rules: Sequence[Rule], tags: Sequence[str], weight: float) -> None:
        """Count the rules of a tree whose symbol is `root`; its tags get symbols."""
        for tag in tags:
            self._symbol(tag)
        if len(self) < self.most or self.symbols.code(root) >= 0:
            self.roots[self._symbol(root)] += weight
        for left, first, second in rules:
            number = self._number(left, first, second)
            if number >= 0:
                self._rules.counts[number] += weight
            left_number = self.symbols.code(left)
            if left_number >= 0:
                self._rules.totals[left_number] += weight

    def _number(self, left: str, first: str, second: str | None) -> int:
        """The number of a rule, which is added if it is new; NONE if there are too many."""
        code = self.symbols.code
        known = NONE if second is None else code(second)
        number = None if second is not None and known < 0 else self._numbers.get((code(left), code(first), known))
        if number is not None:
            return number
        if len(self) >= self.most:
            self.full = True
            return NONE
        return self._add(self._symbol(left), self._symbol(first), NONE if second is None else self._symbol(second))

    def _symbol(self, name: str) -> int:
        """The number of a symbol, which is added if it is new."""
        number = self.symbols.learn_one(name)
        if number == self.roots.size:
            self.roots = resized(self.roots, (2 * number,), None)
            totals, *firsts = (resized(array, (2 * number,), None) for array in self._rules[6:])
            for first in firsts:
                first[number:] = NONE
            self._rules = Rules._make((*self._rules[:6], totals, *firsts))
        return number

    def _add(self, left: int, first: int, second: int) -> int:
        """Add a rule of these symbols, without a count; returns its number."""
        number = len(self)
        if number == self._rules.lhs.size:
            larger = [resized(array, (2 * number,), None) for array in self._rules[:6]]
            self._rules = Rules._make((*larger, *self._rules[6:]))
            self._right = resized(self._right, (2 * number, 2), None)
        rules = self._rules
        self._numbers[left, first, second] = number
        self._right[number] = first, second
        rules.lhs[number], rules.counts[number] = left, 0.0
        heads, place = (rules.first_unary, first) if second == NONE else (rules.first_rule, self._pair(first, second))
        rules.next_rule[number], heads[place] = heads[place], number
        return number

    def _pair(self, first: int, second: int) -> int:
        """The number of a pair of symbols, which is added if it is new; there are no more pairs than rules."""
        number = self._pairs.get((first, second))
        if number is None:
            number = self._pairs[first, second] = len(self._pairs)
            rules = self._rules
            rules.pair_left[number], rules.first_rule[number] = first, NONE
            rules.next_pair[number], rules.first_pair[second] = rules.first_pair[second], number
        return number

    def state(self) -> dict[str, Array]:
        """The arrays of a checkpoint; `symbols` are kept as names."""
        n_rules, n_symbols = len(self), len(self.symbols)
        return {
            "rules": np.column_stack([self._rules.lhs[:n_rules], self._right[:n_rules]]),
            "rule_counts": self._rules.counts[:n_rules],
            "rule_totals": self._rules.totals[:n_symbols],
            "roots": self.roots[:n_symbols],
        }

    @staticmethod
    def expected(n_rules: int, n_symbols: int) -> dict[str, Expected]:
        """What the arrays of a `state` must be."""
        return {
            "rules": expected(np.int32, n_rules, 3, lowest=NONE, highest=n_symbols - 1),
            "rule_counts": expected(np.float64, n_rules),
            "rule_totals": expected(np.float64, n_symbols),
            "roots": expected(np.float64, n_symbols),
        }

    def restore(self, symbols: Sequence[str], arrays: Mapping[str, Array]) -> None:
        """Use a `state`; the grammar must be new.

        Raises
        ------
        CheckpointError : the arrays do not fit together, or a symbol or a rule is there twice.
        """
        rules, totals = arrays["rules"], arrays["rule_totals"]
        sizes = {len(symbols), len(set(symbols)), totals.size, arrays["roots"].size}
        if rules[:, :2].min(initial=0) < 0 or len(sizes) > 1:
            raise CheckpointError("the checkpoint's grammar does not fit together")
        for name in symbols:
            self._symbol(name)
        for rule in rules.tolist():
            self._add(*rule)
        if len(self) < len(rules):
            raise CheckpointError("the checkpoint's grammar has a rule twice")
        self._rules.counts[: len(rules)] = arrays["rule_counts"]
        self._rules.totals[: totals.size] = totals
        self.roots[: totals.size] = arrays["roots"]
