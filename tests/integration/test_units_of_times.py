"""Times in milliseconds and other units: the line about them, `time_unit=`, and where times are used."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import command_line, refused
from tests.integration.streams import write_lines

TIMES = {"s": 1714564800, "ms": 1714564800000, "us": 1714564800000000, "ns": 1714564800000000000}
NAMES = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def write_stream(path: Path, times: list[Any]) -> Path:
    """Events with these times, in the format of the path's suffix."""
    if path.suffix == ".csv":
        path.write_text("text,label,time\n" + "".join(f"win,x,{time}\n" for time in times))
        return path
    return write_lines(path, [{"text": "win", "label": "x", "time": time} for time in times])


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "texts.jsonl"])
@pytest.mark.parametrize("unit", TIMES)
def test_units_other_than_seconds_are_named(tmp_path: Path, name: str, unit: str) -> None:
    """Once; with the unit in the URL, nothing is left to say."""
    time: Any = str(TIMES[unit]) if name == "texts.jsonl" else TIMES[unit]
    stream = write_stream(tmp_path / name, [time] * 3)
    arguments = ("--learner", "perceptron", "--set", "pipeline.batch_size=1")
    told = command_line("run", stream, *arguments).err
    said = f"times look like {NAMES.get(unit)}: the first is {TIMES[unit]}, in seconds the year"
    assert told.count(said) == told.count("times look") == (unit != "s")
    assert told.count(f"add time_unit={unit} to the source's URL") == (unit != "s")
    done = command_line("run", f"{stream}?time_unit={unit}", *arguments)
    assert "times look" not in done.err
    assert "3 events" in done.out


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_speed_and_produced_times_are_in_seconds(tmp_path: Path, name: str) -> None:
    """Two hours of events at 100,000 times their speed end at once; in seconds they would take two hundred hours."""
    start = TIMES["ms"]
    stream = write_stream(tmp_path / name, [start, start + 3_600_000, start + 7_200_000])
    out = tmp_path / "out.jsonl"
    command_line("run", f"{stream}?time_unit=ms&speed=100000", "--learner", "perceptron")
    if name == "a.csv":
        command_line("produce", f"{stream}?time_unit=ms&speed=100000", out)
        assert [json.loads(line)["time"] for line in out.read_text().splitlines()] == [
            TIMES["s"] + 3600.0 * hour for hour in range(3)
        ]


def test_delays_of_labels_by_id_are_in_seconds(tmp_path: Path) -> None:
    """A text waits for its label within a limit of 100 seconds; in 60 seconds it has fallen out."""
    start = TIMES["ms"]
    stream = write_lines(
        tmp_path / "a.jsonl",
        [
            {"id": "1", "text": "win", "time": start},
            {"id": "2", "text": "win", "time": str(start + 90_000)},
            {"id": "1", "label": "x", "time": start + 91_000},
        ],
    )
    for age, joined in ((100, 1), (60, 0)):
        options = ("--late-labels", "--set", f"delayed_labels.max_pending_age={age}", "--learner", "perceptron")
        report = tmp_path / "report.json"
        command_line("run", f"{stream}?time_unit=ms", *options, "--report", report)
        assert json.loads(report.read_text())["delayed_labels"]["joined"] == joined


def test_units_of_times_that_are_wrong_are_refused(tmp_path: Path) -> None:
    stream = write_stream(tmp_path / "a.csv", [1])
    assert "invalid time_unit=min: expected one of s, ms, us, ns" in refused("run", f"{stream}?time_unit=min")
    url = f"{stream}?format=regex&pattern=(?P<time>.*),(?P<text>.*)&time_format=%Y&time_unit=ms"
    assert "time_unit is for times that are numbers" in refused("run", url)
