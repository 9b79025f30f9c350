"""What Ray's calls cost the one who calls, and how many rows texts have: `python -m benchmarks.scaling_costs STREAM`.

The result is JSON on standard output: microseconds of processor time of a call and of each reference among its
arguments, and the factor and the exponent of the line through the logarithms of events and their rows.
"""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from streamlin.cluster.engine import Engine
from streamlin.cluster.worker import OutOfStepError
from streamlin.config import RunConfig
from streamlin.events import Event
from streamlin.model import Model
from tests.integration.streams import real_events
from tests.sample_streams import batch_of

CALLS, ARGUMENTS = 200, 32
SIZES = (3_000, 10_000, 30_000, 100_000)


def main() -> None:
    alone, many = _call(0), _call(ARGUMENTS)
    events = [Event(event["text"]) for event in real_events(Path(sys.argv[1]), SIZES[-1])]
    features = Model(RunConfig()).featurize(batch_of(events))["words"]
    rows = [np.unique(features.buckets[: features.indptr[size]]).size for size in SIZES]
    exponent, factor = np.polyfit(np.log(SIZES), np.log(rows), 1)
    print(
        json.dumps(
            {
                "call": alone,
                "argument": (many - alone) / ARGUMENTS,
                "exponent": float(exponent),
                "factor": float(np.exp(factor)),
            }
        )
    )


def _call(arguments: int) -> float:
    """Microseconds of this process for a call of a worker with so many arguments, and for its answer."""
    engine = Engine(1, None)
    given = [engine.put([bytes(1000)]) for _ in range(arguments)]
    _ask(engine, given, 5)
    begin = time.process_time()
    _ask(engine, given, CALLS)
    spent = time.process_time() - begin
    engine.close()
    return 1e6 * spent / CALLS


def _ask(engine: Engine, arguments: list[Any], times: int) -> None:
    """Ask for a round, which a worker without a model refuses."""
    for _ in range(times):
        with suppress(OutOfStepError):
            engine.get(engine.learn(0, 1, [b""], 0, arguments))


if __name__ == "__main__":
    main()
