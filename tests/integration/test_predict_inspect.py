"""`predict` and `inspect` on a checkpoint."""

import json
from pathlib import Path

import pytest

from streamlin.checkpoint.file import CURRENT
from tests.command_line import command_line, refused
from tests.integration.conftest import Reference
from tests.integration.streams import content, json_lines, measured, real_events, write_lines

LEARNERS = ["naive_bayes", "perceptron", "averaged_perceptron", "passive_aggressive", "logistic_regression"]


@pytest.fixture(scope="module")
def later(data: Path, folder: Path) -> list[dict[str, str]]:
    """The messages after those of the reference run."""
    return real_events(data / "sms-spam.jsonl.gz", 1500)[1200:]


def test_predict_learns_nothing(reference: Reference, later: list[dict[str, str]], tmp_path: Path) -> None:
    """Labels appear in the output but change neither a prediction nor a byte of the checkpoint."""
    before = (reference.checkpoint / CURRENT).read_bytes()
    hidden = write_lines(tmp_path / "hidden.jsonl", [{"id": event["id"], "text": event["text"]} for event in later])
    shown = write_lines(tmp_path / "shown.jsonl", later)
    without = command_line("predict", reference.checkpoint, hidden, "--predictions", tmp_path / "out.jsonl")
    with_labels = command_line("predict", reference.checkpoint, shown)
    assert (without.out, without.err, with_labels.err) == ("", "", "")
    lines = with_labels.lines
    labels = [line.pop("label") for line in lines]
    assert labels == [event["label"] for event in later]
    assert lines == json_lines(tmp_path / "out.jsonl")
    assert (reference.checkpoint / CURRENT).read_bytes() == before
    correct = sum(line["predicted"] == event["label"] for line, event in zip(lines, later, strict=True))
    assert correct / len(later) > 0.93
    assert all(list(line["learners"]) == LEARNERS for line in lines)
    assert all(0.5 <= line["confidence"] <= 1 for line in lines)


def test_predict_equals_the_next_prediction_of_a_run(
    reference: Reference, later: list[dict[str, str]], tmp_path: Path
) -> None:
    """For the first event after the checkpoint, `predict` and a resumed run give the same line."""
    for name in reference.checkpoint.iterdir():
        (tmp_path / name.name).write_bytes(name.read_bytes())
    stream = write_lines(tmp_path / "later.jsonl", later)
    predicted = command_line("predict", tmp_path, stream, "--limit", 1)
    going_on = command_line("run", stream, "--checkpoint", tmp_path, "--predictions", "-", "--limit", 1)
    assert predicted.out == going_on.out
    assert predicted.out.count("\n") == 1
    assert going_on.err.startswith("1,201 events")


def test_standard_input_takes_options_of_a_source(reference: Reference) -> None:
    """`-?format=csv` looks like an option `-?` of the command, but is the source of `run` and `predict`."""
    table = b"text,label\nfree prize,spam\n"
    predicted = command_line("predict", reference.checkpoint, "-?format=csv", stdin=table)
    run = command_line("run", "-?format=csv", "--predictions", "-", "--learner", "perceptron", stdin=table)
    assert [line["position"] for line in (*predicted.lines, *run.lines)] == ["-:11", "-:11"]
    assert run.err.startswith("1 event · 1 label ")


def test_predict_from_standard_input(reference: Reference) -> None:
    """Unknown labels are shown, bad records are shown and counted; without an id a line has the position."""
    lines = [b'{"text": "free prize", "label": "never seen"}', b"bad", b'{"id": 7, "text": ""}']
    done = command_line("predict", reference.checkpoint, stdin=b"\n".join(lines))
    first, second = done.lines
    assert (first["position"], first["label"]) == ("-:0", "never seen")
    assert (second["id"], "label" in second) == ("7", False)
    assert {first["predicted"], second["predicted"]} <= {"ham", "spam"}
    shown, many, counted = done.err.splitlines()
    assert many.startswith("streamlin: 1 of 3 records are dead letters, all of them: not JSON")
    assert shown.startswith("streamlin: dead letter at -:46: not JSON")
    assert counted == "streamlin: 1 dead letter"


def test_predict_with_a_sink_for_dead_letters(reference: Reference, tmp_path: Path) -> None:
    done = command_line("predict", reference.checkpoint, reference.stream, "--dead-letters", tmp_path / "dead")
    assert len(done.lines) == reference.events
    assert content(tmp_path / "dead") == content(reference.dead_letters)
    out = tmp_path / "out"
    out.write_bytes(b"precious\n")
    line = refused("predict", reference.checkpoint, reference.stream, "--predictions", out)
    assert "?mode=append" in line
    assert content(out) == b"precious\n"


def test_previous_uses_the_checkpoint_before_the_last(reference: Reference) -> None:
    """The reference run wrote two: one before its first line, one at its end."""
    predicted = command_line("predict", reference.checkpoint, "--previous", stdin=b'{"text": "a"}')
    inspected = command_line("inspect", reference.checkpoint, "--previous", "--json")
    assert predicted.lines[0]["predicted"] is None
    assert (inspected.lines[0]["checkpoint"], inspected.lines[0]["events"]) == (1, 0)


def test_inspect_as_json(reference: Reference) -> None:
    (found,) = command_line("inspect", reference.checkpoint, "--json", "--top", 2).lines
    report = measured(reference.report)
    assert {key: found[key] for key in ("checkpoint", "events", "labelled", "dead_letters")} == {
        "checkpoint": 2,
        "events": reference.events,
        "labelled": report["labelled"],
        "dead_letters": report["dead_letters"],
    }
    assert list(found["labels"]) == report["labels"]
    assert found["learners"]["passive_aggressive"] == {
        "kind": "passive_aggressive",
        "features": "words",
        "C": 0.1,
        "variant": 1,
        "averaged": False,
        "half_life": None,
        "accuracy": report["learners"]["passive_aggressive"]["accuracy"],
    }
    assert list(found["learners"]) == LEARNERS
    ((source, parts),) = found["positions"].items()
    assert source == f"file:{reference.stream}"
    assert parts[str(reference.stream)]["offset"] == reference.stream.stat().st_size
    assert found["sinks"][f"file:{reference.predictions}"] == reference.predictions.stat().st_size
    assert found["rows"]["words"] > 1000
    for learner in LEARNERS:
        for heaviest in found["heaviest"][learner].values():
            weights = [weight for _, weight in heaviest]
            assert len(weights) == 2
            assert weights == sorted(weights, reverse=True)
            assert all(0 <= bucket < 2**20 for bucket, _ in heaviest)


def test_inspect_for_people(reference: Reference) -> None:
    """The content of --json as tables that the width of a terminal does not cut off."""
    out = command_line("inspect", reference.checkpoint).out
    found = json.loads(command_line("inspect", reference.checkpoint, "--json").out)
    assert out.startswith(f"checkpoint 2 · {reference.events:,} events")
    for word in (*LEARNERS, "C=0.1", "ham", "spam", f"{reference.stream.stat().st_size:,}"):
        assert word in out
    for bucket, weight in found["heaviest"]["perceptron"]["spam"]:
        assert f"{bucket}:{weight:+.2f}" in out
