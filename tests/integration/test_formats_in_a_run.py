"""Every format from the command line: by suffix, by `format=`, and with options in the URL."""

from pathlib import Path
from typing import Any

from tests.command_line import command_line
from tests.integration.streams import json_lines, measured, real_events

EVENTS = 300


def written_as(suffix: str, events: list[dict[str, Any]]) -> bytes:
    """The events in a format; their texts must be words and blanks."""
    rows: dict[str, Any] = {
        "csv": lambda event: f'"{event["text"]}",{event["label"]},{event["id"]}',
        "tsv": lambda event: f"{event['text']}\t{event['label']}\t{event['id']}",
        "vw": lambda event: f"{event['label']} '{event['id']} |text {event['text']}",
        "ft": lambda event: f"__label__{event['label']} {event['text']}",
        "log": lambda event: f"{event['id']} <{event['label']}> {event['text']}",
    }
    header = "text\tlabel\tid\n" if suffix == "tsv" else ""
    return (header + "".join(rows[suffix](event) + "\r\n" for event in events)).encode()


def test_every_format_gives_the_same_report(data: Path, tmp_path: Path) -> None:
    """The same words and labels give the same report and predictions in every format."""
    events = real_events(data / "trec-6.jsonl.gz", EVENTS)
    for event in events:
        event["text"] = " ".join(word for word in event["text"].lower().split() if word.isalnum())
    for suffix in ("csv", "tsv", "vw", "ft", "log"):
        (tmp_path / f"stream.{suffix}").write_bytes(written_as(suffix, events))
    pattern = "(?P<id>[^ ]+) <(?P<label>[^>]+)> (?P<text>.*)"
    urls = {
        "csv": f"{tmp_path}/stream.csv?columns=text,label,id",
        "tsv": f"{tmp_path}/stream.tsv",
        "vw": f"file://{tmp_path}/stream.vw",
        "ft": f"{tmp_path}/stream.ft",
        "log": f"{tmp_path}/stream.log?format=regex&pattern={pattern.replace('+', '%2B')}",
    }

    def run(suffix: str) -> dict[str, Any]:
        report, out = tmp_path / f"{suffix}.json", tmp_path / f"{suffix}.out"
        command_line("run", urls[suffix], "--report", report, "--predictions", out)
        return measured(report)

    reports = [run(suffix) for suffix in urls]
    assert reports[0]["events"] == reports[0]["labelled"] == EVENTS
    assert reports[0]["dead_letters"] == 0
    assert all(report == reports[0] for report in reports)
    for suffix in urls:
        lines = json_lines(tmp_path / f"{suffix}.out")
        assert [line["label"] for line in lines] == [event["label"] for event in events]
        assert suffix == "ft" or [line["id"] for line in lines] == [event["id"] for event in events]


def test_log_presets_read_raw_logs_without_dead_letters(data: Path, tmp_path: Path) -> None:
    """Labels come from the level or the alert mark of each line."""
    labels = {"BGL": {"normal", "alert"}, "Zookeeper": {"INFO", "WARN", "ERROR"}}

    def run(log: str) -> dict[str, Any]:
        url, report = f"{data}/logs/{log}_2k.log?format=regex&preset={log.lower()}", tmp_path / f"{log}.json"
        command_line("run", url, "--report", report, "--set", "features.words.masks=['ip', 'hex', 'number']")
        return measured(report)

    for log in labels:
        found = run(log)
        assert (found["events"], found["labelled"], found["dead_letters"]) == (2000, 2000, 0)
        assert set(found["labels"]) == labels[log]


def test_plain_text_of_a_file_pattern_has_no_labels(data: Path, tmp_path: Path) -> None:
    """Without labels nothing is learned and nothing predicted; the files of a pattern are read in order of name."""
    out = tmp_path / "out"
    done = command_line("run", f"{data}/logs/H*_2k.log?format=text", "--predictions", out, "--limit", 2100)
    lines = json_lines(out)
    assert done.out.startswith("2,100 events · 2,100 without label · 0 labels")
    assert lines[0]["position"] == f"{data}/logs/HDFS_2k.log:0"
    assert lines[-1]["position"].startswith(f"{data}/logs/Hadoop_2k.log:")
    assert {line["predicted"] for line in lines} == {None}


def test_a_folder_has_the_format_of_its_files(tmp_path: Path) -> None:
    for name, text in (("a.csv", "one"), ("b.csv", "two"), (".hidden.jsonl", "no")):
        (tmp_path / name).write_text(f"text,label\n{text},x\n")
    assert command_line("run", tmp_path, "--learner", "perceptron").out.startswith(
        "2 events · 1 label · 0 dead letters"
    )
