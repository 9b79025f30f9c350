"""Limits of a service: requests at a time, waiting events, labels, large texts; and its token."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.command_line import command_line, refused
from tests.integration.processes import finish
from tests.service.served import JSON, journal_of, served

TOKEN = "s3cret-of-the-test"


def test_a_text_of_a_megabyte_is_learned(tmp_path: Path) -> None:
    """It is learned and predicted like any other, and others are answered meanwhile."""
    text = "".join(f"word{number % 5000} " for number in range(120_000))
    assert len(text) > 1_000_000
    with served(tmp_path / "state", "--learner", "naive_bayes") as service:
        service.post("/learn", [{"text": text, "label": "long"}, {"text": "short", "label": "short"}])
        service.learned(2)
        with ThreadPoolExecutor(4) as threads:
            long = [threads.submit(service.post, "/predict", {"text": text}) for _ in range(3)]
            assert service.post("/predict", {"text": "short"}).value["predicted"] == "short"
            assert {one.result().value["predicted"] for one in long} == {"long"}
    assert service.lines[0] == {"text": text, "label": "long"}


def test_events_of_concurrent_writers_are_kept_in_order(tmp_path: Path) -> None:
    """Every request is answered; every event is stored once, and each writer's in its order."""

    def write(writer: int) -> list[int]:
        events = [{"text": f"{writer} {number}", "label": f"{number % 3}", "id": f"{writer}"} for number in range(40)]
        return [service.post("/learn", events[i : i + 1 + i % 2]).status for i in range(0, 40, 2)]

    with served(tmp_path / "state", "--learner", "perceptron") as service, ThreadPoolExecutor(8) as threads:
        statuses = [status for statuses in threads.map(write, range(8)) for status in statuses]
    assert Counter(statuses) == {202: 160}
    lines = service.lines
    for writer in range(8):
        own = [int(line["text"].split()[1]) for line in lines if line["id"] == str(writer)]
        assert own == list(range(0, 40, 2))
    assert json.loads(command_line("inspect", service.folder, "--json").out)["events"] == 160


def test_too_many_requests_at_a_time_get_503(tmp_path: Path) -> None:
    """Health is always answered."""
    limits = ("--set", "serve.max_in_flight=1")
    many = json.dumps([{"text": f"{i} " * 50} for i in range(1000)]).encode()
    with served(tmp_path / "state", "--learner", "perceptron", *limits) as service, ThreadPoolExecutor(8) as threads:
        found = Counter[int]()
        while not (found[200] and found[503]):
            asked = [threads.submit(service.ask, "POST", "/predict", many, JSON) for _ in range(16)]
            asked.append(threads.submit(service.ask, "GET", "/healthz"))
            *answers, health = [one.result() for one in asked]
            assert health.status == 200
            found.update(answer.status for answer in answers)
            for answer in answers:
                if answer.status == 503:
                    assert answer.headers["retry-after"] == "1"
                    assert answer.error == "the service is busy with serve.max_in_flight = 1 requests; try again"
        assert set(found) == {200, 503}
        figures = service.figures()
        assert figures["streamlin_requests_total /predict 503"] == found[503]
        assert figures["streamlin_request_seconds_count /predict"] == found.total()


def test_too_many_waiting_events_get_503(tmp_path: Path) -> None:
    """Events that were accepted are learned."""
    limits = ("--set", "serve.max_waiting=1", "--set", "serve.max_batch=1")
    body = json.dumps({"text": " ".join(map(str, range(100_000))), "label": "long"}).encode()
    with served(tmp_path / "state", "--learner", "naive_bayes", *limits) as service, ThreadPoolExecutor(4) as threads:
        found = Counter[int]()
        while not found[503]:
            for answer in threads.map(lambda _: service.ask("POST", "/learn", body, JSON), range(8)):
                found[answer.status] += 1
                if answer.status == 503:
                    assert answer.headers["retry-after"] == "1"
                    assert answer.error == "1 events wait to be learned; try again"
        assert set(found) == {202, 503}
        service.learned(found[202])
    assert len(service.lines) == found[202]


def test_too_many_labels_get_409(tmp_path: Path) -> None:
    """In the journal they would end the run, now and at every start."""
    limit = ("--set", "pipeline.max_labels=3", "--learner", "perceptron")
    with served(tmp_path / "state", *limit) as service:
        assert service.post("/learn", [{"text": "x", "label": label} for label in "abb"]).status == 202
        answer = service.post("/learn", [{"text": "x", "label": label} for label in "cd"])
        assert answer.status == 409
        assert answer.error == "label 'd' exceeds pipeline.max_labels = 3 different labels"
        assert service.post("/learn", {"text": "x", "label": "c"}).status == 202
        assert service.post("/learn", {"text": "x", "label": "a"}).status == 202
        assert service.post("/learn", {"text": "x", "label": "d", "weight": 0}).status == 202  # teaches nothing
    with served(tmp_path / "state", *limit) as service:
        assert service.post("/learn", {"text": "x", "label": "d"}).status == 409
        assert service.post("/learn", {"text": "x", "label": "b"}).status == 202
        service.learned(7)
    with served(tmp_path / "state", "--set", "pipeline.max_labels=2") as service:  # fewer than there are by now
        assert service.post("/learn", {"text": "x", "label": "b"}).status == 202
        assert service.post("/learn", {"text": "x", "label": "d"}).status == 409
        service.learned(8)


def test_a_text_too_large_for_the_tables_gets_409(tmp_path: Path) -> None:
    """With many labels, many new words would exhaust memory, now and at every start; other events are learned."""
    limit = ("--set", "pipeline.max_table_bytes=3_000_000")
    many = [{"text": f"w{number}", "label": f"n{number}"} for number in range(200)]
    with served(tmp_path / "state", *limit) as service:
        assert service.post("/learn", many).status == 202
        service.learned(200)
        text = " ".join(f"word{number}" for number in range(20_000))
        answer = service.post("/learn", {"text": text, "label": "n0"})
        assert answer.status == 409
        assert answer.error.startswith("pipeline.max_table_bytes: the learners' tables need more than 3,000,000 bytes")
        assert service.post("/learn", {"text": text, "label": "n0", "weight": 0}).status == 409  # by its features alone
        assert service.post("/learn", {"text": "some new words", "label": "n0"}).status == 202
        service.learned(201)
        assert service.post("/predict", {"text": text}).status == 200
    with served(tmp_path / "state", *limit) as service:
        service.learned(201)


def test_a_label_gets_409_if_its_waiting_text_is_too_large(tmp_path: Path) -> None:
    """The features of a text count when its label comes by id; there were fewer labels when the text came."""
    limit = ("--late-labels", "--set", "pipeline.max_table_bytes=3_000_000")
    text = " ".join(f"word{number}" for number in range(2_000))
    with served(tmp_path / "state", *limit) as service:
        assert service.post("/predict?await_label=1", {"text": text, "id": "long"}).status == 200
        assert service.post("/predict?await_label=1", {"text": "short", "id": "short"}).status == 200
        many = [{"text": f"w{number}", "label": f"n{number}", "id": number} for number in range(200)]
        assert service.post("/learn", many).status == 202
        service.learned(202)
        answer = service.post("/learn", {"label": "n0", "id": "long"})
        assert answer.status == 409
        assert answer.error.startswith("pipeline.max_table_bytes: the learners' tables need more than 3,000,000 bytes")
        assert service.post("/learn", {"label": "n0", "id": "short"}).status == 202
        assert service.post("/predict", {"text": text}).status == 200


def test_an_accepted_event_that_can_not_be_learned_is_told_and_passed_over(tmp_path: Path) -> None:
    """A limit that is lower than when it was accepted ends the service with one line, at every start, unless told."""
    with served(tmp_path / "state", "--learner", "perceptron") as service:
        service.learned(0)
    lines = [{"text": "x", "label": label} for label in "abcab"]
    (journal,) = journal_of(tmp_path / "state")
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))  # accepted, then killed
    limit = ("--set", "pipeline.max_labels=2")
    for _ in "12":
        error = refused("serve", tmp_path / "state", 0, *limit)
        assert error.startswith("pipeline.max_labels: found more than 2 labels, 'c' at requests:56 is one too many; ")
        assert error.endswith("; serve.pass_over = true leaves out accepted events that can't be learned")
        assert json.loads(command_line("inspect", tmp_path / "state", "--json").out)["events"] == 2
    with served(tmp_path / "state", *limit, "--set", "serve.pass_over=true") as service:
        assert "passed over an accepted event: pipeline.max_labels: found more than 2 labels, 'c' at " in service.told
        service.learned(4)
        assert service.figures()["streamlin_dead_letters_total"] == 1
    with served(tmp_path / "state", *limit) as service:
        service.learned(4)


def test_labels_by_id_get_409_where_disabled(tmp_path: Path) -> None:
    with served(tmp_path / "state", "--learner", "perceptron") as service:
        for path, value in (
            ("/learn", {"id": "1", "label": "a"}),
            ("/predict?await_label=1", {"text": "a", "id": "1"}),
        ):
            answer = service.post(path, value)
            assert answer.status == 409
            assert "start the service with --late-labels" in answer.error
    assert service.lines == []


def test_a_token_is_needed_for_all_but_health(tmp_path: Path) -> None:
    """It appears in no answer and no line."""
    state = tmp_path / "state"
    with served(state, "--learner", "perceptron", env={"STREAMLIN_SERVE__TOKEN": TOKEN}) as service:
        wrong = ("", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN, f"Basic {TOKEN}")
        for headers in (JSON, *(JSON | {"Authorization": shown} for shown in wrong)):
            for path in ("/predict", "/learn", "/metrics", "/openapi.json", "/nothing"):
                answer = service.ask("POST", path, b'{"text": "a", "label": "b"}', headers)
                assert answer.status == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert TOKEN not in str(answer)
        for shown in (f"bearer {TOKEN}", f"BEARER  {TOKEN}", f"bEaReR {TOKEN} "):
            assert service.ask("GET", "/openapi.json", None, {"Authorization": shown}).status == 200
        known = {"Authorization": f"Bearer {TOKEN}"}
        assert service.post("/learn", {"text": "a", "label": "b"}, known).status == 202
        assert service.ask("GET", "/metrics", None, known).status == 200
        assert service.ask("GET", "/healthz").status == 200
        assert service.ask("GET", "/readyz").status == 200
        assert len(service.lines) == 1
        service.process.terminate()
        done = finish(service.process, news=False)
    assert done.code == 0
    assert TOKEN not in done.err


def test_tokens_come_from_a_file_or_the_environment(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{TOKEN}\n")
    with served(tmp_path / "state", "--learner", "perceptron", "--set", f"serve.token_file={secret}") as service:
        assert service.post("/predict", {"text": "a"}).status == 401
        assert service.post("/predict", {"text": "a"}, {"Authorization": f"Bearer {TOKEN}"}).status == 200
    for token in ("two words", "zwölf"):
        error = refused("serve", tmp_path / "other", 0, env={"STREAMLIN_SERVE__TOKEN": token})
        assert error == "serve.token: needs visible ASCII characters without blanks, got others"
    error = refused("serve", tmp_path / "other", 0, "--set", f"serve.token={TOKEN}")
    assert "STREAMLIN_SERVE__TOKEN in the environment" in error
    assert TOKEN not in error


@pytest.mark.parametrize("token", [None, TOKEN])
def test_a_notice_tells_if_a_service_is_open_to_everybody(tmp_path: Path, token: str | None) -> None:
    """There any host name is allowed."""
    env = {} if token is None else {"STREAMLIN_SERVE__TOKEN": token}
    with served(tmp_path / "state", "--learner", "perceptron", env=env, address="0.0.0.0:0") as service:
        answer = service.ask("GET", "/healthz", None, {"Host": "some.name"})
        assert answer.status == 200
    assert ("everybody who can reach this machine" in service.told) == (token is None)
