"""The cost of monitoring at full speed: all five learners on words, texts of 25 words, 4 labels.

The difference is smaller than what separates two runs on the same machine. So the work for watchers is timed where it
is done: on the thread that learns and on the thread of the server. Pages and scrapes come from another process:
`python -m benchmarks.watching FILE PAGES SCRAPES`.
"""

import json
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.processes import repetitions, run_module, write_synthetic
from benchmarks.tables import spread, table
from streamlin.config.loading import load_config
from streamlin.model import Learned
from streamlin.monitoring.dashboard.server import serve_page
from streamlin.monitoring.dashboard.watcher import Dashboard
from streamlin.monitoring.listener import listen
from streamlin.monitoring.prometheus.server import serve_metrics
from streamlin.monitoring.prometheus.watcher import Metrics
from streamlin.running.loop import Run, Watcher
from streamlin.terminal.progress import PlainProgress

CASES = {"page, none open": (0, 0), "one page": (1, 0), "ten pages": (10, 0), "a scrape a second": (0, 1)}
EVENTS = 1_000_000
_LOOK = """
import sys, threading, time, urllib.request
url, pages, scrapes = sys.argv[1], *map(int, sys.argv[2:])
def read():
    with urllib.request.urlopen(url + "events") as stream:
        while stream.readline(): pass
for _ in range(pages): threading.Thread(target=read, daemon=True).start()
while scrapes or pages:
    if scrapes: urllib.request.urlopen(url + "metrics").read()
    time.sleep(1)
"""


def measure(folder: Path, repeat: int) -> list[dict[str, Any]]:
    """For each case, CPU seconds of each repetition."""
    path = folder / "events.jsonl"
    write_synthetic(path, events=EVENTS, words=25, labels=4)
    run_module("watching", str(path), "0", "0")  # compiles
    found: list[dict[str, Any]] = [{"case": case, "runs": []} for case in CASES]
    for _ in repetitions(repeat):
        for row in found:
            row["runs"].append(run_module("watching", str(path), *map(str, CASES[row["case"]]))[1])
    return found


def text(figures: list[dict[str, Any]]) -> str:
    """One row per case; percent of the time that the thread that learns takes without watchers."""
    titles = ["watched by", "more for the thread that learns, %", "on the server's thread, %"]
    rows = [
        [
            row["case"],
            *(
                spread([100 * run[part] / run["learning"] for run in row["runs"]], ".2f")
                for part in ("asked", "served")
            ),
        ]
        for row in figures
    ]
    return table(titles, rows)


class _Timed(Watcher):
    """A watcher that times another one."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher, self.seconds = watcher, 0.0
        self._kept: deque[Learned] = deque(maxlen=8)

    def update(self, run: Run) -> None:
        begin = time.thread_time()
        self._watcher.update(run)
        self.seconds += time.thread_time() - begin

    def learned(self, learned: Learned) -> None:
        begin = time.thread_time()
        self._watcher.learned(learned)
        self.seconds += time.thread_time() - begin
        self._kept.append(learned)  # freeing a batch takes long, and would be counted here


def _run(path: str, pages: int, scrapes: int) -> dict[str, float]:
    listener = listen("--dashboard", "0")
    watcher = Metrics() if scrapes else Dashboard()
    server = serve_metrics(watcher, listener) if isinstance(watcher, Metrics) else serve_page(watcher, listener)
    looking = subprocess.Popen([sys.executable, "-c", _LOOK, listener.url, str(pages), str(scrapes)])
    timed = _Timed(watcher)
    config = load_config(flags={"source.url": path, "features.words.ngrams": [1, 1]}, environment={})
    serving = next(one for one in threading.enumerate() if one.name in ("streamlin-page", "streamlin-metrics"))
    clock = time.pthread_getcpuclockid(serving.ident or 0)
    with closing(Run(config, PlainProgress(), watchers=[timed])) as run:
        begin, served = time.thread_time(), time.clock_gettime(clock)
        run.run()
        spent = time.thread_time() - begin
        served = time.clock_gettime(clock) - served
    looking.kill()
    looking.wait()
    server.close()
    return {"learning": spent - timed.seconds, "asked": timed.seconds, "served": served}


if __name__ == "__main__":
    print(json.dumps(_run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
