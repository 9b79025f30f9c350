"""Values of words in Vowpal Wabbit's format: what is learned from them, and where they can't go."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamlin.checkpoint.file import load
from streamlin.config import ViewConfig
from streamlin.features import View
from tests.command_line import command_line, refused
from tests.formats.reading import framed, opened
from tests.integration.streams import assert_same_state, measured, write_lines

LINES = ["x 'i{n} | a:0.5 b c:{n}", "y 'i{n} | a:-1 b:1e-3 d", "x 'i{n} |n:2 a c:0.25 |m e f", "y 'i{n} | d g"]


def write_stream(path: Path, n: int = 200) -> Path:
    path.write_text("".join(LINES[i % 4].format(n=i) + "\n" for i in range(n)))
    return path


def run(stream: Path, *arguments: object) -> tuple[dict[str, Any], str]:
    """The report and standard error of a run."""
    report = stream.parent / "report.json"
    done = command_line("run", stream, "--report", report, *arguments)
    return measured(report), done.err


@pytest.mark.parametrize("values", ["binary", "counts", "log"])
@pytest.mark.parametrize("tokens", ["words", "char_wb"])
def test_features_of_a_word_have_its_value(tokens: str, values: str) -> None:
    """As a text of that word alone, times the value; what occurs without a value is added."""
    view, vw = View(ViewConfig(tokens=tokens, values=values), bits=18), opened("vw")
    batch, _ = vw.decode(framed(vw, b"1 | c:-3 Word b b:0.5 word:2.5\n1 | b b\n"))
    given = view.buckets(batch)
    expected: dict[int, float] = {}
    for text, value in (("Word b", 1.0), ("c", -3.0), ("b", 0.5), ("word", 2.5)):
        _, buckets, own = view.of_texts([text])
        for bucket, one in zip(buckets.tolist(), own.tolist(), strict=True):
            expected[bucket] = expected.get(bucket, 0.0) + one * value
    first = slice(0, given.indptr[1])
    assert dict(zip(given.buckets[first].tolist(), given.values[first].tolist(), strict=True)) == pytest.approx(
        expected
    )
    second, plain = given.take(np.array([1])), view.of_texts(["b b"])
    assert (second.buckets.tolist(), second.values.tolist()) == (plain.buckets.tolist(), plain.values.tolist())


def test_values_are_learned_whatever_the_batches(tmp_path: Path) -> None:
    stream = write_stream(tmp_path / "a.vw")
    reports = [run(stream, "--set", f"pipeline.batch_size={size}")[0] for size in (1, 7, 1000)]
    assert reports[0] == reports[1] == reports[2]
    assert reports[0]["dead_letters"] == 0
    doubled = tmp_path / "doubled.vw"
    doubled.write_text(stream.read_text().replace("a:0.5", "a:5").replace("a:-1", "a:1"))
    assert run(doubled)[0] != reports[0]


def test_naive_bayes_takes_negative_values_as_zero(tmp_path: Path) -> None:
    """One line says so; the counts are those of a stream in which the values are 0."""
    negative, zero = tmp_path / "negative.vw", tmp_path / "zero.vw"
    negative.write_text("x | a:-1 b\ny | c a\n" * 50)
    zero.write_text("x | b\ny | c a\n" * 50)
    told = [run(path, "--learner", "naive_bayes", "--learner", "perceptron")[1] for path in (negative, zero)]
    assert [err.count("naive_bayes takes values below 0 as 0") for err in told] == [1, 0]
    for path in (negative, zero):
        run(path, "--learner", "naive_bayes", "--predictions", path.with_suffix(".out"))
    lines = [
        [json.loads(line)["confidence"] for line in path.with_suffix(".out").read_text().splitlines()]
        for path in (negative, zero)
    ]
    assert len(lines[0]) == 100
    assert lines[0][3:] == pytest.approx(lines[1][3:])


@pytest.mark.parametrize("store", ["memory", "disk"])
def test_values_wait_for_delayed_labels_over_a_restart(tmp_path: Path, store: str) -> None:
    stream = write_stream(tmp_path / "a.vw")
    texts = tmp_path / "texts.vw"
    texts.write_text("".join(line.partition(" ")[2] for line in stream.read_text().splitlines(keepends=True)))
    labels = write_lines(tmp_path / "labels.jsonl", [{"id": f"i{n}", "label": "xy"[n % 2]} for n in range(200)])
    later = write_lines(tmp_path / "later.jsonl", [])
    sets = ("--set", f"delayed_labels.store={store}")
    whole, _ = run(texts, "--feedback", labels, "--checkpoint", tmp_path / "whole")
    run(texts, "--feedback", later, *sets, "--checkpoint", tmp_path / "parts")
    later.write_bytes(labels.read_bytes())
    parts, _ = run(texts, "--feedback", later, *sets, "--checkpoint", tmp_path / "parts")
    assert whole["delayed_labels"]["joined"] == parts["delayed_labels"]["joined"] == 200
    learned, again = (
        {n: a for n, a in load(tmp_path / name)[0].items() if n.startswith("learners/")} for name in ("whole", "parts")
    )
    assert learned.keys() == again.keys()
    assert all((learned[name] == again[name]).all() for name in learned)


def test_values_are_kept_while_labels_are_held_back(tmp_path: Path) -> None:
    stream = write_stream(tmp_path / "a.vw")
    run(stream, "--label-delay", "30", "--checkpoint", tmp_path / "whole")
    run(stream, "--label-delay", "30", "--checkpoint", tmp_path / "parts", "--limit", "90")
    run(stream, "--label-delay", "30", "--checkpoint", tmp_path / "parts")
    assert_same_state(tmp_path / "whole", tmp_path / "parts")


def test_produce_refuses_values_that_json_can_not_hold(tmp_path: Path) -> None:
    (tmp_path / "a.vw").write_text("x | a\nx | a:0.5 b\n")
    told = refused("produce", tmp_path / "a.vw", tmp_path / "out.jsonl")
    assert "a.vw:6: words with values, such as a:0.5, can't be sent as JSON" in told
