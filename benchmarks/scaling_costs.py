"""What Ray's calls cost the one who calls, and how many rows texts have: `python -m benchmarks.scaling_costs STREAM`.

The result is JSON on standard output: microseconds of processor time of a call and of each reference among its
arguments, and the factor and the exponent of the line through the logarithms of events and their rows.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from streamlin.cluster.engine import Engine
from streamlin.cluster.messages import Copy, pack, settings
from streamlin.config import RunConfig
from streamlin.events import Event
from streamlin.model import Model
from streamlin.version import __version__
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
    engine, config = Engine(1, None), RunConfig()
    copy = pack(Copy(settings(config), 0, *Model(config).state()))
    engine.get(engine.restore(0, __version__, engine.put(copy), [], []))
    given = [engine.put([bytes(1000)]) for _ in range(arguments)]
    _ask(engine, given, 5)
    begin = time.process_time()
    _ask(engine, given, CALLS)
    spent = time.process_time() - begin
    engine.close()
    return 1e6 * spent / CALLS


def _ask(engine: Engine, arguments: list[Any], times: int) -> None:
    """Have an empty round learned."""
    for _ in range(times):
        engine.get(engine.learn(0, 1, pack([]), 0, arguments))


if __name__ == "__main__":
    main()
