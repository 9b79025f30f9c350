"""Tables for people, on a terminal of 80 columns."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from streamlin import Pipeline
from streamlin.checkpoint.inspection import inspect
from streamlin.config import RunConfig
from streamlin.config.loading import load_config
from streamlin.running.loop import Run
from streamlin.terminal.cells import percent
from streamlin.terminal.inspection_tables import inspection
from streamlin.terminal.metrics_table import MetricsTable
from streamlin.terminal.remarks import remarks
from streamlin.terminal.summary import counts_line, summary
from tests.silent import Silent

PERCENT = r"(?:\d{1,3}\.\d\d %|–)"
INTERVAL = r"(?:\d{1,3}\.\d\d – \d{1,3}\.\d\d|–)"
ROW = re.compile(rf"(\S+) +({PERCENT}) +({INTERVAL}) +({PERCENT}) +({PERCENT}) +(-?\d\.\d\d\d)")


def run(config: RunConfig) -> dict[str, Any]:
    pipeline = Run(config, Silent())
    try:
        return pipeline.run()
    finally:
        pipeline.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The report and the checkpoint of a run over 300 events of three labels, sliced by 20 blocks; two are bad."""
    folder = tmp_path_factory.mktemp("run")
    kinds = [i * 7 // 2 % 3 for i in range(300)]
    words = ["red green blue", "one two three four", "north south east west"]
    events = [
        json.dumps({"text": f"{words[kind]} {i}", "label": "abc"[kind], "block": f"block [{i // 15}]"})
        for i, kind in enumerate(kinds)
    ]
    (folder / "in.jsonl").write_text("\n".join([*events, "no", "[]"]) + "\n")
    flags = {
        "source.url": str(folder / "in.jsonl"),
        "checkpoint.path": str(folder / "state"),
        "evaluation.slice_by": ["block"],
    }
    return run(load_config(flags=flags, environment={})), folder / "state"


def lines_of(renderable: RenderableType, width: int = 80) -> list[str]:
    file = StringIO()
    Console(width=width, file=file, highlight=False).print(renderable)
    lines = file.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    return [line.rstrip() for line in lines]


def test_table_has_a_row_for_each_learner_and_baseline(finished: tuple[dict[str, Any], Path]) -> None:
    report, _ = finished
    head, *rows = [line for line in lines_of(MetricsTable(report, 1000)) if line]
    assert head.split() == ["learner", "accuracy", "95", "%", "interval", "last", "1,000", "fading", "kappa"]
    names = [*report["learners"], *report["baselines"]]
    cells = [ROW.fullmatch(row) for row in rows]
    assert [found and found[1] for found in cells] == names
    for found, row in zip(cells, [*report["learners"].values(), *report["baselines"].values()], strict=True):
        assert found is not None
        low, high = row["interval"]
        assert found[2] == percent(row["accuracy"])
        assert found[3] == f"{100 * low:.2f} – {100 * high:.2f}"
        assert (found[4], found[5]) == (percent(row["window_accuracy"]), percent(row["fading_accuracy"]))
        assert found[6] == f"{row['kappa']:.3f}"


def test_metrics_without_labels_are_shown_as_dashes() -> None:
    row = {"accuracy": None, "interval": None, "window_accuracy": None, "fading_accuracy": None}
    table = MetricsTable({"learners": {"a": row}, "baselines": {"majority": row}}, 10)
    assert [line.split() for line in lines_of(table)[1:] if line] == [["a", *"––––"], ["majority", *"––––"]]
    table = MetricsTable({"learners": {"a": row | {"kappa": None}}, "baselines": {}}, 10)
    assert [line.split() for line in lines_of(table)[1:] if line] == [["a", *"–––––"]]
    assert (percent(None), percent(0.0), percent(0.98621), percent(1.0)) == ("–", "0.00 %", "98.62 %", "100.00 %")


def test_columns_that_do_not_fit_follow_in_another_table() -> None:
    """Of taggers there are more than 80 characters hold; nothing is cut, as in a wide terminal."""
    with Pipeline(task="tagging", learners=["hmm", "structured_perceptron"]) as pipeline:
        for tags in (["B-X", "O"], ["O", "B-X"], ["B-X", "O"]):
            pipeline.learn_one(["a", "b"], tags)
        report = pipeline.metrics
    whole, narrow = (lines_of(MetricsTable(report, 1000), width) for width in (200, 80))
    head, *rows = [line for line in whole if line]
    assert "known words  new words" in head
    begin = narrow.index("")
    first, second = narrow[:begin], [line for line in narrow[begin:] if line]
    for one, other, line in zip([line for line in first if line], second, [head, *rows], strict=True):
        name, *cells = other.split()
        assert line.split() == [*one.split(), *cells]
        assert line.startswith(f"{name} ")


def test_counts_line_shows_counts_and_speed() -> None:
    report = {
        "events": 5574,
        "unlabelled": 0,
        "labels": ["ham", "spam"],
        "dead_letters": 3,
        "tombstones": 0,
        "lost": 0,
        "seconds": 1.25,
        "events_per_second": 4459.2,
    }
    assert counts_line(report) == "5,574 events · 2 labels · 3 dead letters · 1.2 s, 4,459 events/s"
    assert counts_line(report | {"unlabelled": 1574}).startswith("5,574 events · 1,574 without label · 2 labels")
    assert counts_line(report | {"events_per_second": None}) == "5,574 events · 2 labels · 3 dead letters"


def compared(**ps: float | None) -> dict[str, Any]:
    """A report of learners with their p against the leader, which has none."""
    (leader,) = (name for name, p in ps.items() if p is None)
    learners = {name: {"leader_p": p, "abstained": 1} for name, p in ps.items()}
    return {"leader": leader, "learners": learners, "baselines": {"majority": {"abstained": 1}}}


def test_remarks_on_leader_drift_and_abstentions() -> None:
    assert remarks(compared(a=0.0004, b=None)) == ["b is ahead of a (p < 0.001)"]
    assert remarks(compared(a=0.0004, b=None, c=0.0312)) == ["b is ahead of all other learners (p = 0.031)"]
    assert remarks(compared(a=0.31, b=None, c=0.05, d=0.01)) == ["b: no difference shown to a (p = 0.31), c (p = 0.05)"]
    assert remarks(compared(a=None)) == []
    nobody = compared(a=None) | {"leader": None}
    assert remarks(nobody) == []
    fall = {"learner": "a", "labelled": 50_048, "before": 0.774, "after": 0.375}
    fallen = compared(a=None) | {
        "drift": {"of": "accuracy", "alarms": 3, "falls": 1, "last_alarms": [fall, fall | {"after": 0.8}]}
    }
    assert remarks(fallen) == ["drift: accuracy fell 1 time, last at event 50,048: a 77.40 % to 37.50 %"]
    fallen["drift"] = {"of": "accuracy", "alarms": 200, "falls": 2, "last_alarms": []}
    assert remarks(fallen) == ["drift: accuracy fell 2 times"]
    fallen["drift"] = {"of": "accuracy", "alarms": 1, "falls": 0, "last_alarms": [fall | {"after": 0.8}]}
    assert remarks(fallen) == []
    silent = compared(a=None)
    silent["baselines"]["other"] = {"abstained": 1234}
    assert remarks(silent) == ["no prediction, counted as wrong: other 1,234 times"]
    late = compared(a=0.001, b=None)
    for row in (late["learners"] | late["baselines"]).values():
        row["abstained"] = 12
    assert remarks(late)[1:] == ["no prediction, counted as wrong: each learner 12 times"]
    late["learners"]["a"]["abstained"] = 3
    assert remarks(late)[1:] == ["no prediction, counted as wrong: a 3 times, b 12 times"]


def test_summary_of_five_learners_with_slices_fits_80_columns(finished: tuple[dict[str, Any], Path]) -> None:
    """Names may be broken behind an underline, but no number is torn, and a slice is a line."""
    report, _ = finished
    lines = lines_of(summary(report, 1000))
    assert lines[0].startswith("300 events · 3 labels · 2 dead letters · ")
    begin = next(i for i, line in enumerate(lines) if line.startswith("block"))
    head = " ".join(lines[begin - 1 : begin + 1])
    for word in ("events", "naive_", "bayes", "averaged_", "passive_", "aggressive", "logistic_", "regression"):
        assert word in head.split()
    rows = lines[begin + 1 :]
    row = re.compile(rf"block \[(\d+)\] +15(?: +{PERCENT}){{5}}")
    assert len([line for line in rows if row.fullmatch(line)]) == 12
    assert "8 more in the report" in rows[12]


def test_learners_beyond_80_columns_get_another_slice_table(finished: tuple[dict[str, Any], Path]) -> None:
    report, _ = finished
    names = [f"{kind}_{i}" for i in range(2) for kind in report["learners"]][:8]
    values = {"a": {"events": 15} | {name: {"accuracy": 0.5} for name in names}}
    learners = dict.fromkeys(names, report["learners"]["perceptron"])
    lines = lines_of(summary(report | {"learners": learners, "slices": {"field": values}}, 1000))
    assert [line.count("50.00 %") for line in lines if re.match(r"a +15 ", line)] == [5, 3]


def test_accuracy_alone_has_no_kappa_and_no_remarks(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "a b", "label": "x"}\n{"text": "b c", "label": "y"}\n' * 9)
    flags = {"source.url": str(tmp_path / "in.jsonl"), "evaluation.metrics": "accuracy"}
    lines = lines_of(summary(run(load_config(flags=flags, environment={})), 1000))
    assert "kappa" not in lines[2]
    assert lines[-1].startswith("no_change")


def test_names_are_not_read_as_markup(finished: tuple[dict[str, Any], Path]) -> None:
    """Names of learners, fields and values are a user's own; `[/x]` would be an error as rich's markup."""
    report, _ = finished
    row = report["learners"]["perceptron"]
    odd = report | {
        "learners": {"[/x]": row},
        "baselines": {"[red]": row},
        "slices": {"[/field]": {"[bold]": {"events": 1, "[/x]": {"accuracy": 1.0}}}},
    }
    text = "\n".join(lines_of(summary(odd, 1000)))
    for name in ("[/x]", "[red]", "[/field]", "[bold]"):
        assert name in text


def test_slices_are_sorted_by_size_and_long_values_cut(finished: tuple[dict[str, Any], Path]) -> None:
    report, _ = finished
    accuracies = {name: {"accuracy": 0.5} for name in report["learners"]}
    values = {"small": {"events": 1} | accuracies, "long " * 50: {"events": 7} | accuracies}
    text = "\n".join(lines_of(summary(report | {"slices": {"field": values}}, 1000)))
    assert text.index("long") < text.index("small")
    assert text.count("long") == 8


LOGISTIC = ("eta", "epsilon")
"""Its numbers; what is no number is told where it is not the default."""


def test_remark_shows_how_late_labels_came(finished: tuple[dict[str, Any], Path]) -> None:
    late = {"waiting": 3, "joined": 1200, "delay_events": {"median": 40, "p95": 1000}}
    said = "1,200 labels came later, behind 40 other texts (median), 1,000 (95 %)"
    assert remarks(finished[0] | {"delayed_labels": late})[-1] == said
    assert said not in remarks(finished[0] | {"delayed_labels": late | {"delay_events": None}})
    assert said not in remarks(finished[0])


def test_control_characters_of_values_are_replaced(finished: tuple[dict[str, Any], Path]) -> None:
    values = {"\x1b[2Jgone\x07\u202e\nnext": {"events": 1, "naive_bayes": {"accuracy": 1.0}}}
    report = finished[0] | {"slices": {"field": values}}
    report["learners"] = {"naive_bayes": report["learners"]["naive_bayes"]}
    assert "\ufffd[2Jgone\ufffd\ufffd next" in "\n".join(lines_of(summary(report, 1000)))


def test_an_inspection_fits_80_columns(finished: tuple[dict[str, Any], Path]) -> None:
    _, folder = finished
    found = inspect(str(folder))
    lines = lines_of(inspection(found))
    assert " ".join(lines).startswith(f"checkpoint {found['checkpoint']} · 300 events, 300 labelled, 2 dead letters · ")
    for name, learner in found["learners"].items():
        parameters = ", ".join(
            f"{key}={value}" for key, value in learner.items() if key in ("alpha", "C", "variant", *LOGISTIC)
        )
        pattern = re.compile(rf"{name} +{re.escape(parameters)} +words +{PERCENT}")
        assert [line for line in lines if pattern.fullmatch(line)], name
    assert [line for line in lines if re.fullmatch(r"[abc] +\d+", line)] == [
        f"{label}{weight:>{len('label  weight') - 1}.0f}" for label, weight in found["labels"].items()
    ]
    entry = re.compile(r"\d+:[+-]\d+\.\d\d")
    shown = [word for line in lines for word in line.split() if entry.fullmatch(word)]
    assert len(shown) == sum(len(features) for labels in found["heaviest"].values() for features in labels.values())


def test_inspection_agrees_with_the_report(finished: tuple[dict[str, Any], Path]) -> None:
    report, folder = finished
    found = json.loads(json.dumps(inspect(str(folder), top=2), allow_nan=False))
    assert list(found["learners"]) == list(report["learners"])
    for name, learner in found["learners"].items():
        assert learner["accuracy"] == report["learners"][name]["accuracy"]
    assert (found["events"], found["labelled"], found["dead_letters"]) == (300, 300, 2)
    assert found["labels"] == dict.fromkeys(report["labels"], 100)
    [positions] = found["positions"].values()
    assert [position["offset"] for position in positions.values()] == [(folder.parent / "in.jsonl").stat().st_size]
    for labels in found["heaviest"].values():
        assert list(labels) == report["labels"]
        for features in labels.values():
            (_, first), (_, second) = features
            assert first >= second > 0


def test_without_labels_the_summary_is_a_hint(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("one\ntwo\n")
    report = run(load_config(flags={"source.url": str(tmp_path / "texts.txt")}, environment={}))
    lines = lines_of(summary(report, 1000))
    assert lines[0].startswith("2 events · 2 without label")
    assert "no event has a label" in lines[1]
    assert len(lines) == 2
