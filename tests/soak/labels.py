"""The limits of labels, their weights, and the tables that they need with many words."""

import json
from math import isfinite
from pathlib import Path

from tests.integration.streams import json_lines, write_lines
from tests.integration.streams import measured as report_of
from tests.service.served import journal_of, served
from tests.soak.measuring import command, measured, three_times

LEARNER = ("--learner", "perceptron")
TABLES = ("--set", "pipeline.max_table_bytes=2_000_000_000")
"""The default where memory is 6 GB."""
LABELS = [{"text": f"w{number}", "label": f"n{number}"} for number in range(999)]
WORDS = " ".join(f"{number:x}" for number in range(1 << 16, (1 << 16) + 500_000))
LARGE = {"text": WORDS, "label": "n0"}
TOO_LARGE = "the learners' tables need more than 2,000,000,000 bytes"


@three_times
def test_999_labels_and_a_text_of_500000_new_words(tmp_path: Path, number: int) -> None:
    """The text gets 409, and the service starts again with all that it accepted."""
    state = tmp_path / "state"
    with served(state, *TABLES) as service, measured("999 labels, 500,000 words", service.process, 300):
        assert service.post("/learn", LABELS).status == 202
        service.learned(999)
        answer = service.post("/learn", LARGE)
        assert answer.status == 409
        assert answer.error.startswith(f"pipeline.max_table_bytes: {TOO_LARGE}")
        assert service.post("/learn", {"text": "a", "label": "n0"}).status == 202
        service.learned(1000)
    with served(state, *TABLES) as service:
        service.learned(1000)


@three_times
def test_a_journal_with_500000_new_words_is_passed_over(tmp_path: Path, number: int) -> None:
    """Accepted with a higher limit: one line and exit 2 at every start, until it is told to leave it out."""
    state = tmp_path / "state"
    with served(state) as service:
        service.learned(0)
    (journal,) = journal_of(state)
    journal.write_text("".join(json.dumps(event) + "\n" for event in [*LABELS, LARGE, LABELS[0]]))
    for _ in "12":
        done = command("a journal that can't be learned", "serve", state, 0, *TABLES, code=2, most=600)
        assert TOO_LARGE in done.err
        assert done.err.endswith("serve.pass_over = true leaves out accepted events that can't be learned")
    with served(state, *TABLES, "--set", "serve.pass_over=true") as service:
        with measured("a journal that is passed over", service.process, 100):
            service.learned(1000)
        assert "passed over an accepted event: pipeline.max_table_bytes: " in service.told
    with served(state, *TABLES) as service:
        service.learned(1000)


@three_times
def test_new_labels_of_a_service_at_max_labels(tmp_path: Path, number: int) -> None:
    """The 1,001st gets 409, unless its weight is 0, which teaches nothing; so it is after a restart."""
    new = {"text": "a", "label": "new"}
    for learned in (1000, 1100):
        running = served(tmp_path / "state", *LEARNER)
        with running as service, measured("labels beyond max_labels", service.process, 60):
            if learned == 1000:
                assert service.post("/learn", [*LABELS, {"text": "a", "label": "last"}]).status == 202
            assert {service.post("/learn", new).status for _ in range(100)} == {409}
            assert {service.post("/learn", new | {"weight": 0}).status for _ in range(100)} == {202}
            service.learned(learned + 100)


@three_times
def test_the_21st_label_whatever_the_batches_are(tmp_path: Path, number: int) -> None:
    """30 events of 30 labels with a limit of 20: always 20 lines, and the 21st label is named."""
    stream = write_lines(tmp_path / "in.jsonl", LABELS[:30])
    for size, threads in ((1, 1), (7, 2), (20, 1), (4000, 2)):
        out, cut = tmp_path / f"{size}.jsonl", (f"pipeline.batch_size={size}", f"pipeline.threads={threads}")
        done = command(
            *(f"30 labels in batches of {size}", "run", stream, *LEARNER, "--predictions", out),
            *("--set", "pipeline.max_labels=20", "--set", cut[0], "--set", cut[1]),
            code=2,
        )
        assert "found more than 20 labels, 'n20' at " in done.err
        assert [line["label"] for line in json_lines(out)] == [f"n{number}" for number in range(20)]


@three_times
def test_weights_of_1_7e308(tmp_path: Path, number: int) -> None:
    """Each gets 422 from a service and is a dead letter in a run; every accuracy stays a number."""
    events = [{"text": f"w{i % 2}", "label": f"l{i % 2}"} for i in range(300)]
    with served(tmp_path / "state") as service, measured("100 weights of 1.7e308", service.process, 60):
        assert service.post("/learn", events).status == 202
        heavy = [service.post("/learn", events[i] | {"weight": 1.7e308}) for i in range(100)]
        assert {answer.status for answer in heavy} == {422}
        assert service.post("/learn", events).status == 202
        service.learned(600)
        figures = service.figures()
        assert all(isfinite(value) for name, value in figures.items() if "accuracy" in name)
        assert any("accuracy" in name for name in figures)
    stream = [event | {"weight": 1.7e308} if 100 <= i < 200 else event for i, event in enumerate(events)]
    report = tmp_path / "report.json"
    command("100 weights of 1.7e308 in a run", "run", write_lines(tmp_path / "in.jsonl", stream), "--report", report)
    found = report_of(report)
    assert (found["events"], found["dead_letters"]) == (200, 100)
    for row in found["learners"].values():
        assert 0.4 < row["accuracy"] <= 1.0
        assert 0.4 < row["fading_accuracy"] <= 1.0
