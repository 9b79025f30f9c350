"""A service that tags: what it answers, what it has learned afterwards, and what it refuses."""

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import command_line, refused
from tests.integration.processes import kill, until
from tests.integration.streams import assert_same_state, measured, real_events, write_lines
from tests.service.served import JSON, Served, asked, journal_of, served

TAGGING = ("--task", "tagging")
HMM = (*TAGGING, "--learner", "hmm")
NO_ALARMS = ("--set", "evaluation.drift=none")
"""Alarms name the place in the source, which differs between a service and a run."""
COLUMNS = ("--set", 'fields.columns=["pos"]')


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One of all taggers, with a further column and room for lists of up to 10."""
    limits = (
        "--set",
        "serve.max_batch=10",
        "--set",
        "serve.max_tokens=20_000",
        "--set",
        'evaluation.slice_by=["split"]',
    )
    with served(tmp_path_factory.mktemp("tagging") / "state", *TAGGING, *COLUMNS, *limits) as running:
        yield running


@pytest.fixture(scope="module")
def sentences(data: Path) -> list[dict[str, Any]]:
    """150 real sentences; some tags are unknown, some sentences are texts or have a weight."""
    events = real_events(data / "pos-ud-ewt.jsonl.gz", 150)
    events = [{key: event[key] for key in ("id", "tokens", "tags")} for event in events]
    for number, event in enumerate(events):
        if number % 13 == 5:
            event["tags"] = [tag if i % 2 else None for i, tag in enumerate(event["tags"])]
        if number % 11 == 3:
            event["weight"] = number % 3 / 2
        if number % 17 == 4:
            event["text"] = " ".join(token for token in event.pop("tokens") if token.isalpha())
            event["tags"] = ["X"] * len(event["text"].split())
    return events


def test_a_service_learns_as_a_run_does(sentences: list[dict[str, Any]], tmp_path: Path) -> None:
    """Sentences posted singly and in lists give the state of a run over them, bit for bit, and its predictions."""
    options = (*TAGGING, *NO_ALARMS, "--set", "evaluation.lead=crf", "--set", "pipeline.token_confidence=true")
    asked_for = [{"text": "The dog barks, doesn't it?", "id": "0"}, {"tokens": ["The", "cat"]}, {"tokens": []}]
    with served(tmp_path / "served", *options) as service:
        for sentence in sentences[:20]:
            assert service.post("/learn", sentence).value == {"accepted": 1}
        answer = service.post("/learn", sentences[20:])
        assert (answer.status, answer.value) == (202, {"accepted": 130})
        service.learned(150)
        several = service.post("/predict", asked_for * 3).value
        single = [service.post("/predict", sentence).value for sentence in asked_for]
    stream, report = write_lines(tmp_path / "stream.jsonl", sentences), tmp_path / "report.json"
    command_line("run", stream, *options, "--checkpoint", tmp_path / "run", "--report", report)
    assert_same_state(tmp_path / "served", tmp_path / "run", places=False)
    assert measured(report)["dead_letters"] == 0
    told = command_line("predict", tmp_path / "run", write_lines(tmp_path / "asked.jsonl", asked_for)).lines
    assert several == single * 3
    assert [one.get("id") for one in single] == ["0", None, None]
    for answered, line in zip(single, told, strict=True):
        shares = answered.pop("token_confidence", [])
        assert answered | {"id": None} == {key: line[key] for key in line if key != "position"} | {"id": None}
        assert len(shares) == len(line["predicted"])
        assert all(answered["confidence"] - 1e-3 <= share <= 1 for share in shares)
    assert "start" in single[0]


def test_large_and_many_sentences_are_predicted_alike(service: Served) -> None:
    """Whether on the event loop, or in portions on a thread."""
    long = ["word", "other"] * 3000
    service.post("/learn", {"tokens": ["word", "other"], "tags": ["X", "Y"]})
    service.learned(int(service.figures()["streamlin_events_total"]))
    one = service.post("/predict", {"tokens": long}).value
    assert len(one["predicted"]) == 6000
    short = service.post("/predict", {"tokens": long[:10]}).value
    assert service.post("/predict", [{"tokens": long[:10]}, {"tokens": long}, {"tokens": long[:10]}]).value == [
        short,
        one,
        short,
    ]


def test_columns_and_fields_have_the_names_of_the_stream(service: Served) -> None:
    """Columns are features: a word with another part of speech gets another tag."""
    events = [{"tokens": ["run"], "tags": [tag], "columns": {"pos": [pos]}} for pos, tag in (("V", "B-A"), ("N", "O"))]
    service.post("/learn", [event | {"fields": {"split": "train"}} for event in events] * 5)
    assert service.lines[-1] == {"tokens": ["run"], "tags": ["O"], "pos": ["N"], "split": "train"}
    service.learned(len(service.lines))
    found = service.post("/predict", [{"tokens": ["run"], "columns": {"pos": [pos]}} for pos in "VN"]).value
    assert [one["learners"]["crf"] for one in found] == [["B-A"], ["O"]]


WRONG = [
    ("/predict", {}, "needs tokens or a text, got neither"),
    ("/predict", [{}], "[0]: needs tokens or a text, got neither"),
    ("/predict", {"tokens": ["a"], "text": "a"}, "needs tokens or a text, got both"),
    ("/predict", {"tokens": "a"}, "tokens: needs a list of texts, got 'a'"),
    ("/predict", [{"tokens": ["a"]}, {"tokens": ["a", 5]}], "[1].tokens[1]: needs a text, got 5"),
    ("/predict", {"tokens": ["a", None]}, "tokens[1]: needs a text, got None"),
    ("/predict", {"text": ["a"]}, "text: input should be a valid string, got ['a']"),
    ("/predict", {"tokens": ["a"], "tags": ["X"]}, "tags: unknown key; choose one of id, weight, time, tokens, text, "),
    ("/predict", {"tokens": ["a"], "columns": {"pos": []}}, "columns.pos: 0 values for 1 tokens, expected as many"),
    ("/predict", {"text": "a b", "columns": {"pos": ["X"]}}, "pos has 1 values for 2 tokens, expected as many"),
    ("/predict", {"tokens": ["a"], "columns": {"sop": ["X"]}}, "columns.sop: unknown key; choose one of pos"),
    (
        "/predict",
        {"tokens": ["a"], "columns": {"pos": [7]}},
        "columns.pos[0]: needs a text, or null for a missing value",
    ),
    ("/predict", {"tokens": ["a"], "columns": ["X"]}, "columns: needs lists of texts by name, got ['X']"),
    ("/predict", [{"tokens": ["a"]}] * 11, "11 events, but at most 10 in one request"),
    ("/predict", {"tokens": ["a"] * 20_001}, "20,001 tokens, but at most serve.max_tokens = 20,000 in one request"),
    (
        "/predict",
        [{"text": "a b" * 3334}, {"text": "a b" * 3333}],
        "20,001 tokens, but at most serve.max_tokens = 20,000",
    ),
    ("/learn", {"tokens": ["a"] * 20_001, "tags": ["X"] * 20_001}, "20,001 tokens, but at most serve.max_tokens = 20"),
    ("/learn", {"tokens": ["a"]}, "tags: a value is missing"),
    ("/learn", {"tokens": ["a"], "tags": None}, "tags: needs a list of texts, null for an unknown one, got None"),
    ("/learn", {"tokens": ["a"], "tags": "X"}, "tags: needs a list of texts, null for an unknown one, got 'X'"),
    (
        "/learn",
        {"tokens": ["a"], "tags": [""]},
        "tags[0]: needs a text that is not empty, or null for an unknown tag, ",
    ),
    ("/learn", {"tokens": ["a", "b"], "tags": ["X", 1]}, "tags[1]: needs a text that is not empty, or null for an "),
    ("/learn", {"tokens": ["a", "b"], "tags": ["X"]}, "tags: 1 values for 2 tokens, expected as many"),
    ("/learn", [{"tokens": ["a"], "tags": ["X"]}, {"tokens": [], "tags": ["X"]}], "[1].tags: 1 values for 0 tokens, "),
    ("/learn", {"text": "a b.", "tags": ["X"]}, "tags has 1 values for 3 tokens, expected as many"),
    (
        "/learn",
        [{"text": "a", "tags": ["X"]}, {"text": "a", "tags": []}],
        "[1]: tags has 0 values for 1 tokens, expected",
    ),
    ("/learn", {"tags": ["X"]}, "needs tokens, a text, or the id of an earlier sentence, got neither"),
    ("/learn", {"tokens": ["a"], "label": "X", "tags": ["X"]}, "label: unknown key; choose one of id, "),
    ("/learn", {"tokens": ["a"], "tags": ["X"], "weight": -1}, "weight: input should be greater than or equal to 0"),
    ("/learn", {"tokens": ["a"], "tags": ["X" * 1001]}, "tags[0]: 1,001 characters, but at most pipeline.max_label_"),
    (
        "/learn",
        {"tokens": ["a"], "tags": ["X"], "id": "i" * 4001},
        "id: 4,001 characters, but at most pipeline.max_id_",
    ),
    ("/learn", {"tokens": ["a"], "tags": ["X"], "fields": {"x": 1}}, "fields.x: unknown key; choose one of split"),
]


@pytest.mark.parametrize(("path", "value", "reason"), WRONG, ids=[reason[:40] for _, _, reason in WRONG])
def test_wrong_values_get_422_and_the_reason(service: Served, path: str, value: object, reason: str) -> None:
    """Nothing of the request is accepted."""
    before = len(service.lines)
    answer = service.post(path, value)
    assert (answer.status, answer.error[: len(reason)]) == (422, reason)
    assert len(service.lines) == before
    assert service.ask("GET", "/healthz").status == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [(b'{"tokens": ["a"', 400), (b'{"tokens": ["\\ud800"], "tags": ["X"]}', 400), (b"\xff\xfe{\0", 415)],
)
def test_what_is_no_json_is_refused(service: Served, body: bytes, status: int) -> None:
    for path in ("/predict", "/learn"):
        assert service.ask("POST", path, body, JSON).status == status
    assert service.post("/learn", {"tokens": ["a" * 4_000_000], "tags": ["X"]}).status == 413


def test_tags_by_id_get_409_where_disabled(service: Served) -> None:
    for path, value in (("/learn", {"id": "1", "tags": ["X"]}), ("/predict?await_label=1", {"tokens": ["a"]})):
        answer = service.post(path, value)
        assert answer.status == 409
        assert "start the service with --late-labels" in answer.error


def test_figures_are_those_of_taggers(service: Served) -> None:
    """Sentences and spans are counted as in a run."""
    service.post("/learn", {"tokens": ["a", "b"], "tags": ["O", "O"]})
    figures = service.figures()
    assert "streamlin_learner_sentences_right_ratio crf running" in figures
    assert "streamlin_feature_rows tokens" in figures
    assert figures["streamlin_requests_total /learn 202"] > 0


def test_every_answer_is_as_the_document_says(tmp_path: Path) -> None:
    """As for texts; that lists must be equally long is in no schema, so that some valid requests are refused."""
    options = (*HMM, *COLUMNS, "--set", "pipeline.max_labels=100000")
    with served(tmp_path / "state", *options) as service:
        command = [str(Path(sys.executable).parent / "schemathesis"), "run", f"{service.url}openapi.json", "--no-color"]
        checks = ["--checks", "all", "--exclude-checks", "positive_data_acceptance", "--max-examples", "100"]
        rest = ["--request-timeout", "180", "--seed", "1", "--generation-database", "none"]
        done = subprocess.run([*command, *checks, *rest], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode()
        assert b"API Operations:\n  Selected: 6/6\n  Tested: 6\n" in done.stdout
        lines = service.lines
        assert len(lines) > 20
        service.learned(len(lines))
        assert service.figures()["streamlin_dead_letters_total"] == 0
        document = service.ask("GET", "/openapi.json").value
        for path, status in (("/predict", 200), ("/learn", 202)):
            examples = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["examples"]
            assert list(examples) == ["one", "several"]
            for example in examples.values():
                assert service.post(path, example["value"]).status == status
        assert "text" not in json.dumps(document["info"])


def test_too_many_tags_get_409(tmp_path: Path) -> None:
    """In the journal they would end the run, now and at every start."""
    limit = (*HMM, "--set", "pipeline.max_labels=3")
    with served(tmp_path / "state", *limit) as service:
        assert service.post("/learn", {"tokens": ["x"] * 4, "tags": ["A", "B", "B", None]}).status == 202
        answer = service.post("/learn", [{"tokens": ["x"], "tags": [tag]} for tag in "CD"])
        assert answer.status == 409
        assert answer.error == "tag 'D' exceeds pipeline.max_labels = 3 different tags"
        assert service.post("/learn", {"tokens": ["x"], "tags": ["D"], "weight": 0}).status == 202
        assert service.post("/learn", {"tokens": ["x"], "tags": ["C"]}).status == 202
        service.learned(3)
    with served(tmp_path / "state", *limit) as service:
        assert service.post("/learn", {"tokens": ["x"], "tags": ["D"]}).status == 409
        assert service.post("/learn", {"tokens": ["x"], "tags": ["B"]}).status == 202
        service.learned(4)


def test_a_sentence_too_large_for_the_tables_gets_409(tmp_path: Path) -> None:
    """What is accepted can be learned, also while much waits; other sentences are learned."""
    limit = (*TAGGING, "--learner", "crf", "--set", "pipeline.max_table_bytes=3_000_000")
    with served(tmp_path / "state", *limit) as service:
        many = {"tokens": [f"word{number}" for number in range(5000)], "tags": [*"ABCDEFGHIJ"] * 500}
        answer = service.post("/learn", many)
        assert answer.status == 409
        assert answer.error.startswith(
            "pipeline.max_table_bytes: the taggers' tables need more than 3,000,000 bytes, for "
        )
        accepted = 0
        for number in range(300):  # until there is no more room
            words = [f"{number} {i}" for i in range(20)]
            answer = service.post("/learn", {"tokens": words, "tags": [*"ABCDEFGHIJ"] * 2})
            accepted += answer.status == 202
            assert answer.status in (202, 503, 409), answer
        assert 5 < accepted < 300
        service.learned(accepted)
        assert service.post("/learn", {"tokens": ["0 0"], "tags": ["A"]}).status == 202
        assert service.post("/predict", {"tokens": many["tokens"]}).status == 200
    with served(tmp_path / "state", *limit) as service:
        service.learned(accepted + 1)


def test_a_checkpoint_belongs_to_its_task(sentences: list[dict[str, Any]], tmp_path: Path) -> None:
    """It need not be named for a checkpoint; another one is refused, with the key."""
    stream = write_lines(tmp_path / "s.jsonl", sentences[:20])
    command_line("run", stream, *HMM, "--checkpoint", tmp_path / "tags")
    command_line(
        "run", write_lines(tmp_path / "t.jsonl", [{"text": "a", "label": "b"}]), "--checkpoint", tmp_path / "texts"
    )
    says = 'was made with a different configuration: task: "{}" in the checkpoint, "{}" now'
    line = refused("serve", tmp_path / "tags", 0, "--task", "classification", code=4)
    assert line.endswith(says.format("tagging", "classification"))
    line = refused("serve", tmp_path / "texts", 0, "--set", "task=tagging", code=4)
    assert line.endswith(says.format("classification", "tagging"))
    with served(tmp_path / "tags") as service:
        assert service.figures()["streamlin_events_total"] == 20
        assert service.post("/learn", {"text": "a", "label": "b"}).status == 422
        assert list(service.post("/predict", {"tokens": ["a"]}).value["learners"]) == ["hmm"]


class Client(threading.Thread):
    """Sends sentences one after the other, each once, until the service stops answering.

    sent, answered : ids of sentences, and of those that the service has accepted.
    """

    def __init__(self, service: Served, name: str) -> None:
        super().__init__()
        self._service, self._name, self._chance = service, name, random.Random(name)
        self.sent: list[str] = []
        self.answered: list[str] = []

    def run(self) -> None:
        with closing(self._service.connected()) as connection, suppress(OSError, HTTPException):
            while True:
                events = [self._event() for _ in range(self._chance.choice([1, 1, 3]))]
                self.sent += [event["id"] for event in events]
                answer = asked(connection, "POST", "/learn", json.dumps(events).encode(), JSON)
                assert answer.status == 202, answer
                self.answered += [event["id"] for event in events]

    def _event(self) -> Mapping[str, Any]:
        words = self._chance.choices(["the", "dog", "barks", "a", "cat"], k=self._chance.randint(1, 8))
        tags = [{"the": "DET", "a": "DET", "barks": "VERB"}.get(word, "NOUN") for word in words]
        name = f"{self._name}-{len(self.sent)}-{self._chance.random()}"
        given: dict[str, Any] = {"tokens": words} if self._chance.random() < 0.8 else {"text": " ".join(words)}
        return {"id": name, **given, "tags": tags}


def test_kills_lose_nothing_accepted_and_repeat_nothing(tmp_path: Path) -> None:
    """Accepted sentences are stored once, each client's in its order; the state is that of a run over all of them."""
    small = (*TAGGING, "--set", "checkpoint.every_events=25", *NO_ALARMS)
    chance, clients = random.Random(3), list[Client]()
    for round_ in range(3):
        with served(tmp_path / "served", *small) as service:
            now = [Client(service, f"{round_}-{number}") for number in range(3)]
            for client in now:
                client.start()
            wanted = chance.randrange(11, 150)
            until(lambda now=now, wanted=wanted: sum(len(client.answered) for client in now) >= wanted)
            time.sleep(chance.uniform(0, 0.02))
            kill(service.process)
            for client in now:
                client.join()
            clients += now
    with served(tmp_path / "served", *small) as service:
        service.post("/learn", {"tokens": ["the", "last"], "tags": ["DET", "ADJ"]})
    ids = [line["id"] for line in service.lines if "id" in line]
    assert sum(len(client.answered) for client in clients) > 30
    assert len(ids) == len(set(ids))
    for client in clients:
        own = [name for name in ids if name in set(client.sent)]
        assert own == client.sent[: len(own)]
        assert len(own) >= len(client.answered)
    stream, report = tmp_path / "stream.jsonl", tmp_path / "report.json"
    stream.write_bytes(b"".join(path.read_bytes() for path in journal_of(service.folder)))
    command_line("run", stream, *small, "--checkpoint", tmp_path / "run", "--report", report)
    assert_same_state(tmp_path / "served", tmp_path / "run", places=False)
    assert measured(report)["dead_letters"] == 0
