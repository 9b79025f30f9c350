"""Tags that come later than their sentences, by HTTP."""

from pathlib import Path

from tests.command_line import command_line
from tests.integration.streams import assert_same_state
from tests.service.served import journal_of, served

LATE = ("--task", "tagging", "--late-labels", "--set", 'fields.columns=["pos"]')


def test_late_tags_are_joined_with_their_sentences(tmp_path: Path) -> None:
    """A predicted sentence waits for its tags, which refer to it by id; the state is that of a run, bit for bit."""
    ask = "/predict?await_label=true"
    with served(tmp_path / "served", *LATE) as service:
        first = {"tokens": ["the", "dog"], "id": 42, "columns": {"pos": ["D", "N"]}}
        assert service.post(ask, first).value["id"] == "42"
        assert len(service.post(ask, [{"text": "A cat sleeps.", "id": "43"}, {"tokens": ["x"], "id": "44"}]).value) == 2
        made_up = service.post(ask, {"text": "the cat"}).value["id"]
        service.learned(4)
        answer = service.post("/learn", [{"id": "42", "tags": ["DET", "NOUN"]}, {"id": made_up, "tags": ["DET", None]}])
        assert (answer.status, answer.value) == (202, {"accepted": 2})
        service.post("/learn", {"id": "43", "tags": ["DET", "NOUN", "VERB", "PUNCT"]})
        service.post("/learn", {"tokens": ["a", "dog"], "tags": ["DET", "NOUN"], "id": 45})
        service.learned(5)
        found = service.post("/predict", {"tokens": ["a", "dog"]}).value
        assert found["predicted"] == ["DET", "NOUN"]
        figures = service.figures()
        assert figures["streamlin_delayed_labels_waiting"] == 1
        assert figures["streamlin_delayed_labels_joined_total"] == 3
        assert figures["streamlin_labelled_total"] == 4
    command_line("run", journal_of(service.folder)[0], *LATE, "--checkpoint", tmp_path / "run")
    assert_same_state(tmp_path / "served", tmp_path / "run", places=False)


def test_late_tags_of_another_length_get_422(tmp_path: Path) -> None:
    """While the sentence waits; nothing of the request is accepted, and the right tags can still come."""
    with served(tmp_path / "served", *LATE, "--learner", "hmm") as service:
        service.post("/predict?await_label=1", {"text": "the dog barks", "id": "1"})
        service.learned(1)
        answer = service.post("/learn", [{"id": "0", "tags": []}, {"id": "1", "tags": ["DET", "NOUN"]}])
        assert (answer.status, answer.error) == (422, "[1].tags: 2 values for the 3 tokens of id '1', expected as many")
        assert len(service.lines) == 1
        assert service.post("/learn", {"id": "1", "tags": ["DET", "NOUN", "VERB"]}).status == 202
        assert service.post("/learn", {"id": "unknown", "tags": ["DET"]}).status == 202
        service.ended()
    assert len(service.lines) == 3


def test_late_tags_beyond_the_limits_get_409(tmp_path: Path) -> None:
    """The features of a sentence count when its tags come."""
    limit = (
        *LATE,
        "--learner",
        "crf",
        "--set",
        "pipeline.max_table_bytes=3_000_000",
        "--set",
        "pipeline.max_labels=12",
    )
    words = [f"word{number}" for number in range(5000)]
    with served(tmp_path / "served", *limit) as service:
        service.post("/predict?await_label=1", [{"tokens": words, "id": "long"}, {"tokens": ["short"], "id": "short"}])
        service.learned(2)
        answer = service.post("/learn", {"id": "long", "tags": [*"ABCDEFGHIJ"] * 500})
        assert answer.status == 409
        assert answer.error.startswith("pipeline.max_table_bytes: the taggers' tables need more than 3,000,000 bytes")
        answer = service.post("/learn", {"tokens": ["x"] * 13, "tags": [*"ABCDEFGHIJKLM"]})
        assert answer.error == "tag 'M' exceeds pipeline.max_labels = 12 different tags"
        assert service.post("/learn", {"id": "short", "tags": ["A"]}).status == 202
        assert service.post("/predict", {"tokens": words}).status == 200
