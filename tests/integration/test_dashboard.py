"""What a run tells its page, and what it refuses."""

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import refused
from tests.integration.conftest import Reference
from tests.integration.pages import address_of, asked, followed, snapshots, started
from tests.integration.processes import MODULE, finish, refused_by_process
from tests.integration.streams import json_lines, measured, write_lines

HOSTILE = [
    "<script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "\u202eright to left\u2066 and never back",
    "bell \u0007, escape \u001b[31m, nothing \u0000",
    "x" * 1_000_000,
    "</td></tr></table><h1>taken</h1>",
    "&lt;b&gt; 'quotes' \"more\" `ticks` ${document}",
]
"""Texts, each of which is also its label's and its id's beginning."""


def hostile_stream(path: Path) -> Path:
    """Every event is a mistake: its label was never seen before."""
    events = [{"id": text[:60], "text": text, "label": text[:60]} for text in HOSTILE]
    return write_lines(path, events)


def test_page_leaves_the_run_unchanged_and_ends_with_its_report(reference: Reference, tmp_path: Path) -> None:
    report, predictions = tmp_path / "report.json", tmp_path / "predictions.jsonl"
    process, url = started(
        *("run", reference.stream, "--follow", "--report", report, "--predictions", predictions),
        *("--dead-letters", "null://"),
    )
    told = followed(process, url, reference.events)
    assert finish(process).code == 0
    assert predictions.read_bytes() == reference.predictions.read_bytes()
    assert measured(report) == measured(reference.report)
    whole = json.loads(report.read_text())
    assert len(told) > 1
    assert [snapshot["done"] for snapshot in told] == [False] * (len(told) - 1) + [True]
    last = told[-1]
    assert last["counts"] == {key: whole[key] for key in last["counts"]}
    predictors = whole["learners"] | whole["baselines"]
    for row in last["rows"]:
        shown = {key: value for key, value in row.items() if key not in ("name", "learner")}
        assert shown == {key: predictors[row["name"]][key] for key in shown}
    wrong = [line for line in json_lines(predictions) if "label" in line and line["predicted"] != line["label"]]
    names = [line.get("id") or line["position"] for line in wrong[:-21:-1]]
    assert [mistake["event"] for mistake in last["mistakes"]] == [name[:200] for name in names]


def test_curve_is_sent_in_pieces_that_join(reference: Reference, tmp_path: Path) -> None:
    """A page that was open from the beginning, and one that came late, have the same curve."""
    lines, growing = reference.stream.read_bytes().splitlines(keepends=True), tmp_path / "growing.jsonl"
    growing.write_bytes(b"".join(lines[:200]))
    process, url = started("run", growing, "--follow", "--limit", 450, "--dead-letters", "null://")
    labelled: list[int] = []
    pieces = 0
    for snapshot in snapshots(url):
        curve = snapshot["curve"]
        pieces += curve["begin"] > 0
        labelled = labelled[: curve["begin"]] + curve["labelled"]
        if labelled and lines:  # the page has the first piece
            with growing.open("ab") as file:
                file.writelines(lines[200:])
            lines = []
    assert finish(process).code == 0
    assert pieces > 0
    distance = labelled[0]
    assert labelled == [distance * (i + 1) for i in range(len(labelled))]


def test_foreign_texts_are_cut_and_cleaned(tmp_path: Path) -> None:
    """They are cut short, and what controls a terminal is gone, before anything leaves the process."""
    process, url = started("run", hostile_stream(tmp_path / "in.jsonl"), "--follow")
    for snapshot in snapshots(url):
        if snapshot["counts"]["events"] == len(HOSTILE):
            break
    texts = [mistake["text"] for mistake in snapshot["mistakes"]][::-1]
    assert texts[0] == HOSTILE[0]
    assert texts[3] == "bell  , escape  [31m, nothing  "
    assert texts[4] == "x" * 199 + "…"
    assert len(json.dumps(snapshot)) < 60_000
    process.terminate()
    assert finish(process).code == 0


def test_hidden_texts_are_not_sent(tmp_path: Path) -> None:
    process, url = started("run", hostile_stream(tmp_path / "in.jsonl"), "--follow", "--dashboard-hide-text")
    for snapshot in snapshots(url):
        if snapshot["counts"]["events"] == len(HOSTILE):
            break
    assert [mistake["text"] for mistake in snapshot["mistakes"]] == [None] * len(HOSTILE)
    process.terminate()
    assert finish(process).code == 0


def test_port_in_use_or_invalid_is_refused(sms: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused("run", sms, "--dashboard", port) == (
            f"--dashboard {port}: port {port} is in use; give another one"
        )
    assert refused("demo", "--dashboard", "nowhere") == (
        "--dashboard nowhere: needs [HOST:]PORT, as 8080 or 0.0.0.0:8080"
    )
    assert "needs --dashboard" in refused("run", sms, "--dashboard-hide-text")


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_missing_package_is_named(sms: Path, tmp_path: Path, package: str) -> None:
    missing = f"raise ModuleNotFoundError('No module named {package}', name='{package}')"
    (tmp_path / f"{package}.py").write_text(missing)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert refused_by_process("run", sms, "--dashboard", 0, env={"PYTHONPATH": path}) == (
        f"--dashboard needs {package}, which is not installed: pip install 'streamlin[dashboard]'"
    )


def test_run_without_page_imports_no_server(sms: Path) -> None:
    command = [*MODULE, "run", str(sms), "--limit", "1", "--learner", "perceptron"]
    done = subprocess.run([command[0], "-X", "importtime", *command[1:]], capture_output=True, check=True)
    modules = {line.rpartition(b"|")[2].strip() for line in done.stderr.splitlines()}
    assert b"streamlin.running.loop" in modules
    assert not {b"starlette", b"uvicorn", b"prometheus_client", b"http.server", b"asyncio"} & modules


def test_delayed_labels_reach_page_and_prometheus(tmp_path: Path) -> None:
    """A mistake is shown when its label comes, with the text that was predicted; who waits is on the page, and told
    Prometheus."""
    events = [{"id": str(n), "text": f"text {n}"} for n in range(4)] + [
        {"id": str(n), "label": "ab"[n % 2]} for n in range(3)
    ]
    stream = write_lines(tmp_path / "in.jsonl", events)
    process, url = started("run", stream, "--follow", "--late-labels", "--metrics", 0)
    metrics = address_of(process)
    for snapshot in snapshots(url):
        if snapshot["counts"]["labelled"] == 3:
            break
    late = snapshot["delayed_labels"]
    assert (late["waiting"], late["joined"]) == (1, 3)
    assert [(one["text"], one["label"], one["predicted"]) for one in snapshot["mistakes"]] == [
        (f"text {n}", "ab"[n % 2], None) for n in (2, 1, 0)
    ]
    status, body = asked(metrics, "metrics")
    assert status == 200
    assert "streamlin_delayed_labels_waiting 1.0\n" in body
    assert "streamlin_delayed_labels_joined_total 3.0\n" in body
    assert 'streamlin_delayed_labels_delay_events{quantile="0.5"} ' in body
    process.terminate()
    assert finish(process).code == 0


def wrong(token: str, label: str) -> dict[str, str | None]:
    return {"token": token, "predicted": None, "label": label}


def test_late_tags_reach_page_and_prometheus(tmp_path: Path) -> None:
    """As labels do; tags of another length are a counter of their own."""
    lines: list[dict[str, Any]] = [{"id": str(n), "tokens": ["a", str(n)]} for n in range(4)]
    lines += [{"id": "0", "tags": ["A"]}, *({"id": str(n), "tags": ["A", "AB"[n % 2]]} for n in range(3))]
    stream = write_lines(tmp_path / "in.jsonl", lines)
    more = ("--task", "tagging", "--learner", "hmm", "--follow", "--late-labels", "--metrics", 0)
    process, url = started("run", stream, *more)
    metrics = address_of(process)
    for snapshot in snapshots(url):
        if snapshot["counts"]["labelled"] == 3:
            break
    late = snapshot["delayed_labels"]
    assert (late["waiting"], late["joined"], late["wrong_length"]) == (1, 3, 1)
    assert [(one["event"], one["parts"]) for one in snapshot["mistakes"]] == [
        (str(n), [wrong("a", "A"), wrong(str(n), "AB"[n % 2])]) for n in (2, 1, 0)
    ]
    status, body = asked(metrics, "metrics")
    assert status == 200
    assert "streamlin_delayed_labels_wrong_length_total 1.0\n" in body
    process.terminate()
    assert finish(process).code == 0
