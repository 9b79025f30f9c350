"""Options and outputs of `run`."""

import json
from pathlib import Path

import pytest

from tests.command_line import command_line, refused
from tests.integration.conftest import Reference
from tests.integration.processes import streamlin
from tests.integration.streams import content, json_lines, measured, write_lines

LEARNERS = ["naive_bayes", "perceptron", "averaged_perceptron", "passive_aggressive", "logistic_regression"]


def test_summary_and_report_hold_the_same_metrics(reference: Reference, tmp_path: Path) -> None:
    """The table and the JSON hold the same figures; the report replaces an older one, also through a link."""
    report = tmp_path / "report.json"
    report.symlink_to("older.json")
    (tmp_path / "older.json").write_text("an older one")
    done = command_line("run", reference.stream, "--report", report, "--predictions", "null://", "--slice-by", "label")
    whole = json.loads(report.read_text())
    assert list(whole)[:6] == ["events", "labelled", "unlabelled", "dead_letters", "seconds", "events_per_second"]
    assert whole["events_per_second"] == pytest.approx(whole["events"] / whole["seconds"])
    assert list(whole["learners"]) == LEARNERS
    assert list(whole["baselines"]) == ["majority", "no_change"]
    assert sum(value["events"] for value in whole["slices"]["label"].values()) < whole["labelled"]
    assert f"{whole['events']:,} events · {whole['unlabelled']:,} without label · 2 labels" in done.out
    for name, row in (whole["learners"] | whole["baselines"]).items():
        (shown,) = (line for line in done.out.splitlines() if line.startswith(f"{name} ") and "%" in line)
        for key in ("accuracy", "window_accuracy", "fading_accuracy"):
            assert f"{100 * row[key]:.2f} %" in shown
        assert f"{row['kappa']:.3f}" in shown
    assert measured(report) | {"slices": {}} == measured(reference.report)
    assert report.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["older.json", "report.json"]


def test_a_report_can_be_written_to_a_device(tmp_path: Path) -> None:
    """A pipe or device is written to, not replaced by a file."""
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "label": "x"}])
    done = streamlin("run", stream, "--report", "/dev/stdout", "--learner", "perceptron")
    report, _, summary = done.out.partition("\n")
    assert json.loads(report)["events"] == 1
    assert summary.startswith("1 event ")


def test_a_prediction_line_has_id_or_position(tmp_path: Path) -> None:
    """Predictions are null while no label is known; the label is there if the event has one."""
    stream = write_lines(
        tmp_path / "in.jsonl",
        [{"id": 42, "text": "a", "label": "x"}, {"text": "a b", "label": None}, {"id": "", "text": "b", "label": "y"}],
    )
    chosen = ("--learner", "perceptron", "--learner", "naive_bayes")
    done = command_line("run", "in.jsonl", *chosen, "--predictions", "-", cwd=tmp_path)
    second, third = (stream.read_bytes().index(b'{"text": "a b"'), stream.read_bytes().index(b'{"id": ""'))
    nobody, both = {"perceptron": None, "naive_bayes": None}, {"perceptron": "x", "naive_bayes": "x"}
    assert done.lines == [
        {"id": "42", "predicted": None, "confidence": None, "learners": nobody, "label": "x"},
        {"position": f"in.jsonl:{second}", "predicted": "x", "confidence": 1.0, "learners": both},
        {"position": f"in.jsonl:{third}", "predicted": "x", "confidence": 1.0, "learners": both, "label": "y"},
    ]
    assert done.out.startswith('{"id": "42", "predicted": null, "confidence": null, "learners": {"perceptron": null, ')
    assert done.err.startswith("3 events · 1 without label · 2 labels")


def test_standard_input_and_output_equal_files(reference: Reference) -> None:
    """Predictions in a pipe are those of the file; the summary goes to standard error."""
    stream = reference.stream.read_bytes()
    done = streamlin("run", "-", "--predictions", "-", stdin=stream)
    for line, twin in zip(done.lines, json_lines(reference.predictions), strict=True):
        if "position" in line:
            line["position"] = line["position"].replace("-:", f"{reference.stream}:")
        assert line == twin
    assert "dead letter at -:" in done.err
    assert "naive_bayes" in done.err


def test_fields_categories_and_a_label_first_seen_late(tmp_path: Path) -> None:
    """Dotted names, several texts, a category that decides the label; one label first appears in the middle."""
    events = [
        {
            "ticket": {"subject": "the same", "body": "for all"},
            "product": "ab"[number % 2] if number < 300 else "c",
            "class": f"class of {'ab'[number % 2] if number < 300 else 'c'}",
            "n": {"o": number},
            "w": 1 if number % 10 else 0,
        }
        for number in range(400)
    ]
    stream, report = write_lines(tmp_path / "in.jsonl", events), tmp_path / "report.json"
    settings = {
        "fields.text": "['ticket.subject', 'ticket.body']",
        "fields.label": "class",
        "fields.id": "n.o",
        "fields.weight": "w",
        "fields.categories": "product",
    }
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    command_line("run", stream, *sets, "--slice-by", "product", "--report", report, "--predictions", tmp_path / "out")
    found = measured(report)
    assert (found["events"], found["labelled"], found["dead_letters"]) == (400, 400, 0)
    assert found["labels"] == ["class of b", "class of a", "class of c"]
    assert found["learners"]["passive_aggressive"]["accuracy"] > 0.97
    assert list(found["slices"]["product"]) == ["a", "b", "c"]
    assert found["slices"]["product"]["c"]["events"] == 90  # those with a weight
    lines = json_lines(tmp_path / "out")
    assert [line["id"] for line in lines] == [str(number) for number in range(400)]
    assert all(line["predicted"] != "class of c" for line in lines[:301])
    assert lines[-1]["predicted"] == "class of c"


def test_no_learner_beats_the_optimum_of_a_synthetic_stream(tmp_path: Path) -> None:
    """The Bayes-optimal predictions are a baseline; no learner beats them by more than chance."""
    url = "synthetic://?events=3000&labels=3&seed=5"
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    for path in (first, second):
        command_line("run", url, "--report", path)
    report = measured(first)
    assert report == measured(second)
    assert report["events"] == 3000
    assert len(report["labels"]) == 3
    optimal = report["baselines"]["optimal"]["accuracy"]
    assert report["baselines"]["majority"]["accuracy"] < optimal < 1
    assert max(row["accuracy"] for row in report["learners"].values()) < optimal + 0.02


def test_every_key_can_come_from_a_file(reference: Reference, tmp_path: Path) -> None:
    """Flags override the environment, which overrides the file, which overrides defaults."""
    (tmp_path / "all.toml").write_text(f"""
[source]
url = {json.dumps(str(reference.stream))}
follow = false
[fields]
text = "text"
label = "label"
id = "id"
weight = "weight"
time = "time"
categories = []
[features]
bits = 18
[features.words]
tokens = "scikit-learn"
lowercase = true
ngrams = [1, 1]
values = "counts"
masks = ["number"]
[features.characters]
tokens = "char_wb"
ngrams = [2, 3]
[[learners]]
kind = "naive_bayes"
alpha = 0.5
[[learners]]
kind = "logistic_regression"
name = "on_characters"
features = "characters"
eta = 0.4
epsilon = 1e-9
normalize = true
[evaluation]
window = 500
fading = 0.99
lead = "on_characters"
slice_by = ["label"]
references = []
confusion_labels = 10
slice_values = 10
[checkpoint]
path = "state"
every_events = 400
[sinks]
predictions = "out.jsonl"
dead_letters = "dead.jsonl"
[pipeline]
batch_size = 100
threads = 1
max_record_bytes = 100000
max_consecutive_dead_letters = 10
""")
    environment = {"STREAMLIN_FEATURES__BITS": "17", "STREAMLIN_FEATURES__WORDS__NGRAMS": "[1, 2]"}
    command_line(
        *("run", "--config", "all.toml", "--set", "features.bits=16", "--set", "learners.naive_bayes.alpha=0.7"),
        *("--dead-letters", "other.jsonl"),
        cwd=tmp_path,
        env=environment,
    )
    (found,) = command_line("inspect", "state", "--json", cwd=tmp_path).lines
    assert found["learners"]["naive_bayes"]["alpha"] == 0.7
    assert found["learners"]["on_characters"]["kind"] == "logistic_regression"
    assert set(found["rows"]) == {"words", "characters"}
    assert all(bucket < 2**16 for bucket, _ in found["heaviest"]["naive_bayes"]["ham"])
    assert found["events"] == reference.events
    lines = json_lines(tmp_path / "out.jsonl")
    assert all(line["predicted"] == line["learners"]["on_characters"] for line in lines)
    assert content(tmp_path / "other.jsonl").count(b"\n") == found["dead_letters"]
    assert not (tmp_path / "dead.jsonl").exists()
    line = refused("run", "--config", "all.toml", "--set", "features.bits=16", cwd=tmp_path, code=4)
    assert "features.words.ngrams: [1, 2] in the checkpoint, [1, 1] now" in line


def test_demo_reports_its_stream_and_writes_nothing_else(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = streamlin(
        "demo", "--limit", 500, "--report", report, fresh=True, env={"STREAMLIN_CHECKPOINT__PATH": str(tmp_path)}
    )
    assert measured(report)["labels"] == ["clickbait", "news"]
    assert done.out.startswith("500 events · 2 labels · 0 dead letters")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
