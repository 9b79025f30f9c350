"""Limits of labels and tables: where a run ends does not depend on how the stream is cut into batches."""

import json
import resource
import subprocess
from pathlib import Path

import pytest

from tests.command_line import command_line, refused
from tests.integration.processes import MODULE, finish, start, until
from tests.integration.streams import json_lines, write_lines

ONE_LEARNER = ("--learner", "perceptron")
CUTS = [(size, threads) for size in (1, 7, 4000) for threads in (1, 2)]
BY_CUT = pytest.mark.parametrize(("size", "threads"), CUTS)


def cut(size: int, threads: int) -> tuple[str, ...]:
    return ("--set", f"pipeline.batch_size={size}", "--set", f"pipeline.threads={threads}")


@BY_CUT
def test_the_21st_label_ends_a_run_behind_20_lines(tmp_path: Path, size: int, threads: int) -> None:
    """The line names it; dead letters before it are kept, and with a higher limit the run goes on."""
    events = [{"text": "a b", "label": f"n{number}"} for number in range(30)]
    stream = write_lines(tmp_path / "in.jsonl", [*events[:10], b"bad", *events[10:20], b"bad", *events[20:]])
    out, dead = tmp_path / "out.jsonl", tmp_path / "dead.jsonl"
    arguments = (*("run", stream, "--predictions", out, "--dead-letters", dead, "--checkpoint", tmp_path / "state"),)
    arguments = (*arguments, *ONE_LEARNER, *cut(size, threads))
    error = refused(*arguments, "--set", "pipeline.max_labels=20")
    offset = stream.read_bytes().index(b'"n20"') - len(b'{"text": "a b", "label": ')
    assert error.startswith(
        f"pipeline.max_labels: found more than 20 labels, 'n20' at {stream}:{offset} is one too many; "
    )
    assert [line["label"] for line in json_lines(out)] == [f"n{number}" for number in range(20)]
    (found,) = command_line("inspect", tmp_path / "state", "--json").lines
    assert (found["events"], len(found["labels"])) == (20, 20)
    command_line(*arguments, "--set", "pipeline.max_labels=30")
    assert [line["label"] for line in json_lines(out)] == [f"n{number}" for number in range(30)]
    assert len(json_lines(dead)) == 2


@BY_CUT
def test_late_labels_are_counted_when_they_are_learned(tmp_path: Path, size: int, threads: int) -> None:
    """By id, early ones too, and after a fixed delay."""
    texts = [{"text": f"t{number}", "id": number} for number in range(30)]
    labels = [{"id": number, "label": f"n{number}"} for number in range(30)]
    pairs = [event for pair in zip(texts[5:], labels[5:], strict=True) for event in pair]
    by_id = write_lines(tmp_path / "by_id.jsonl", [*labels[:5], *texts[:5], *pairs])
    error = refused(*("run", by_id, "--late-labels", "--checkpoint", tmp_path / "1"), *ONE_LEARNER, *cut(size, threads),
        *("--set", "pipeline.max_labels=20"))  # fmt: skip
    assert "labels, 'n20' at " in error
    assert command_line("inspect", tmp_path / "1", "--json").lines[0]["events"] == 21
    both = write_lines(tmp_path / "both.jsonl", [text | label for text, label in zip(texts, labels, strict=True)])
    error = refused(*("run", both, "--label-delay", 4, "--checkpoint", tmp_path / "2"), *ONE_LEARNER,
        *cut(size, threads), *("--set", "pipeline.max_labels=20"))  # fmt: skip
    assert "labels, 'n20' at " in error
    assert command_line("inspect", tmp_path / "2", "--json").lines[0]["events"] == 24


def test_the_21st_label_ends_a_followed_run_behind_20_lines(tmp_path: Path) -> None:
    stream, out = write_lines(tmp_path / "in.jsonl", []), tmp_path / "out.jsonl"
    process = start("run", stream, "--follow", "--predictions", out, *ONE_LEARNER, "--set", "pipeline.max_labels=20")
    for begin in (0, 12):
        with stream.open("a") as file:
            for number in range(begin, begin + 12):
                file.write(json.dumps({"text": "a", "label": f"n{number}"}) + "\n")
        until(lambda: out.exists() and len(out.read_bytes().splitlines()) >= min(20, begin + 12))  # noqa: B023
    done = finish(process)
    assert done.code == 2
    assert "found more than 20 labels, 'n20' at " in done.err
    assert len(json_lines(out)) == 20


@BY_CUT
def test_tables_beyond_their_limit_end_a_run(tmp_path: Path, size: int, threads: int) -> None:
    """Before the event that would make them too large, which is named; what came before is in the checkpoint."""
    events = [{"text": f"w{number}", "label": f"n{number % 4}"} for number in range(40)]
    events.insert(25, {"text": " ".join(f"x{number}" for number in range(3000)), "label": "n0"})
    stream, out = write_lines(tmp_path / "in.jsonl", events), tmp_path / "out.jsonl"
    arguments = ("run", stream, "--predictions", out, "--checkpoint", tmp_path / "state", *cut(size, threads))
    error = refused(*arguments, "--set", "pipeline.max_table_bytes=100_000")
    assert error.startswith(f"pipeline.max_table_bytes: at {stream}:")
    assert "the learners' tables need more than 100,000 bytes, for 4 labels and 6,008 features of view words; " in error
    assert len(json_lines(out)) == 25
    command_line(*arguments)
    assert len(json_lines(out)) == 41


def test_exhausted_memory_is_one_line(tmp_path: Path) -> None:
    """An index of 2^31 buckets in an address space of 4 GB."""
    limit = 4 << 30
    done = subprocess.run(
        [*MODULE, "run", write_lines(tmp_path / "in.jsonl", [{"text": "a"}]), "--set", "features.bits=31"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("streamlin: out of memory; ")
    assert done.stderr.count("\n") == 1
