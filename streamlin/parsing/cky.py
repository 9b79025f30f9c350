"""The algorithm of Cocke, Kasami and Younger: the best tree and the sum over all trees of each part of a sentence.

Younger, Information and Control 10 (1967) 189-208; Jelinek, Lafferty, Mercer, "Basic methods of probabilistic context
free grammars" (1992), for the sum. Probabilities of a cell are divided by its best one, whose logarithm is kept.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

MOST = 500
"""Symbols of one cell that are kept, the most probable ones."""
NONE = -1


class Rules(NamedTuple):
    """A grammar of S symbols; rules are linked by the pair of their right-hand side, pairs by its second symbol.

    lhs : int32[rules]. counts : float64[rules]. next_rule : int32[rules], of the same right-hand side.
    pair_left : int32[pairs], the first symbol. next_pair : int32[pairs], with the same second symbol. first_rule :
        int32[pairs].
    totals : float64[S], the counts of all rules of a left-hand side. first_pair, first_unary : int32[S], the first pair
        with this second symbol, and the first rule with this symbol alone.
    """

    lhs: NDArray[np.int32]
    counts: NDArray[np.float64]
    next_rule: NDArray[np.int32]
    pair_left: NDArray[np.int32]
    next_pair: NDArray[np.int32]
    first_rule: NDArray[np.int32]
    totals: NDArray[np.float64]
    first_pair: NDArray[np.int32]
    first_unary: NDArray[np.int32]


class Chart(NamedTuple):
    """The cells of a sentence of n words; cell `i * n + j - 1` is that of the words i to before j.

    begins, ends : int64[n * n], which entries are those of a cell. scales : float64[n * n], the logarithm by which its
        entries are to be raised.
    symbols : int32[entries]. best, sums : float64[entries], of the best tree and of all. left, right : int32[entries],
        the entries that the best tree consists of; NONE.
    """

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    scales: NDArray[np.float64]
    symbols: NDArray[np.int32]
    best: NDArray[np.float64]
    sums: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]


class _Scratch(NamedTuple):
    """A cell while it is filled: by symbol, and the symbols that it has, in order. inverses : float64[S], one through
    the totals. slots : int32[n + 1, S], the entries of the cells with the present first word, by their end."""

    best: NDArray[np.float64]
    sums: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    found: NDArray[np.int32]
    inverses: NDArray[np.float64]
    slots: NDArray[np.int32]


@kernel
def parse(
    ratios: NDArray[np.float64], tag_symbols: NDArray[np.int32], rules: Rules, n_symbols: int, alpha: float, beam: float
) -> Chart:
    """The chart of a sentence of n words.

    ratios : float64[n, tags], P(tag | word) / P(tag), 0 for tags that are left out. tag_symbols : int32[tags].
    alpha : Dirichlet's prior, of rules never seen: P(rule) = N(rule) / (N(left-hand side) + alpha).
    beam : a symbol is left out where it is less probable than this, beside the best one of its cell.
    """
    n = ratios.shape[0]
    size = n * (n + 1) // 2 * min(n_symbols, MOST)
    chart = Chart(
        np.zeros(n * n, np.int64),
        np.zeros(n * n, np.int64),
        np.zeros(n * n),
        np.empty(size, np.int32),
        np.empty(size),
        np.empty(size),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    scratch = _Scratch(
        np.zeros(n_symbols),
        np.zeros(n_symbols),
        np.empty(n_symbols, np.int32),
        np.empty(n_symbols, np.int32),
        np.empty(n_symbols, np.int32),
        1.0 / (rules.totals[:n_symbols] + alpha),
        np.full((n + 1, n_symbols), NONE, np.int32),
    )
    used = 0
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n + 1):
            scale = 0.0
            if j == i + 1:
                size = put_tags(ratios[i], tag_symbols, rules, scratch)
            else:
                scale, size = combine(i, j, n, rules, beam, chart, scratch)
            used = keep(i * n + j - 1, j, j == i + 1, size, scale, used, beam, chart, scratch)
        for j in range(i + 1, n + 1):
            for e in range(chart.begins[i * n + j - 1], chart.ends[i * n + j - 1]):
                scratch.slots[j, chart.symbols[e]] = NONE
    return chart


@kernel
def put_tags(ratios: NDArray[np.float64], tag_symbols: NDArray[np.int32], rules: Rules, scratch: _Scratch) -> int:
    """Fill the cell of a word: its tags, and the constituents of the word alone. Returns the number of symbols."""
    best, sums, left, right, found, inverses, _ = scratch
    size = 0
    for k in range(ratios.size):
        if ratios[k] > 0.0:
            s = tag_symbols[k]
            best[s], sums[s], left[s], right[s] = ratios[k], ratios[k], NONE, NONE
            found[size] = s
            size += 1
    for x in range(size):
        tag = found[x]
        p, r = best[tag], rules.first_unary[tag]
        while r >= 0:
            s = rules.lhs[r]
            q = p * rules.counts[r] * inverses[s]
            if q > 0.0:
                if sums[s] == 0.0:
                    found[size] = s
                    size += 1
                sums[s] += q
                if q > best[s]:
                    best[s], left[s], right[s] = q, tag, NONE
            r = rules.next_rule[r]
    return size


@kernel
def combine(i: int, j: int, n: int, rules: Rules, beam: float, chart: Chart, scratch: _Scratch) -> tuple[float, int]:
    """Fill the cell of several words from those of its parts. Returns its scale and the number of symbols."""
    scale, top, size = -np.inf, 0.0, 0
    for k in range(i + 1, j):
        a, b = i * n + k - 1, k * n + j - 1
        if chart.ends[a] > chart.begins[a] and chart.ends[b] > chart.begins[b]:
            scale = max(scale, chart.scales[a] + chart.scales[b])
    best, sums, left, right, found, inverses, all_slots = scratch
    for k in range(i + 1, j):
        a, b = i * n + k - 1, k * n + j - 1
        if chart.ends[a] == chart.begins[a] or chart.ends[b] == chart.begins[b]:
            continue
        factor, slots = np.exp(chart.scales[a] + chart.scales[b] - scale), all_slots[k]
        for y in range(chart.begins[b], chart.ends[b]):
            most, total = factor * chart.best[y], factor * chart.sums[y]
            if most <= top * beam:
                continue
            pair = rules.first_pair[chart.symbols[y]]
            while pair >= 0:
                x = slots[rules.pair_left[pair]]
                r = rules.first_rule[pair] if x >= 0 else NONE
                while r >= 0:
                    s = rules.lhs[r]
                    p = rules.counts[r] * inverses[s]
                    q = most * chart.best[x] * p
                    if q > 0.0:
                        if sums[s] == 0.0:
                            found[size] = s
                            size += 1
                        sums[s] += total * chart.sums[x] * p
                        if q > best[s]:  # of equal ones the first stays
                            best[s], left[s], right[s] = q, x, y
                            top = max(top, q)
                    r = rules.next_rule[r]
                pair = rules.next_pair[pair]
    return scale, size


@kernel
def keep(
    cell: int, j: int, is_word: bool, size: int, scale: float, used: int, beam: float, chart: Chart, scratch: _Scratch
) -> int:
    """Keep the probable symbols of a cell as entries, behind those `used`; returns the number of all by then."""
    top = 0.0
    for x in range(size):
        top = max(top, scratch.best[scratch.found[x]])
    least, kept = top * beam, MOST + 1
    while kept > MOST:  # too many: ask for more
        kept = 0
        for x in range(size):
            kept += scratch.best[scratch.found[x]] >= least
        if kept > MOST and least < top:
            least = min(least * 2.0, top) if least > 0.0 else top * 1e-300
        elif kept > MOST:
            break
    chart.begins[cell] = used
    for x in range(size):
        s = scratch.found[x]
        if scratch.best[s] >= least and used - chart.begins[cell] < MOST:
            chart.symbols[used] = s
            chart.best[used], chart.sums[used] = scratch.best[s] / top, scratch.sums[s] / top
            is_unary = is_word and scratch.left[s] >= 0  # its tag is more probable than it is, and has an entry
            chart.left[used] = scratch.slots[j, scratch.left[s]] if is_unary else scratch.left[s]
            chart.right[used] = scratch.right[s]
            scratch.slots[j, s] = used
            used += 1
        scratch.best[s] = scratch.sums[s] = 0.0
    chart.ends[cell], chart.scales[cell] = used, scale + np.log(top) if size else 0.0
    return used
