"""What asking for the labels of uncertain events is worth, against asking for as many at random.

`python -m benchmarks.asking STREAM...` replays random orders of streams such as `sms-spam.jsonl.gz`. A label that is
asked for arrives right behind its text; accuracy is that of the predictions given out, over all events.
"""

import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.asking.decisions import AT_ONCE
from streamlin.config import RunConfig
from streamlin.config.loading import load_config
from streamlin.events import Batch, single_records
from streamlin.model import Model

BUDGETS = (0.05, 0.2)
ORDERS = 10
MEMBERS = ("naive_bayes", "passive_aggressive", "logistic_regression")
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "mixture": {"learners": [{"kind": kind} for kind in (*MEMBERS, "mixture")], "evaluation.lead": "mixture"},
    "logistic_regression": {"learners": [{"kind": "logistic_regression"}]},
    "naive_bayes": {"learners": [{"kind": "naive_bayes"}]},
    "default": {},
}


class Outcome(NamedTuple):
    """Of one order, in per cent: accuracy over all events, the weighted and the unweighted one that the report shows.

    over : how many more labels were asked for than the budget allows, the first ones aside.
    """

    true: float
    weighted: float
    raw: float
    over: float


def configured(tables: dict[str, Any], **more: Any) -> RunConfig:
    """A configuration that counts accuracy alone."""
    return load_config(None, {"evaluation.metrics": "accuracy", **tables, **more}, environment={})


def batch_of(texts: Sequence[str], labels: Sequence[str | None], first: int, label_only: bool = False) -> Batch:
    """Consecutive events."""
    n = len(texts)
    return Batch(
        ids=[str(first + i) for i in range(n)],
        texts=list(texts),
        labels=list(labels),
        weights=np.ones(n),
        times=np.full(n, np.nan),
        extra={},
        records=single_records([b""] * n),
        kept=np.arange(n),
        label_only=np.full(n, label_only),
    )


def hits(model: Model, batch: Batch, truth: Sequence[str]) -> tuple[int, Any]:
    """How many predictions are right, and the predictions."""
    given, predictions = model.step(batch, model.featurize(batch))
    return sum(a == b for a, b in zip(model.given_out(given, predictions), truth, strict=True)), predictions


def asking(texts: Sequence[str], truth: Sequence[str], budget: float, **tables: Any) -> tuple[Outcome, int]:
    """Ask, and answer at once; the number of labels asked for is returned too."""
    model = Model(configured(tables, **{"delayed_labels.enabled": True, "ask.budget": budget}))
    assert model.asking is not None
    right, asked, over = 0, 0, -np.inf
    for i, (text, label) in enumerate(zip(texts, truth, strict=True)):
        hit, predictions = hits(model, batch_of([text], [None], i), [label])
        right += hit
        if predictions.asked.reasons[0]:
            asked += 1
            hits(model, batch_of([""], [label], i, True), [])
        over = max(over, asked - budget * (i + 1) - AT_ONCE)
    return Outcome(100 * right / len(texts), *shown(model), over), asked


def shown(model: Model) -> tuple[float, float]:
    """The accuracies of the learner that leads, weighted and not, in per cent."""
    sums = model.prequential.sums("running")
    lead = model.names.index(model.prequential.config.lead) if model.prequential.config.lead else sums.leader or 0
    return 100 * float(sums.accuracy[lead]), 100 * float(sums.raw.accuracy[lead])  # type: ignore[attr-defined]  # of a sample


def at_random(
    texts: Sequence[str], truth: Sequence[str], asked: int, random: np.random.Generator, **tables: Any
) -> float:
    """The same first labels and as many others, chosen at random, arrive with their texts; accuracy in per cent."""
    model = Model(configured(tables))
    chosen: NDArray[np.int64] = AT_ONCE + random.choice(len(texts) - AT_ONCE, asked - AT_ONCE, replace=False)
    known = {*range(AT_ONCE), *chosen.tolist()}
    labels = [label if i in known else None for i, label in enumerate(truth)]
    right = 0
    for begin in range(0, len(texts), 500):
        part = slice(begin, begin + 500)
        right += hits(model, batch_of(texts[part], labels[part], begin), truth[part])[0]
    return 100 * right / len(texts)


def measured(events: Sequence[dict[str, str]], budget: float, orders: int, **tables: Any) -> str:
    """A row of the table: means over random orders, and the extremes."""
    outcomes, gains = [], []
    for seed in range(orders):
        random = np.random.default_rng(seed)
        order = random.permutation(len(events))
        texts, truth = ([events[i][key] for i in order] for key in ("text", "label"))
        outcome, asked = asking(texts, truth, budget, **tables)
        outcomes.append(outcome)
        gains.append(outcome.true - at_random(texts, truth, asked, random, **tables))
    true, weighted, raw, over = np.array(outcomes).T
    off, extremes = np.abs(weighted - true), f"{min(gains):+.1f} to {max(gains):+.1f}"
    return (
        f"{100 * budget:3.0f} % | {true.mean():5.1f} | {np.mean(gains):+5.1f} ({extremes}) | "
        f"{weighted.mean():5.1f} | {off.mean():4.1f} ({off.max():.1f}) | {raw.mean():5.1f} | {over.max():+.2f}"
    )


def main(paths: Sequence[str], names: Sequence[str] = tuple(CONFIGURATIONS), orders: int = ORDERS) -> None:
    for path in map(Path, paths):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            events = [json.loads(line) for line in lines]
        for name in names:
            for budget in BUDGETS:
                row = measured(events, budget, orders, **CONFIGURATIONS[name])
                print(f"{path.name.removesuffix('.jsonl.gz'):<16} | {name:<19} | {row}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
