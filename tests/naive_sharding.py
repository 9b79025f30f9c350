"""Shards and the mixing of learners in plain Python, on the twins of `tests.naive`: the same, bit for bit.

A shard is a copy of the common twin that learns a round of its own. Differences of tables in float32 are rounded once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

from tests.naive import (
    Mean,
    Naive,
    NaiveAdagrad,
    NaiveArow,
    NaiveLogisticRegression,
    NaiveNaiveBayes,
    NaiveSGD,
    Scores,
    rounded,
)
from tests.sample_streams import Example

Table = dict[tuple[str, Any], float]
"""Label (`""` for a value that all labels share) and feature (None for the bias) -> value."""


class NaiveShards:
    """A twin, learned by shards."""

    def __init__(self, twin: Any) -> None:
        self.common = twin

    def round(self, shards: Iterable[Sequence[Example]]) -> list[list[Scores]]:
        """Learn one round of each shard, and mix; the scores that each shard's events got."""
        before, after, scores = self.common, [], []
        for events in shards:
            one = deepcopy(before)
            scores.append([one.step(*event) for event in events])
            after.append(one)
        self.common = mixed(before, after)
        return scores


def mixed(before: Any, after: Sequence[Any]) -> Any:
    """The twin before a round, with what all shards have changed."""
    common = deepcopy(before)
    for one in after:
        common.labels += [label for label in one.labels if label not in common.labels]
        common.seen |= one.seen
    rule = next(rule for kind, rule in RULES if isinstance(common, kind))
    rule(common, before, after)
    return common


def by_feature(twin: Naive, name: str) -> Table:
    """A table of features, shared by labels or not."""
    table = getattr(twin, name)
    nested = table and isinstance(next(iter(table.values())), dict)
    return (
        {(k, j): v for k, row in table.items() for j, v in row.items()}
        if nested
        else {("", j): v for j, v in table.items()}
    )


def of_labels(twin: Naive, name: str) -> Table:
    """One value of each label, or a single one."""
    number = getattr(twin, name)
    return {(k, None): v for k, v in number.items()} if isinstance(number, dict) else {("", None): number}


def changes(
    before: Any, after: Sequence[Any], names: Sequence[str], of: Callable[..., Table], narrow: str
) -> list[dict[str, Table]]:
    """For each shard that has changed anything, its changes by table; of tables by feature those of changed features.

    narrow : the table that is kept in float32.
    """
    found = []
    for one in after:
        own = {}
        for name in names:
            old = of(before, name)
            difference = {key: value - old.get(key, 0.0) for key, value in of(one, name).items()}
            own[name] = {key: rounded(d) if name == narrow else d for key, d in difference.items()}
        changed = {j for table in own.values() for (_, j), d in table.items() if d}
        found.append({name: {key: d for key, d in table.items() if key[1] in changed} for name, table in own.items()})
    return [own for own in found if any(own.values())]


def sharers_of(given: Iterable[dict[str, Table]]) -> Counter[Any]:
    """How many shards have changed each feature."""
    return Counter(chain.from_iterable({j for table in own.values() for _, j in table} for own in given))


def put(twin: Any, name: str, key: tuple[str, Any], value: float) -> None:
    """Set an entry of a table."""
    k, j = key
    if k and j is not None:
        getattr(twin, name)[k][j] = value
    elif k or j is not None:
        getattr(twin, name)[k or j] = value
    else:
        setattr(twin, name, value)


def put_all(twin: Any, name: str, table: Table) -> None:
    """Set all entries."""
    for key, value in table.items():
        put(twin, name, key, value)


def sums(common: Any, before: Any, after: Sequence[Any]) -> None:
    """Naive Bayes: counts add up; what the increment has grown by, too, but a collapse happened once."""
    for names, of in ((("counts",), by_feature), (("totals", "events", "n"), of_labels)):
        for name in names:
            table = of(common, name)
            for own in changes(before, after, (name,), of, ""):
                for key, d in own[name].items():
                    table[key] = table.get(key, 0.0) + d
            put_all(common, name, table)
    grown = [divmod(one.growth - before.growth, 10.0) for one in after]
    common.growth += sum(rest for _, rest in grown) + 10.0 * max(pulses for pulses, _ in grown)
    for name in ("late_hits", "late", "long_hits", "long"):
        differences = [getattr(one, name) - getattr(before, name) for one in after]
        differences = [d for d in differences if d]
        for d in differences:
            setattr(common, name, getattr(common, name) + d / len(differences))


def means(common: Any, before: Any, after: Sequence[Any]) -> None:
    """Perceptron and PA: the mean of the changes, over the shards that have changed the feature."""
    table, given = by_feature(common, "weights"), changes(before, after, ("weights",), by_feature, "weights")
    sharers = sharers_of(given)
    for own in given:
        for key, d in own["weights"].items():
            share = 1.0 / sharers[key[1]]
            table[key] = rounded(table.get(key, 0.0) + share * d)
    put_all(common, "weights", table)
    table, given = of_labels(common, "bias"), changes(before, after, ("bias",), of_labels, "bias")
    for own in given:
        for key, d in own["bias"].items():
            table[key] = rounded(table.get(key, 0.0) + rounded(d / len(given)))
    put_all(common, "bias", table)


def averages(common: Any, before: Any, after: Sequence[Any]) -> None:
    """Averaged: W by the mean, so that the sums of W over time, t W - U, add up."""
    clocks = [one.clock - before.clock for one in after]
    for one_clock in clocks:
        common.clock += one_clock
    for of, w, u in ((by_feature, "weights", "sums"), (of_labels, "bias", "bias_sums")):
        given = [
            (before.clock + clock, own)
            for clock, one in zip(clocks, after, strict=True)
            for own in changes(before, [one], (w, u), of, w)
        ]
        weights, late, sharers = of(common, w), of(common, u), sharers_of([own for _, own in given])
        for clock, own in given:
            for key in own[w].keys() | own[u].keys():
                n, d = sharers[key[1]], own[w].get(key, 0.0)
                late[key] = late.get(key, 0.0) + ((common.clock / n - clock) * d + own[u].get(key, 0.0))
                weights[key] = rounded(weights.get(key, 0.0) + 1.0 / n * d)
        put_all(common, w, weights)
        put_all(common, u, late)


def weighted(common: Any, before: Any, after: Sequence[Any], w: str, g: str, of: Callable[..., Table]) -> None:
    """Changes of W weighted by those of G, which grows by the sum of squares divided by the sum."""
    given = changes(before, after, (w, g), of, w)
    total: Table = {}
    squares: Table = {}
    for own in given:
        for key, d in own[g].items():
            total[key], squares[key] = total.get(key, 0.0) + d, squares.get(key, 0.0) + d * d
    weights, table = of(common, w), of(common, g)
    for own in given:
        for key, d in own[w].items():
            of_g = key if key in total else ("", key[1])
            if own[g].get(of_g, 0.0) > 0:
                weights[key] = rounded(weights.get(key, 0.0) + d * (own[g][of_g] / total[of_g]))
    for key, d in total.items():
        if d > 0:
            table[key] = table.get(key, 0.0) + squares[key] / d
    put_all(common, w, weights)
    put_all(common, g, table)


def adagrad(common: Any, before: Any, after: Sequence[Any]) -> None:
    shared = getattr(common, "by_feature", False)
    weighted(common, before, after, "weights", "feature_squares" if shared else "squares", by_feature)
    weighted(common, before, after, "bias", "bias_square" if shared else "bias_squares", of_labels)


def precise(common: Any, before: Any, after: Sequence[Any]) -> None:
    """AROW: changes of W weighted by precisions, which add up."""
    for of, w, g in ((by_feature, "weights", "precisions"), (of_labels, "bias", "bias_precision")):
        weights, table, given = of(common, w), of(common, g), changes(before, after, (w, g), of, w)
        old, total = of(before, g), dict.fromkeys(of(common, g), 0.0)
        for own in given:
            for key, d in own[g].items():
                total[key] = total.get(key, 0.0) + d
        for own in given:
            for key, d in own[w].items():
                place = ("", key[1])
                one = 1.0 + old.get(place, 0.0)
                share = (one + own[g][place]) / (one + total[place])
                weights[key] = rounded(weights.get(key, 0.0) + share * d)
        for own in given:
            for key, d in own[g].items():
                table[key] = table.get(key, 0.0) + d
        put_all(common, w, weights)
        put_all(common, g, table)


def sizes(common: Any, before: Any, after: Sequence[Any]) -> None:
    """SGD: a mean in which every change counts by its size; clocks add up."""
    for of, name in ((by_feature, "weights"), (of_labels, "bias")):
        table, given = of(common, name), changes(before, after, (name,), of, name)
        total: Table = {}
        for own in given:
            for key, d in own[name].items():
                total[key] = total.get(key, 0.0) + abs(d)
        for own in given:
            for key, d in own[name].items():
                if d:
                    table[key] = rounded(table.get(key, 0.0) + d * (abs(d) / total[key]))
        put_all(common, name, table)
    common.clock += sum(one.clock - before.clock for one in after)


RULES: Sequence[tuple[type, Callable[..., None]]] = (
    (NaiveNaiveBayes, sums),
    (NaiveLogisticRegression, adagrad),
    (NaiveAdagrad, adagrad),
    (NaiveArow, precise),
    (NaiveSGD, sizes),
    (Mean, averages),
    (Naive, means),
)
