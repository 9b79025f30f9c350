"""The preset `log-template`: tags from templates, what is learned from them, and raw lines."""

import csv
import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import command_line, refused
from tests.integration.streams import content, json_lines, measured, write_lines
from tests.locations import ROOT

PRESET = ("--preset", "log-template")
V, C = "variable", "constant"


def tagged(source: Path, output: Path, *options: str) -> tuple[list[dict[str, Any]], str]:
    """What the example writes for a file, and what it says."""
    tool = ROOT / "examples" / "log-templates" / "template_tags.py"
    done = subprocess.run([sys.executable, tool, source, *options], check=True, capture_output=True, encoding="utf-8")
    output.write_text(done.stdout, encoding="utf-8")
    return json_lines(output), done.stderr.strip()


@pytest.mark.parametrize(
    ("template", "message", "tags"),
    [
        ("all is well", "all is well", [C, C, C]),
        ("generating core.<*>", "generating core.77", [C, V]),
        ("<*> of <*>", "1 of 2", [V, C, V]),
        ("iar <*> dear <*>", "iar  0x1 dear 0x2", [C, V, C, V]),
        ("fpr29=<*>", "fpr29=0x1 0x2 0x3", [V, V, V]),
        ("to <*>:<*>, timed out", "to 10.0.0.1:80, timed out", [C, V, C, C]),
        ("a <*> b <*> b", "a x b y z b", [C, V, C, V, V, C]),
        ("size=<*>, class=<*>", "size=, class=0", [V, V]),
        ("point <*>", "point ", None),
        ("<*>", "", []),
        ("<*>x", "x", [V]),
        ("a<*> b", "a b", [V, C]),
        ("a<*>b", "a x b", [V, V, V]),
        ("a b", "a c", None),
        ("a <*> c", "a b d", None),
        ("ab<*>ba", "aba", None),
        ("a<*>b<*>c", "a c b", None),
    ],
)
def test_a_template_says_which_tokens_are_variable(
    tmp_path: Path, template: str, message: str, tags: Sequence[str] | None
) -> None:
    """A wildcard stands for any text, in a token also for none; a message that does not fit has no tags."""
    event = {"id": "7", "content": message, "template": template}
    found, says = tagged(write_lines(tmp_path / "in.jsonl", [event]), tmp_path / "out.jsonl")
    assert found == [{"id": "7", "text": message} | ({} if tags is None else {"tags": tags})]
    assert says == f"{int(tags is not None)} of 1 messages have tags"


def test_tables_of_log_parsers_are_read(tmp_path: Path) -> None:
    """With quotes in cells; the field of the message can be named."""
    with (tmp_path / "structured.csv").open("w", newline="") as table:
        csv.writer(table).writerows([["LineId", "Content", "EventTemplate"], [1, 'say "a", 7', 'say "a", <*>']])
    options = ("--content", "Content", "--template", "EventTemplate", "--as", "content")
    found, _ = tagged(tmp_path / "structured.csv", tmp_path / "out.jsonl", *options)
    assert found == [{"content": 'say "a", 7', "tags": [C, C, V]}]


def test_names_of_templates_tell_by_comparison(tmp_path: Path) -> None:
    """Of E1, two messages of three tokens differ in the second; E2 is alone, and so is E1 with two tokens."""
    events = [
        ("E1", "took 7 ms"),
        ("E2", "all is well"),
        ("E1", "took 9 ms"),
        ("E1", "took long"),
        ("E3", "x"),
        ("E3", "x"),
    ]
    stream = write_lines(tmp_path / "in.jsonl", [{"content": text, "template": name} for name, text in events])
    found, says = tagged(stream, tmp_path / "out.jsonl", "--by-id")
    assert [event.get("tags") for event in found] == [[C, V, C], None, [C, V, C], None, [C], [C]]
    assert says == "4 of 6 messages have tags"


@pytest.fixture(scope="module")
def bgl(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The messages of BGL with the tags that its templates' ids give; the state and report of a run are beside it."""
    folder = tmp_path_factory.mktemp("bgl")
    path = folder / "tagged.jsonl"
    _, says = tagged(data / "log-bgl-2k.jsonl.gz", path, "--by-id", "--as", "content")
    assert says == "1,956 of 2,000 messages have tags"
    more = ("--checkpoint", folder / "state", "--report", folder / "report.json")
    command_line("run", path, *PRESET, "--set", "fields.text=content", *more)
    return path


def test_bgl_is_tagged_with_99_percent_of_tokens_right(bgl: Path) -> None:
    """And 98 % of messages wholly right; the commonest tag of each token reaches 87 and 35 %."""
    report = measured(bgl.with_name("report.json"))
    crf, baseline = report["learners"]["crf"], report["baselines"]["commonest_tag"]
    assert report["labelled"] == 1956
    assert crf["accuracy"] > 0.994
    assert crf["sentences_right"] > 0.98
    assert crf["unknown_accuracy"] > 0.96
    assert baseline["accuracy"] < 0.87
    assert baseline["sentences_right"] < 0.36


def test_thunderbird_is_tagged_with_98_percent_of_tokens_right(data: Path, tmp_path: Path) -> None:
    _, says = tagged(data / "log-thunderbird-2k.jsonl.gz", tmp_path / "tagged.jsonl", "--by-id")
    assert says == "1,903 of 2,000 messages have tags"
    command_line("run", tmp_path / "tagged.jsonl", *PRESET, "--report", tmp_path / "report.json")
    report = measured(tmp_path / "report.json")
    assert report["learners"]["crf"]["accuracy"] > 0.989
    assert report["learners"]["crf"]["sentences_right"] > 0.98
    assert report["baselines"]["commonest_tag"]["accuracy"] < 0.77


def test_a_trained_checkpoint_tags_the_raw_log(bgl: Path, data: Path, tmp_path: Path) -> None:
    """The variable parts are cut out of the raw messages by start and end: they are those that the templates have."""
    log = f"{data}/logs/BGL_2k.log?format=regex&preset=bgl"
    command_line("predict", bgl.with_name("state"), log, "--predictions", tmp_path / "tags.jsonl")
    lines, events = json_lines(tmp_path / "tags.jsonl"), json_lines(bgl)
    assert len(lines) == len(events) == 2000
    right = total = 0
    for line, event in zip(lines, events, strict=True):
        pieces = [event["content"][begin:end] for begin, end in zip(line["start"], line["end"], strict=True)]
        assert pieces == event["content"].split()
        assert "tags" not in line
        if "tags" in event:
            found = [piece for piece, tag in zip(pieces, line["predicted"], strict=True) if tag == V]
            total += 1
            right += found == [piece for piece, tag in zip(pieces, event["tags"], strict=True) if tag == V]
    assert right > 0.99 * total


def test_new_raw_lines_are_tagged_from_standard_input(bgl: Path) -> None:
    """Plain lines; neither the numbers nor the spacing were seen before."""
    stdin = b"generating core.77777\n  data address:\t0x00c0ffee\n"
    lines = command_line("predict", bgl.with_name("state"), "-?format=text", stdin=stdin).lines
    assert [line["predicted"] for line in lines] == [[C, V], [C, C, V]]
    assert [(line["start"], line["end"]) for line in lines] == [([0, 11], [10, 21]), ([2, 7, 16], [6, 15, 26])]


def test_raw_lines_teach_nothing(bgl: Path, data: Path, tmp_path: Path) -> None:
    """A run that goes on with a raw log predicts as `predict` does, and leaves the taggers as they are."""
    with gzip.open(data / "log-bgl-2k.jsonl.gz", "rt", encoding="utf-8", newline="\n") as events:
        texts = [json.loads(event)["content"] for event in list(events)[:50]]
    (tmp_path / "app.log").write_text("\n".join(texts) + "\n")
    state = tmp_path / "state"
    state.mkdir()
    (state / "checkpoint.safetensors").write_bytes(content(bgl.with_name("state") / "checkpoint.safetensors"))
    run = ("run", tmp_path / "app.log", *PRESET, "--set", "fields.text=content", "--checkpoint", state)
    command_line(*run, "--predictions", tmp_path / "run.jsonl")
    predicted = command_line("predict", bgl.with_name("state"), tmp_path / "app.log")
    assert content(tmp_path / "run.jsonl").decode() == predicted.out
    before, after = (command_line("inspect", f, "--json").lines[0] for f in (bgl.with_name("state"), state))
    assert (after["events"], after["labelled"]) == (before["events"] + 50, before["labelled"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*PRESET, "--learner", "naive_bayes"), "got the learner naive_bayes; choose from crf, log_linear, "),
        ((*PRESET, "--learner", "crf", "--learner", "mixture"), "got the learner mixture; choose from crf, "),
        ((*PRESET, "--task", "classification"), "got task = 'classification'"),
        (("--set", "preset=log-template", "--set", "task=classification"), "got task = 'classification'"),
    ],
)
def test_the_preset_is_refused_with_what_is_of_texts(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    stream = write_lines(tmp_path / "s.jsonl", [{"text": "a", "tags": [C]}])
    line = refused("run", stream, *arguments)
    assert line.startswith("preset: 'log-template' is for task = 'tagging', ")
    assert says in line


def test_the_demo_refuses_taggers() -> None:
    line = refused("demo", *PRESET)
    assert line == "task: the demo's headlines have labels, for task = 'classification', got 'tagging'"
