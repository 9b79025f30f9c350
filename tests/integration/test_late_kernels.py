"""Runs in which Python does what kernels do, at first or throughout, give the same results, to the bit, as these."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import command_line, environment
from tests.integration.processes import finish, start, until
from tests.integration.streams import assert_same_state, content, measured, real_events, roughened, write_lines

NEVER_COMPILED = """
import math, sys
from streamlin.cli import main
from streamlin.kernel import late
from streamlin.running.second_compiler import SecondCompiler

def compiled(*_): raise AssertionError("compiled")

SecondCompiler.is_compiling = lambda _: True
late.LONGEST, late.is_compiler_loaded, late._is_anything_kept = math.inf, lambda: False, lambda: False
late.LateKernel.dispatcher = property(compiled)
sys.exit(main())
"""
"""As if another process compiled forever; no late kernel may be compiled here."""
COUNT_IMPORTS = """
import sys
from streamlin.cli import command_line

code = command_line(sys.argv[1:])
print("numba" in sys.modules)
sys.exit(code)
"""
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


def arguments(folder: Path, stream: Path, *options: object) -> list[object]:
    """Those of a run with all outputs in a folder."""
    folder.mkdir(exist_ok=True)
    outputs = ("--predictions", "predictions.jsonl"), ("--report", "report.json"), ("--checkpoint", "state")
    return ["run", stream, *options, *(part for option, file in outputs for part in (option, folder / file))]


@pytest.mark.parametrize(("name", "n", "options"), RUNS.values(), ids=RUNS)
def test_python_gives_the_results_of_compiled_code(data: Path, tmp_path: Path, name, n, options) -> None:
    events = real_events(data / f"{name}.jsonl.gz", n)
    for number, event in enumerate(events):
        event["kind"] = str(number % 3)
    stream = write_lines(tmp_path / "stream.jsonl", roughened(events))
    python, compiled = tmp_path / "python", tmp_path / "compiled"
    command = [sys.executable, "-W", "error", "-c", NEVER_COMPILED, *map(str, arguments(python, stream, *options))]
    subprocess.run(command, check=True, env=environment(None))
    command_line(*arguments(compiled, stream, *options))
    assert content(python / "predictions.jsonl") == content(compiled / "predictions.jsonl")
    assert measured(python / "report.json") == measured(compiled / "report.json")
    assert_same_state(python / "state", compiled / "state")


FEW = {
    "all five": (),
    "preset": ("--preset", "accurate"),
    "by categories and values": ("--set", "features.words.values=log", "--set", "fields.categories=kind"),
    "drift and slices": ("--set", "evaluation.drift=ddm", "--slice-by", "kind"),
    "late labels": ("--label-delay", "3"),
    "long words": ("--set", "features.words.tokens=char_wb", "--set", "features.words.ngrams=[1, 3]"),
}


@pytest.mark.parametrize("options", FEW.values(), ids=FEW)
def test_a_few_events_need_no_compiler(data: Path, tmp_path: Path, options) -> None:
    """Some events a run, each resumed from the last; only the longest run imports numba. As if it was one run."""
    events = real_events(data / "trec-6.jsonl.gz", 200)
    for number, event in enumerate(events):
        event["kind"] = str(number % 3)
    stream = write_lines(tmp_path / "stream.jsonl", roughened(events))
    command_line(*arguments(tmp_path / "one", stream, *options))
    limits = 1, 12, 30, 120, 37
    for limit in limits:
        parts = arguments(tmp_path / "parts", stream, *options, "--limit", limit)
        command = [sys.executable, "-W", "error", "-c", COUNT_IMPORTS, *map(str, parts)]
        done = subprocess.run(command, check=True, env=environment(None), capture_output=True, text=True)
        assert done.stdout.endswith(f"{limit > 50}\n"), limit
    assert sum(limits) == len(events)
    assert content(tmp_path / "one/predictions.jsonl") == content(tmp_path / "parts/predictions.jsonl")
    assert_same_state(tmp_path / "one/state", tmp_path / "parts/state")


def test_numba_is_imported_while_a_source_has_nothing(data: Path, tmp_path: Path) -> None:
    """It is used for the events that come later."""
    events = real_events(data / "sms-spam.jsonl.gz", 9)
    log, out = write_lines(tmp_path / "log.jsonl", events[:4]), tmp_path / "out.jsonl"
    process = start("run", log, "--follow", "--predictions", out, "--learner", "perceptron", fresh=True)
    until(lambda: b"llvmlite" in Path(f"/proc/{process.pid}/maps").read_bytes(), process)
    until(lambda: out.exists() and out.read_bytes().count(b"\n") == 4, process)
    more = write_lines(tmp_path / "more.jsonl", events[4:])
    with log.open("ab") as file:
        file.write(more.read_bytes())
    until(lambda: out.read_bytes().count(b"\n") == 9, process)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0
    command_line("run", log, "--predictions", tmp_path / "one.jsonl", "--learner", "perceptron")
    assert out.read_bytes() == (tmp_path / "one.jsonl").read_bytes()
