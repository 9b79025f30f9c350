"""A service's answers, and what it has learned afterwards."""

import json
import os
from pathlib import Path

import pytest

from tests.command_line import command_line, refused
from tests.integration.processes import finish, kill, refused_by_process
from tests.integration.streams import assert_same_state, real_events, write_lines
from tests.service.served import journal_of, served

SMALL = ("--set", "evaluation.window=100", "--set", "features.bits=16")
TEXTS = ["Win a prize now", "Lunch at noon?", ""]


def test_a_service_learns_as_a_run_does(data: Path, tmp_path: Path) -> None:
    """Events posted singly and in lists give the state of a run over them, bit for bit, and its predictions."""
    events = real_events(data / "sms-spam.jsonl.gz", 300)
    with served(tmp_path / "served", *SMALL) as service:
        for event in events[:50]:
            assert service.post("/learn", event).value == {"accepted": 1}
        answer = service.post("/learn", events[50:])
        assert (answer.status, answer.value) == (202, {"accepted": 250})
        service.learned(300)
        predictions = service.post("/predict", [{"text": text, "id": text} if text else {"text": ""} for text in TEXTS])
        single = [service.post("/predict", {"text": text}).value for text in TEXTS]
    stream = write_lines(tmp_path / "stream.jsonl", events)
    report = tmp_path / "report.json"
    command_line("run", stream, *SMALL, "--checkpoint", tmp_path / "run", "--report", report)
    assert_same_state(tmp_path / "served", tmp_path / "run", places=False)
    assert [line["id"] for line in service.lines] == [event["id"] for event in events]

    asked = write_lines(tmp_path / "asked.jsonl", [{"text": text, "id": str(i)} for i, text in enumerate(TEXTS)])
    told = command_line("predict", tmp_path / "run", asked).lines
    keys = ("predicted", "confidence", "learners")
    assert [[one[key] for key in keys] for one in predictions.value] == [[one[key] for key in keys] for one in told]
    assert [one.get("id") for one in predictions.value] == [*TEXTS[:2], None]
    assert single == [{key: one[key] for key in keys} for one in told]


def test_delayed_labels_are_joined_with_their_texts(tmp_path: Path) -> None:
    """A predicted text waits for its label, which refers to it by id; numbers are ids too."""
    with served(tmp_path / "served", "--late-labels") as service:
        assert service.post("/predict?await_label=true", {"text": "a prize", "id": 42}).value["id"] == "42"
        texts = [{"text": "lunch at noon", "id": "43"}, {"text": "another prize", "id": "44"}]
        assert len(service.post("/predict?await_label=true", texts).value) == 2
        made_up = service.post("/predict?await_label=true", {"text": "a prize too"}).value["id"]
        service.post("/learn", [{"id": "42", "label": "spam"}, {"id": made_up, "label": "spam"}])
        service.post("/learn", [{"id": "43", "label": "ham"}, {"text": "yet another prize", "label": "spam", "id": 45}])
        service.learned(5)
        assert service.post("/predict", {"text": "prize"}).value["predicted"] == "spam"
        figures = service.figures()
        assert figures["streamlin_delayed_labels_waiting"] == 1
        assert figures["streamlin_delayed_labels_joined_total"] == 3
        assert figures["streamlin_labelled_total"] == 4
    command_line("run", journal_of(service.folder)[0], "--late-labels", "--checkpoint", tmp_path / "run")
    assert_same_state(tmp_path / "served", tmp_path / "run", places=False)


def test_predictions_are_null_before_any_label(tmp_path: Path) -> None:
    with served(tmp_path / "served", "--learner", "perceptron") as service:
        answer = service.post("/predict", {"text": "a"})
        assert answer.value == {"predicted": None, "confidence": None, "learners": {"perceptron": None}}
        assert service.post("/predict", []).value == []
        assert service.post("/learn", []).value == {"accepted": 0}


def test_fields_have_the_names_of_the_stream(tmp_path: Path) -> None:
    """The journal uses the input's names; a text of several fields has a line for each; categories are fields."""
    config = tmp_path / "own.toml"
    config.write_text(
        '[fields]\ntext = ["subject", "mail.body"]\nlabel = "class"\nid = "mail.number"\ncategories = ["product"]\n'
        '[evaluation]\nslice_by = ["split"]\n[[learners]]\nkind = "naive_bayes"\n'
    )
    event = {"text": "Prize\nYou won\nit", "label": "spam", "id": 7, "weight": 2, "time": "2024-05-01T12:00:00Z"}
    asked = {"text": "Prize", "fields": {"product": "car"}}
    with served(tmp_path / "served", "--config", config) as service:
        service.post("/learn", event | {"fields": {"product": 12, "split": "test"}})
        service.post("/learn", {"text": "Lunch", "label": "ham", "fields": {"product": "car"}})
        service.learned(2)
        told = service.post("/predict", asked).value
        error = service.post("/predict", {"text": "", "fields": {"produkt": "x"}}).error
        assert error == "fields.produkt: unknown key; did you mean 'product'?"
        schema = service.ask("GET", "/openapi.json").value["components"]["schemas"]["Fields"]
        assert list(schema["properties"]) == ["product", "split"]
    assert service.lines[0] == {
        "subject": "Prize",
        "mail": {"body": "You won\nit", "number": "7"},
        "class": "spam",
        "product": "12",
        "split": "test",
        "weight": 2.0,
        "time": 1714564800.0,
    }
    stream = write_lines(tmp_path / "asked.jsonl", [{"subject": "Prize", "product": "car", "mail": {"number": 1}}])
    line = command_line("predict", tmp_path / "served", stream).lines[0]
    assert told == {key: line[key] for key in told}


def test_a_service_continues_from_its_checkpoint(tmp_path: Path) -> None:
    """With the checkpoint's configuration and all accepted events; also if a run wrote the checkpoint."""
    stream = write_lines(
        tmp_path / "in.jsonl", [{"text": "a prize", "label": "spam"}, {"text": "noon", "label": "ham"}]
    )
    state = tmp_path / "state"
    command_line("run", stream, "--checkpoint", state, "--learner", "perceptron", "--slice-by", "split")
    with served(state) as service:
        service.post("/learn", {"text": "lunch", "label": "ham"})
    with served(state) as service:
        assert service.figures()["streamlin_events_total"] == 3
        service.post("/learn", {"text": "dinner", "label": "ham"})
        service.learned(4)
        assert list(service.post("/predict", {"text": "a"}).value["learners"]) == ["perceptron"]
    assert [line["text"] for line in service.lines] == ["lunch", "dinner"]
    positions = json.loads(command_line("inspect", state, "--json").out)["positions"]
    assert positions["requests"]["requests"] == {"offset": 2, "byte": journal_of(state)[0].stat().st_size}
    error = refused("serve", state, 0, "--learner", "naive_bayes", code=4)
    assert "made with a different configuration: learners: perceptron in the checkpoint, naive_bayes now" in error


def test_the_previous_checkpoint_can_be_used(tmp_path: Path) -> None:
    """Events learned after it are learned again, from the journal."""
    state = tmp_path / "state"
    for text in ("one", "two", "three"):
        with served(state, "--learner", "perceptron") as service:
            service.post("/learn", {"text": text, "label": text})
    with served(state, "--previous") as service:
        assert service.figures()["streamlin_events_total"] == 3


def test_sigterm_learns_and_saves_all_accepted_events(tmp_path: Path) -> None:
    with served(tmp_path / "served", "--learner", "perceptron") as service:
        for number in range(20):
            events = [{"text": f"{number} {i}", "label": str(i % 5)} for i in range(100)]
            assert service.post("/learn", events).status == 202
        done = service.ended()
    assert "done: 2,000 events · 5 labels · 0 dead letters" in done.err
    found = json.loads(command_line("inspect", service.folder, "--json").out)
    assert found["events"] == len(service.lines) == 2000


def test_only_one_service_can_use_a_folder(tmp_path: Path) -> None:
    with served(tmp_path / "state", "--learner", "perceptron"):
        assert "is in use by another streamlin process" in refused("serve", tmp_path / "state", 0, code=4)


def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    with served(tmp_path / "state", "--learner", "perceptron") as service:
        error = refused("serve", tmp_path / "other", service.port)
        assert error == f"serve {service.port}: port {service.port} is in use; give another one"
    assert not (tmp_path / "other").exists()
    assert refused("serve", tmp_path / "other", "nowhere").startswith("serve nowhere: needs [HOST:]PORT")


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "httptools", "uvloop", "prometheus_client"])
def test_a_missing_package_is_named(tmp_path: Path, package: str) -> None:
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('No module named {package}', name='{package}')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert refused_by_process("serve", tmp_path / "state", 0, env={"PYTHONPATH": path}) == (
        f"serve needs {package}, which is not installed: pip install 'streamlin[serve]'"
    )


def test_a_foreign_journal_is_refused(tmp_path: Path) -> None:
    with served(tmp_path / "state", "--learner", "perceptron") as service:
        service.post("/learn", {"text": "a", "label": "b"})
    (path,) = journal_of(service.folder)
    path.write_bytes(b"")
    assert "they do not belong together" in refused("serve", tmp_path / "state", 0, code=3)


def test_a_full_disk_ends_the_service_without_loss(tmp_path: Path) -> None:
    """The answer to an event that can't be stored says so, and the service ends."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))"
    with served(tmp_path / "state", "--learner", "perceptron", before=limit) as service:
        accepted = 0
        while (answer := service.post("/learn", {"text": "x" * 50_000, "label": "a"})).status == 202:
            accepted += 1
        assert answer.status == 503
        assert answer.error.endswith("can't be stored: File too large")
        done = finish(service.process)
    assert done.code == 3
    assert "can't be stored: File too large" in done.err
    with served(tmp_path / "state", "--learner", "perceptron") as service:
        assert service.figures()["streamlin_events_total"] == accepted


def test_an_unfinished_line_is_dropped(tmp_path: Path) -> None:
    """Killed while writing: a line without an answer is dropped, and the next line is whole."""
    with served(tmp_path / "state", "--learner", "perceptron") as service:
        service.post("/learn", {"text": "one", "label": "a"})
        kill(service.process)
    (path,) = journal_of(service.folder)
    with path.open("ab") as file:
        file.write(b'{"text": "tw')
    with served(tmp_path / "state") as service:
        service.post("/learn", {"text": "three", "label": "a"})
        service.learned(2)
        assert service.figures()["streamlin_dead_letters_total"] == 0
    assert [line["text"] for line in service.lines] == ["one", "three"]
