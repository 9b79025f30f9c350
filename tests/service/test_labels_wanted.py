"""`GET /labels-wanted`: what is asked, page by page, and the answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.served import Served, served

ASKS = ("--late-labels", "--set", "ask.budget=0.5", "--learner", "naive_bayes")
TEXTS = [{"id": str(i), "text": f"{'win' if i % 2 else 'lunch'} word{i % 5}"} for i in range(40)]


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Served]:
    """A service to which 40 texts were sent, 20 of which are asked at once."""
    with served(tmp_path / "state", *ASKS, "--set", "serve.max_batch=40") as running:
        assert running.post("/predict?await_label=true", TEXTS).status == 200
        running.learned(40)
        yield running


def test_questions_come_in_pages_and_are_answered(asking: Served) -> None:
    """The oldest first; an answer takes its question away."""
    first = asking.ask("GET", "/labels-wanted?limit=15").value
    assert [event["id"] for event in first["events"]] == [str(i) for i in range(15)]
    assert first["events"][3] == {
        "id": "3",
        "text": "win word3",
        "predicted": None,
        "confidence": None,
        "why": "first",
        "probability": 1.0,
    }
    assert first["labels"] == []
    rest = asking.ask("GET", f"/labels-wanted?limit=40&after={first['next']}").value
    ids = [event["id"] for page in (first, rest) for event in page["events"]]
    assert rest["next"] is None
    assert first["wanted"] == rest["wanted"] == len(ids) == len(set(ids)) > 20
    answers = [{"id": id_, "label": "spam" if int(id_) % 2 else "ham"} for id_ in ids[:22]]
    assert asking.post("/learn", answers).status == 202
    asking.learned(40)
    left = asking.ask("GET", "/labels-wanted").value
    assert [event["id"] for event in left["events"]] == ids[22:]
    assert (left["wanted"], left["labels"], left["next"]) == (len(ids) - 22, ["ham", "spam"], None)
    asking.post("/predict?await_label=true", [{"id": "new", "text": "win again"}])
    asking.learned(41)
    last = asking.ask("GET", "/labels-wanted?limit=40").value["events"]
    assert [event["predicted"] for event in last if event["id"] == "new"] in ([], ["spam"])


def test_questions_survive_a_kill(tmp_path: Path) -> None:
    """They are asked again after a restart, and no label is asked for twice."""
    folder = tmp_path / "state"
    with served(folder, *ASKS) as running:
        running.post("/predict?await_label=true", TEXTS)
        running.learned(40)
        running.post("/learn", {"id": "0", "label": "ham"})
        before = running.ask("GET", "/labels-wanted?limit=100").value["events"]
        running.process.kill()
        running.process.communicate()
    with served(folder, "--set", "ask.hide_text=true", *ASKS) as running:
        after = running.ask("GET", "/labels-wanted?limit=100").value["events"]
    assert after == [{key: event[key] for key in event if key != "text"} for event in before if event["id"] != "0"]


def test_wrong_numbers_are_refused_in_one_line(asking: Served) -> None:
    for query, reason in (
        ("limit=0", "limit: needs a whole number from 1 to 40, got '0'"),
        ("limit=41", "limit: needs a whole number from 1 to 40, got '41'"),
        ("limit=ten", "limit: needs a whole number from 1 to 40, got 'ten'"),
        ("after=-1", "after: needs a whole number from 0 to 1,000,000,000,000,000, got '-1'"),
    ):
        answer = asking.ask("GET", f"/labels-wanted?{query}")
        assert (answer.status, answer.error) == (422, reason)


def test_a_service_that_does_not_ask_says_so(tmp_path: Path) -> None:
    with served(tmp_path / "state", "--late-labels", "--learner", "naive_bayes") as running:
        answer = running.ask("GET", "/labels-wanted")
        assert (answer.status, answer.error) == (
            409,
            "no labels are asked for; start the service with --set ask.budget=0.05",
        )


def test_an_answer_is_cut_at_its_limit(tmp_path: Path) -> None:
    """Fewer events than wanted, and where to go on; a single one that is too long is refused."""
    with served(tmp_path / "state", *ASKS, "--set", "serve.max_answer_bytes=400") as running:
        for body in TEXTS[:6]:
            assert running.post("/predict?await_label=true", body).status == 200
        running.learned(6)
        found, after = [], 0
        while after is not None:
            page = running.ask("GET", f"/labels-wanted?after={after}").value
            found += [event["id"] for event in page["events"]]
            after = page["next"]
        assert found == [str(i) for i in range(6)]
        running.post("/learn", [{"id": body["id"], "label": "ham"} for body in TEXTS[:6]])
        running.post("/predict?await_label=true", {"id": "long", "text": "a" * 500})
        running.learned(7)
        answer = running.ask("GET", "/labels-wanted")
        assert (answer.status, answer.error) == (422, "the answer is over serve.max_answer_bytes = 400")
