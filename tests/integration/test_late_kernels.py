"""Runs in which Python does what is compiled last give the same results, to the bit, as compiled code."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import command_line, environment
from tests.integration.streams import assert_same_state, content, measured, real_events, roughened, write_lines

NEVER_COMPILED = """
import math, sys
from streamlin.cli import main
from streamlin.kernel import late
from streamlin.running.second_compiler import SecondCompiler

def compiled(*_): raise AssertionError("compiled")

SecondCompiler.is_compiling = lambda _: True
late.LONGEST, late._LateKernel._is_kept, late._LateKernel.compile = math.inf, lambda *_: False, compiled
sys.exit(main())
"""
"""As if another process compiled forever; no late kernel may be compiled here."""
RUNS = {
    "all five, many labels": ("clinc150", 700, ("--set", "pipeline.batch_size=300", "--set", "evaluation.drift=ddm")),
    "preset": ("trec-6", 300, ("--preset", "accurate", "--set", "fields.categories=kind")),
    "long texts": (
        *("spamassassin", 60),
        ("--set", "evaluation.drift=page_hinkley", "--set", "features.words.values=log", "--learner", "naive_bayes"),
    ),
    "several threads": (
        *("sms-spam", 900),
        ("--learner", "perceptron", "--set", "pipeline.threads=4", "--set", "pipeline.batch_size=100"),
    ),
    "late labels": ("sms-spam", 1500, ("--learner", "perceptron", "--label-delay", "7", "--slice-by", "kind")),
}


@pytest.mark.parametrize(("name", "n", "options"), RUNS.values(), ids=RUNS)
def test_python_gives_the_results_of_compiled_code(data: Path, tmp_path: Path, name, n, options) -> None:
    events = real_events(data / f"{name}.jsonl.gz", n)
    for number, event in enumerate(events):
        event["kind"] = str(number % 3)
    stream = write_lines(tmp_path / "stream.jsonl", roughened(events))

    def arguments(folder: Path) -> list[object]:
        outputs = ("--predictions", "predictions.jsonl"), ("--report", "report.json"), ("--checkpoint", "state")
        return ["run", stream, *options, *(part for option, file in outputs for part in (option, folder / file))]

    python, compiled = tmp_path / "python", tmp_path / "compiled"
    python.mkdir(), compiled.mkdir()
    command = [sys.executable, "-W", "error", "-c", NEVER_COMPILED, *map(str, arguments(python))]
    subprocess.run(command, check=True, env=environment(None))
    command_line(*arguments(compiled))
    assert content(python / "predictions.jsonl") == content(compiled / "predictions.jsonl")
    assert measured(python / "report.json") == measured(compiled / "report.json")
    assert_same_state(python / "state", compiled / "state")
