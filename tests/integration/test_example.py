"""The example package, installed as its README says: its entry points and its contracts."""

import json
import mailbox
import os
import subprocess
import sys
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.command_line import Done, refused
from tests.integration.processes import streamlin
from tests.integration.streams import json_lines
from tests.locations import ROOT

EXAMPLE = ROOT / "examples" / "streamlin-mbox"
TEXTS = [("win a prize", "spam"), ("lunch at noon", "ham"), ("a prize for you", "spam"), ("lunch again", "ham")] * 10
CONTRACTS = """
import json, sys
from dataclasses import replace
from streamlin.events import SourceContext
from streamlin.testing import check_learner, check_source
from streamlin_mbox.source import MboxSource
from streamlin_mbox.votes import Votes

check_learner(Votes)
check_learner(lambda: Votes(alpha=0.1))
path, expected = sys.argv[1], [line.encode() for line in json.loads(sys.argv[2])]
context = SourceContext({"label": "X-Label"}, None, {}, False, 1 << 20, print)
check_source(lambda positions: MboxSource(path, replace(context, positions=positions)), expected)
print("kept")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables with which the example is found; it is built and installed without the network."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--target", target, EXAMPLE], check=True, capture_output=True
    )
    assert {path.name for path in target.iterdir()} >= {"streamlin_mbox", "streamlin_mbox-0.1.0.dist-info"}
    return {"PYTHONPATH": os.pathsep.join([str(target), str(ROOT)])}


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("mail") / "Inbox", TEXTS)


def written(path: Path, texts: Sequence[tuple[str, str]]) -> Path:
    """Write a mailbox of these messages, labelled by a header."""
    box = mailbox.mbox(path)
    for number, (text, label) in enumerate(texts):
        message = EmailMessage()
        message["Message-ID"], message["Subject"], message["X-Label"] = f"<{number}>", text, label
        message.set_content(f"{text}\n")
        box.add(message)
    box.close()
    return path


def test_source_and_learner_keep_their_contracts(installed: dict[str, str], inbox: Path) -> None:
    lines = [
        json.dumps({"id": f"<{number}>", "text": f"{text}\n{text}\n", "label": label})
        for number, (text, label) in enumerate(TEXTS)
    ]
    command = [sys.executable, "-W", "error", "-c", CONTRACTS, str(inbox), json.dumps(lines)]
    done = subprocess.run(command, env=os.environ | installed, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stderr


def test_connectors_lists_the_source_and_the_learner(installed: dict[str, str]) -> None:
    lines = streamlin("connectors", env=installed).out.splitlines()
    assert "source  mbox://         streamlin_mbox.source:MboxSource (streamlin-mbox)" in lines
    assert "learner votes           streamlin_mbox.votes:Votes (streamlin-mbox)" in lines


def test_a_run_resumes_with_the_source_and_the_learner(installed: dict[str, str], inbox: Path, tmp_path: Path) -> None:
    """A run in two parts with a checkpoint; then `predict` and `inspect`."""

    def run(*more: object, code: int = 0) -> Done:
        places = ("--checkpoint", tmp_path / "state", "--predictions", tmp_path / "out.jsonl")
        learners = ("--learner", "votes", "--learner", "naive_bayes", "--set", "learners.votes.alpha=0.5")
        return streamlin("run", f"mbox://{inbox}?label=X-Label", *learners, *places, *more, env=installed, code=code)

    run("--limit", 15)
    assert run().out.startswith("40 events · 2 labels")
    lines = json_lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in lines] == [f"<{number}>" for number in range(40)]
    assert [line["learners"]["votes"] for line in lines[8:]] == [label for _, label in TEXTS[8:]]
    question = json.dumps({"text": "a prize"}).encode()
    (answer,) = streamlin("predict", tmp_path / "state", stdin=question, env=installed).lines
    assert answer["learners"]["votes"] == "spam"
    (found,) = streamlin("inspect", tmp_path / "state", "--json", env=installed).lines
    assert found["learners"]["votes"]["alpha"] == 0.5
    shown = streamlin("inspect", tmp_path / "state", env=installed).out
    assert "alpha=0.5" in shown


def test_errors_of_source_and_learner_are_one_line(
    installed: dict[str, str], inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"mbox://{inbox}"
    monkeypatch.syspath_prepend(installed["PYTHONPATH"].split(os.pathsep)[0])
    line = refused("run", source, "--learner", "votes", "--set", "learners.votes.alpha=0")
    assert line == "votes.alpha must be positive, got 0"
    line = refused("run", source, "--learner", "votes", "--set", "learners.votes.alhpa=1")
    assert line == "learners.votes.alhpa: unknown key; did you mean 'alpha'?"
    assert refused("run", f"{source}?lable=x") == "mbox: expected no option but label=HEADER, got lable"
    assert "nowhere can't be read: No such file" in refused("run", "mbox://nowhere", code=3)
    monkeypatch.undo()
    line = refused("run", source, "--learner", "votes")
    assert line.startswith("--learner votes: no such learner; ")
