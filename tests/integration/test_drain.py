"""Runs that find the templates of log lines: `--drain`."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from streamlin import Pipeline
from tests.command_line import command_line, refused
from tests.integration.pages import asked, followed, started
from tests.integration.processes import PATIENCE, finish, kill, start, until
from tests.integration.streams import (
    assert_same_state,
    events_kept,
    json_lines,
    measured,
    real_events,
    roughened,
    write_lines,
)
from tests.naive_drain import NaiveDrain
from tests.service.served import served

CATEGORY = ("--set", 'fields.categories=["template"]')
TWO = ("--learner", "naive_bayes", "--learner", "passive_aggressive")


@pytest.fixture
def stream(data: Path, tmp_path: Path) -> Path:
    """1,000 lines of a log as JSON without their templates, some without label, some with a name of their own."""
    events = real_events(data / "log-bgl-2k.jsonl.gz", 1000)
    for number, event in enumerate(events):
        del event["template"]
        if number % 50 == 49:
            event["template"] = "mine"
    return write_lines(tmp_path / "bgl.jsonl", roughened(events))


def arguments(folder: Path, stream: object, size: int, *more: object) -> tuple[object, ...]:
    folder.mkdir(exist_ok=True)
    outputs = ("--predictions", folder / "out.jsonl", "--report", folder / "report.json", "--checkpoint", folder / "s")
    sizes = ("--set", f"pipeline.batch_size={size}", "--set", "features.bits=16", "--set", "features.names=300")
    return "run", stream, "--drain", "--slice-by", "template", *CATEGORY, *TWO, *outputs, *sizes, *more


def test_batches_threads_and_resumes_change_nothing(stream: Path, tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "parts"
    command_line(*arguments(whole, stream, 4000))
    for size, threads in ((1, 1), (7, 2), (7, 4), (500, 2)):
        other = tmp_path / f"in {size}"
        command_line(*arguments(other, stream, size, "--set", f"pipeline.threads={threads}"))
        assert (other / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
        assert measured(other / "report.json") == measured(whole / "report.json")
        assert_same_state(other / "s", whole / "s")
    for limit in (1, 97, 100_000):
        command_line(*arguments(folder, stream, 64, "--limit", limit))
    assert (folder / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
    assert measured(folder / "report.json") == measured(whole / "report.json")
    assert_same_state(folder / "s", whole / "s")


def test_a_killed_run_resumes_exactly(stream: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    often = ("--set", "checkpoint.every_events=50")
    command_line(*arguments(whole, stream, 20, *often))
    process = start(*arguments(killed, f"{stream}?rate=400", 20, *often))
    until(lambda: events_kept(killed / "s") > 200, process)
    kill(process)
    command_line(*arguments(killed, stream, 20, *often))
    assert (killed / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
    assert_same_state(killed / "s", whole / "s")


def test_templates_are_as_if_the_events_had_them(stream: Path, tmp_path: Path) -> None:
    """Predictions, accuracy by template and weights are those of a stream that names the same templates itself."""
    command_line(*arguments(tmp_path / "found", stream, 100))
    found = iter(json_lines(tmp_path / "found" / "out.jsonl"))
    named: list[Any] = []
    for line in stream.read_bytes().splitlines():
        try:
            event = json.loads(line)
            is_event = isinstance(event["text"], str) and event.get("weight", 1) >= 0
        except (ValueError, KeyError):
            is_event = False
        if not is_event:
            named.append(line)
            continue
        template = next(found).get("template")
        named.append(event if template is None else event | {"template": f"#{template['number']}"})
    given = write_lines(tmp_path / "given.jsonl", named)
    command_line(*arguments(tmp_path / "given", given, 100, "--set", "drain.enabled=false"))
    lines = [json_lines(tmp_path / name / "out.jsonl") for name in ("found", "given")]
    for line, same in zip(*lines, strict=True):
        line.pop("template", None)
        line.pop("position", None), same.pop("position", None)
        assert line == same
    report, other = (measured(tmp_path / name / "report.json") for name in ("found", "given"))
    by_number = {name.split(" ")[0]: row for name, row in report["slices"]["template"].items()}
    assert by_number == other["slices"]["template"]
    assert set(by_number) > {"mine", "#1"}
    assert report["learners"] == other["learners"]


def test_hiding_a_label_changes_no_template(stream: Path, tmp_path: Path) -> None:
    """Nor the event's own prediction."""
    events = [json.loads(line) for line in stream.read_bytes().splitlines()[300:600] if line.startswith(b'{"id"')]
    shown, hidden = tmp_path / "shown", tmp_path / "hidden"
    command_line(*arguments(shown, write_lines(tmp_path / "a.jsonl", events), 50))
    del events[200]["label"]
    command_line(*arguments(hidden, write_lines(tmp_path / "b.jsonl", events), 50))
    one, other = (json_lines(folder / "out.jsonl") for folder in (shown, hidden))
    assert [line.get("template") for line in one] == [line.get("template") for line in other]
    assert one[200]["learners"] == other[200]["learners"]


def test_raw_logs_have_templates(data: Path, tmp_path: Path) -> None:
    """Of the messages alone, since the pattern of BGL has them; they are told in the summary, marked on the lines."""
    log = data / "logs" / "BGL_2k.log"
    done = command_line(
        *("run", f"{log}?format=regex&preset=bgl", "--drain", "--slice-by", "template", "--learner", "naive_bayes"),
        *("--predictions", tmp_path / "out.jsonl", "--report", tmp_path / "report.json"),
    )
    assert "105 log templates in 2,000 lines, 51 of them in none before the last 1,000" in done.out
    assert "#5 generating <*> " in done.out
    events = real_events(data / "log-bgl-2k.jsonl.gz", 2000)
    twin = NaiveDrain()
    keys = ("number", "text", "new")
    expected = [dict(zip(keys, twin.learn([event["content"]]), strict=True)) for event in events]
    assert [line["template"] for line in json_lines(tmp_path / "out.jsonl")] == expected
    report = measured(tmp_path / "report.json")["templates"]
    assert {key: report[key] for key in ("lines", "new", "window_new", "beyond")} == {
        "lines": 2000,
        "new": 105,
        "window_new": 51,
        "beyond": 0,
    }
    assert report["largest"][0] == {"number": 5, "text": "generating <*>", "lines": 721, "first_line": 12}
    assert [one["number"] for one in report["newest"]] == list(range(105, 85, -1))


def test_logs_without_labels_have_templates(data: Path) -> None:
    """Of whole lines, where there is no field of the message."""
    done = command_line("run", f"{data / 'logs' / 'Apache_2k.log'}?format=text", "--drain", "--learner", "perceptron")
    assert "no event has a label" in done.out
    assert "log templates in 2,000 lines" in done.out
    assert "[notice] workerEnv.init() ok <*>" in done.out


def test_templates_wait_with_their_texts(stream: Path, tmp_path: Path) -> None:
    """A late label is learned with the template that its text had when it came, in batches of any size."""
    for size in (1, 300):
        command_line(*arguments(tmp_path / f"in {size}", stream, size, "--label-delay", 100))
    one, many = tmp_path / "in 1", tmp_path / "in 300"
    assert (one / "out.jsonl").read_bytes() == (many / "out.jsonl").read_bytes()
    assert measured(one / "report.json") == measured(many / "report.json")
    assert_same_state(one / "s", many / "s")
    assert "#1 " in json.dumps(measured(one / "report.json")["slices"]["template"])


def test_the_limit_of_tables_counts_templates(stream: Path, tmp_path: Path) -> None:
    """Runs end at the same event in batches of any size."""
    told = set()
    for size in (1, 7, 500):
        limit = ("--set", "pipeline.max_table_bytes=60000")
        told.add(command_line(*arguments(tmp_path / f"in {size}", stream, size, *limit), code=2).err.splitlines()[-1])
    (line,) = told
    assert line.startswith("streamlin: pipeline.max_table_bytes: at ")


def test_predicting_changes_no_template(stream: Path, tmp_path: Path) -> None:
    command_line(*arguments(tmp_path / "a", stream, 500))
    texts = [{"text": "generating core.9", "content": "generating core.9"}, {"text": "never seen 1 before"}]
    lines = write_lines(tmp_path / "new.jsonl", texts)
    for _ in "12":
        done = command_line("predict", tmp_path / "a" / "s", lines)
        known, unknown = [line["template"] for line in done.lines]
        assert (known["text"], known["new"]) == ("generating <*>", False)
        assert unknown == {"number": None, "text": "never seen <*> before", "new": True}
    assert json.loads(command_line("inspect", tmp_path / "a" / "s", "--json").out)["templates"]["new"] > 10
    assert "log templates" in command_line("inspect", tmp_path / "a" / "s").out
    told = command_line("explain", tmp_path / "a" / "s", "generating core.9", "--learner", "naive_bayes").out
    assert "template=#" in told


def test_too_many_templates_are_told_once(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": word, "label": "a"} for word in "abcdefgh"])
    done = command_line(
        "run", stream, "--drain", *TWO, "--set", "drain.max_templates=3", "--set", "pipeline.batch_size=2"
    )
    told = (
        "streamlin: drain.max_templates: there are 3 templates, and lines that fit none get none; raise the limit, or "
    )
    assert done.err == f"{told}use a smaller drain.similarity\n"
    assert "3 log templates in 8 lines, 3 of them in none before the last 8; 5 lines without one" in done.out


def test_messages_may_be_as_long_as_texts(tmp_path: Path) -> None:
    """Other fields may not; a category is one of these."""
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "content": "b " * 10_000, "label": "c"}])
    assert "1 label · 0 dead letters" in command_line("run", stream, "--drain", *TWO).out
    more = ("--set", 'fields.categories=["content"]')
    assert "10,000" in command_line("run", stream, "--drain", *TWO, *more, code=3).err


def test_a_hint_names_the_key(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "label": "b"}])
    done = command_line("run", stream, *TWO, "--slice-by", "template")
    assert "template (evaluation.slice_by; drain.enabled = true finds templates of log lines)" in done.out


@pytest.mark.parametrize("task", ["tagging", "parsing"])
def test_other_tasks_are_refused(task: str, tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a"}])
    line = refused("run", stream, "--task", task, "--drain")
    assert line == f"drain: not for task = '{task}'; templates go with learners of texts"


def test_checkpoints_without_templates_are_refused(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "label": "b"}])
    command_line("run", stream, *TWO, "--checkpoint", tmp_path / "s")
    line = refused("run", stream, *TWO, "--checkpoint", tmp_path / "s", "--drain", code=4)
    assert "was made with a different configuration: drain: null in the checkpoint" in line


def test_page_and_metrics_show_templates(browser: Browser, stream: Path, tmp_path: Path) -> None:
    process, url = started(*arguments(tmp_path / "run", stream, 50), "--follow", "--dashboard-hide-text")
    told = followed(process, url, 1000)[-1]
    assert finish(process).code == 0
    assert told["templates"]["new"] > 10
    assert {text for _, text, *_ in told["templates"]["largest"]} == {None}
    assert all(" " not in value for value, *_ in told["slices"]["template"]["values"])
    page = tmp_path / "report.html"
    command_line(*arguments(tmp_path / "again", stream, 500), "--report", page)
    with browser.new_page(viewport={"width": 390, "height": 800}) as tab:
        tab.set_default_timeout(1000 * PATIENCE)
        tab.goto(page.as_uri())
        tab.wait_for_selector("#counts dd")
        assert "of them never seen before the last 1,000" in tab.inner_text("#templates-count")
        assert "generating <*>" in tab.inner_text("#largest-templates")
        assert tab.locator("#newest-templates tbody tr").count() == 20
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    process, url = started(*arguments(tmp_path / "run", stream, 50), "--follow", option="--metrics")
    until(lambda: "streamlin_new_templates_total" in asked(url, "metrics")[1], process)
    kill(process)


def test_a_service_answers_with_templates(tmp_path: Path) -> None:
    """Looking a text up changes nothing; the same texts are learned in order."""
    with served(tmp_path, "--set", "drain.enabled=true", *CATEGORY, *TWO) as service:
        unknown = {"number": None, "text": "disk <*> full", "new": True}
        for _ in "12":
            assert service.post("/predict", {"text": "disk 1 full"}).value["template"] == unknown
        lines = [
            {"text": "disk 1 full", "label": "bad"},
            {"text": "a b", "fields": {"content": "all well"}, "label": "good"},
        ]
        assert service.post("/learn", lines).status == 202
        service.learned(2)
        known, message = service.post(
            "/predict", [{"text": "disk 2 full"}, {"text": "x", "fields": {"content": "all well"}}]
        ).value
        assert known["template"] == {"number": 1, "text": "disk <*> full", "new": False}
        assert message["template"] == {"number": 2, "text": "all well", "new": False}


def test_a_pipeline_gives_templates() -> None:
    pipeline = Pipeline(drain={"enabled": True}, learners=["naive_bayes"], fields={"categories": ["template"]})
    lines = [("disk 1 full", "bad"), ("disk 2 full", "bad"), ("all well", "good")]
    first, second, third = pipeline.run(lines)
    assert (first.template, first.template_number, first.new_template) == ("disk <*> full", 1, True)
    assert (second.template, second.template_number, second.new_template) == ("disk <*> full", 1, False)
    assert third.template_number == 2
    assert pipeline.predict_many(["disk 7 full", "all well"]) == ["bad", "good"]
    assert pipeline.metrics["templates"]["new"] == 2
    frame = pipeline.run(lines).to_pandas()
    assert frame["template"].tolist() == ["disk <*> full", "disk <*> full", "all well"]
    assert "template=#2" in str(pipeline.explain("all well").to_dict())  # type: ignore[union-attr]  # of texts
