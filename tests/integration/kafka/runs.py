"""Runs of the command with one quick learner."""

import json
from pathlib import Path
from typing import Any

from tests.integration.processes import Done, streamlin

QUICK = ("--learner", "naive_bayes", "--set", "features.words.ngrams=[1, 1]")


def url(address: str, topic: str, client: str, **options: object) -> str:
    """Of a topic; for sources and sinks."""
    query = "&".join(f"{name}={value}" for name, value in {"client": client, **options}.items())
    return f"kafka://{address}/{topic}?{query}"


def ran(folder: Path, source: object, *arguments: object, code: int = 0, **env: str) -> tuple[dict[str, Any], Done]:
    """Run over a source to its end, with a tagger if `--task` is given; the report and standard error."""
    report = folder / "report.json"
    quick = ("--learner", "hmm") if "--task" in arguments else QUICK
    done = streamlin("run", source, *quick, "--report", report, *arguments, code=code, env=env)
    found: dict[str, Any] = json.loads(report.read_text())
    return found, done
