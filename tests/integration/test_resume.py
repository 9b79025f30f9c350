"""A run that was stopped or killed anywhere and resumed gives the same results as an uninterrupted one."""

import random
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command_line import Done, command_line, refused
from tests.integration.conftest import Reference
from tests.integration.processes import finish, kill, start, until
from tests.integration.streams import assert_same_state, content, json_lines, measured, real_events, write_lines

SMALL = ("--set", "pipeline.batch_size=20", "--set", "checkpoint.every_events=50")
"""Checkpoints so frequent that a kill may come between any two steps of writing one."""
FIRST, SECOND = 97, 31
"""Events of the first two of three runs."""


class Run:
    """A run that can be started repeatedly, with its files in a folder."""

    def __init__(self, reference: Reference, folder: Path, suffix: str = "", mode: str = "") -> None:
        self.reference = reference
        self.predictions, self.dead_letters = folder / f"predictions.jsonl{suffix}", folder / f"dead.jsonl{suffix}"
        self.report, self.state = folder / "report.json", folder / "state"
        self._mode = mode

    def arguments(self, *more: object, pace: str = "") -> Sequence[object]:
        return (
            *("run", f"{self.reference.stream}{pace}", "--checkpoint", self.state, "--report", self.report, *SMALL),
            *("--predictions", f"{self.predictions}{self._mode}", "--dead-letters", self.dead_letters, *more),
        )

    def slow(self, *more: object) -> "subprocess.Popen[bytes]":
        """Start it at a pace that leaves time to stop or kill it."""
        return start(*self.arguments(*more, pace="?rate=600"))

    def written(self) -> int:
        return self.predictions.stat().st_size if self.predictions.exists() else 0

    def to_the_end(self, *more: object) -> Done:
        return command_line(*self.arguments(*more))

    def assert_complete(self, before: bytes = b"") -> None:
        """All its results equal those of an uninterrupted run."""
        assert content(self.predictions) == before + content(self.reference.predictions)
        assert content(self.dead_letters) == content(self.reference.dead_letters)
        assert measured(self.report) == measured(self.reference.report)
        assert_same_state(self.state, self.reference.checkpoint)


@pytest.fixture
def run(reference: Reference, tmp_path: Path) -> Run:
    return Run(reference, tmp_path)


@pytest.fixture(scope="session")
def stopped_twice(reference: Reference, folder: Path) -> Run:
    """A run that two limits have stopped in the middle of batches, and a copy of its files."""
    (folder / "begun").mkdir()
    run = Run(reference, folder / "begun")
    for limit, threads in (FIRST, 1), (SECOND, 2):
        run.to_the_end("--limit", limit, "--set", f"pipeline.threads={threads}")
    shutil.copytree(folder / "begun", folder / "begun.copy")
    return run


@pytest.fixture
def begun(stopped_twice: Run, folder: Path) -> Run:
    """The same run with its files as they were."""
    shutil.rmtree(folder / "begun")
    shutil.copytree(folder / "begun.copy", folder / "begun")
    return stopped_twice


def test_an_uninterrupted_run_accounts_for_every_record(reference: Reference) -> None:
    report = measured(reference.report)
    assert report["events"] == reference.events == content(reference.predictions).count(b"\n")
    assert report["dead_letters"] == content(reference.dead_letters).count(b"\n")
    assert report["events"] + report["dead_letters"] == reference.records


@pytest.mark.parametrize(("suffix", "mode"), [("", "overwrite"), (".gz", ""), (".zst", ""), ("", "append")])
def test_a_run_killed_anywhere_resumes_exactly(reference: Reference, tmp_path: Path, suffix: str, mode: str) -> None:
    """It is killed twice at random places of its output; with any sink, empty or not."""
    chance, before = random.Random(suffix + mode), b"{}\n" if mode == "append" else b""
    run = Run(reference, tmp_path, suffix, f"?mode={mode}" if mode else "")
    if mode:
        run.predictions.write_bytes(b"{}\n")
    for _ in range(2):
        process = run.slow()
        size = run.written() + chance.randrange(1, reference.predictions.stat().st_size // (60 if suffix else 3))
        while run.written() < size and process.poll() is None:
            time.sleep(chance.random() / 100)
        kill(process)
        assert process.returncode == -signal.SIGKILL
    run.to_the_end()
    run.assert_complete(before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_a_run_in_good_order(run: Run, number: signal.Signals) -> None:
    """It finishes the batch, writes the checkpoint and prints the summary; a resumed run repeats nothing."""
    process = run.slow()
    until(lambda: run.written() > 10_000, process)
    process.send_signal(number)
    done = finish(process)
    report = measured(run.report)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{report['events']:,} events")
    assert 0 < report["events"] < run.reference.events
    assert content(run.predictions).count(b"\n") == report["events"]
    assert content(run.dead_letters).count(b"\n") == report["dead_letters"]
    run.to_the_end()
    run.assert_complete()


def test_a_signal_during_opening_stops_in_good_order(run: Run, tmp_path: Path) -> None:
    """The signal comes while sources and sinks are opened."""
    process = start("run", "-", "--checkpoint", tmp_path / "state", stdin=subprocess.PIPE)
    until((tmp_path / "state" / "lock").exists, process)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0


def test_limits_may_stop_a_run_anywhere(begun: Run) -> None:
    """`--limit` counts the events of one run, the report those of all runs."""
    assert measured(begun.report)["events"] == FIRST + SECOND == content(begun.predictions).count(b"\n")
    begun.to_the_end()
    begun.assert_complete()
    before = (begun.state / "checkpoint.safetensors").read_bytes()
    assert begun.to_the_end().out.startswith(f"{begun.reference.events:,} events")
    begun.assert_complete()
    assert (begun.state / "checkpoint.safetensors").read_bytes() == before


def test_limit_zero_reads_nothing(run: Run) -> None:
    run.to_the_end("--limit", 0)
    assert measured(run.report)["events"] == 0
    assert content(run.predictions) == b""


def test_a_fresh_run_touches_no_predictions(run: Run) -> None:
    run.predictions.write_bytes(b"precious\n")
    line = refused(*run.arguments())
    assert str(run.predictions) in line
    assert "?mode=append" in line
    assert "?mode=overwrite" in line
    assert content(run.predictions) == b"precious\n"


def test_missing_predictions_end_a_resumed_run(begun: Run) -> None:
    begun.predictions.write_bytes(content(begun.predictions)[:-1])
    line = refused(*begun.arguments(), code=3)
    assert f"{begun.predictions} has" in line
    assert "but the checkpoint expects" in line


def test_two_sources_one_after_another_equal_one_folder(reference: Reference, data: Path, tmp_path: Path) -> None:
    """Two files read one after the other with one checkpoint give what a folder of both gives."""
    folder = tmp_path / "streams"
    folder.mkdir()
    events = real_events(data / "trec-6.jsonl.gz", 600)
    one, two = write_lines(folder / "1.jsonl", events[:350]), write_lines(folder / "2.jsonl", events[350:])
    whole, apart = tmp_path / "whole.jsonl", tmp_path / "apart.jsonl"
    command_line("run", folder, "--predictions", whole, "--checkpoint", tmp_path / "whole")
    command_line("run", one, "--predictions", apart, "--checkpoint", tmp_path / "apart")
    command_line("run", two, "--predictions", apart, "--checkpoint", tmp_path / "apart")
    assert content(apart) == content(whole)
    assert_same_state(tmp_path / "apart", tmp_path / "whole", places=False)
    done = command_line("run", one, "--checkpoint", tmp_path / "apart")
    assert done.out.startswith("600 events")


def test_previous_resumes_from_the_checkpoint_before_the_last(begun: Run) -> None:
    """Predictions are cut back to it. A source that can't be read does not use up a checkpoint."""
    assert command_line("inspect", begun.state, "--previous", "--json").lines[0]["events"] == FIRST
    refused("run", "none.jsonl", "--checkpoint", begun.state, "--previous", code=3)
    assert command_line("inspect", begun.state, "--json").lines[0]["events"] == FIRST + SECOND
    begun.to_the_end("--previous", "--limit", 1)
    assert measured(begun.report)["events"] == FIRST + 1 == content(begun.predictions).count(b"\n")
    begun.to_the_end()
    begun.assert_complete()


def test_a_damaged_checkpoint_is_refused_and_previous_works(begun: Run) -> None:
    """Cut off, damaged or missing: exit code 4, and the message offers --previous, which works."""
    path = begun.state / "checkpoint.safetensors"
    whole = bytearray(path.read_bytes())
    path.write_bytes(whole[:-10])
    assert_refused(begun, str(path), "cut off")
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    assert_refused(begun, str(path), "checksum")
    assert "--previous" in refused("predict", begun.state, begun.reference.stream, code=4)
    path.unlink()
    assert_refused(begun, "no checkpoint", str(begun.state))
    begun.to_the_end("--previous")
    begun.assert_complete()


def assert_refused(run: Run, *says: str) -> None:
    line = refused(*run.arguments(), code=4)
    assert all(word in line for word in (*says, "--previous")), line


def test_a_checkpoint_of_another_configuration_names_the_key(reference: Reference) -> None:
    """Places, pace and threads may differ."""
    cases = {
        "--set features.bits=18": "features.bits: 20 in the checkpoint, 18 now",
        "--set learners.passive_aggressive.C=0.5": "learners.passive_aggressive.C: 0.1 in the checkpoint, 0.5 now",
        "--learner perceptron": "learners: naive_bayes, perceptron",
    }
    arguments = ("run", reference.stream, "--checkpoint", reference.checkpoint)
    for case, says in cases.items():
        assert says in refused(*arguments, *case.split(), code=4)


def test_a_checkpoint_folder_belongs_to_one_process(run: Run, tmp_path: Path) -> None:
    first = start("run", "-", "--checkpoint", tmp_path / "state", "--predictions", "-", stdin=subprocess.PIPE)
    until((tmp_path / "state" / "checkpoint.safetensors").exists, first)
    line = refused("run", run.reference.stream, "--checkpoint", tmp_path / "state", code=4)
    assert line == f"{tmp_path / 'state'} is in use by another streamlin process"
    out, _ = first.communicate(b'{"text": "a", "label": "x"}\n')
    assert (first.returncode, out.count(b"\n")) == (0, 1)
    assert command_line("inspect", tmp_path / "state", "--json").lines[0]["events"] == 1


def test_a_resumed_run_may_write_to_another_sink(begun: Run, tmp_path: Path) -> None:
    """Every event has one whole line in one of the two sinks, even after a kill."""
    first, more = begun.predictions, Run(begun.reference, tmp_path)
    more.state, more.dead_letters = begun.state, begun.dead_letters
    process = more.slow()
    until(lambda: more.written() > 20_000, process)
    kill(process)
    more.to_the_end()
    assert content(first) + content(more.predictions) == content(more.reference.predictions)
    assert len(json_lines(more.predictions)) == more.reference.events - FIRST - SECOND


def test_means_and_rates_resume_exactly(data: Path, tmp_path: Path) -> None:
    """No slack is `inf` in the file; the checkpoint's JSON, which has no infinity, keeps it too."""
    config = tmp_path / "run.toml"
    config.write_text(
        '[[learners]]\nkind = "passive_aggressive"\nname = "mira"\nC = inf\naveraged = true\nhalf_life = 100\n'
        '[[learners]]\nkind = "sgd"\nrate = "bottou"\nl2 = 0.01\n'
    )
    source = data / "trec-6.jsonl.gz"
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, limits in ((whole, [300]), (parts, [97, 31, 172])):
        for limit in limits:
            options = ("--config", config, "--limit", limit, "--set", "pipeline.batch_size=20")
            run = ("run", source, "--checkpoint", folder, "--predictions", f"{folder}.jsonl", *options)
            command_line(*run)
    assert content(parts.with_suffix(".jsonl")) == content(whole.with_suffix(".jsonl"))
    assert_same_state(parts, whole)
    assert (
        command_line("predict", whole, source, "--limit", 3).out
        == command_line("predict", parts, source, "--limit", 3).out
    )
    inspected = command_line("inspect", whole, "--json").lines[0]["learners"]["mira"]
    assert (inspected["C"], inspected["averaged"], inspected["half_life"]) == ("inf", True, 100.0)
    line = refused(*run, "--set", "learners.mira.C=1", code=4)
    assert line.endswith('learners.mira.C: "inf" in the checkpoint, 1.0 now')
