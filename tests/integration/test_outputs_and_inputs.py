"""No command writes to what it reads: exit 2, one line that names both, and nothing is created or changed."""

import os
from pathlib import Path

import pytest

import streamlin
from tests.command_line import command_line, refused
from tests.integration.processes import refused_by_process
from tests.integration.streams import write_lines

EVENTS = [
    {"id": str(i), "text": "win a prize" if i % 2 else "see you", "label": "spam" if i % 2 else "ham"}
    for i in range(20)
]
FAST = ("--learner", "naive_bayes")


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint."""
    folder = tmp_path_factory.mktemp("learned")
    stream = write_lines(folder / "a.jsonl", EVENTS)
    command_line("run", stream, *FAST, "--checkpoint", folder / "state")
    return folder / "state"


@pytest.fixture
def place(tmp_path: Path, learned: Path) -> Path:
    """A working folder with streams, labels, a configuration, a checkpoint, and links."""
    write_lines(tmp_path / "a.jsonl", EVENTS)
    write_lines(tmp_path / "labels.jsonl", [{"id": "1", "label": "spam"}])
    (tmp_path / "d").mkdir()
    write_lines(tmp_path / "d" / "b.jsonl", EVENTS)
    (tmp_path / "c.toml").write_text("[features]\nbits = 12\n")
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / "state").mkdir()
    for file in learned.iterdir():
        (tmp_path / "state" / file.name).write_bytes(file.read_bytes())
    (tmp_path / "soft").symlink_to("a.jsonl")
    os.link(tmp_path / "a.jsonl", tmp_path / "hard")
    os.link(tmp_path / "d" / "b.jsonl", tmp_path / "hard-b")
    return tmp_path


def everything(folder: Path) -> dict[Path, tuple[bytes, int, int]]:
    """Content, inode and time of each file."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


READ = [
    # (command, what the line calls the output, what it calls the input)
    ("run a.jsonl --report a.jsonl", "--report: a.jsonl", "source.url: a.jsonl"),
    ("run a.jsonl --report soft", "--report: soft", "source.url: a.jsonl"),
    ("run a.jsonl --report hard", "--report: hard", "source.url: a.jsonl"),
    ("run soft --report r.html --report hard", "--report: hard", "source.url: soft"),
    ("run a.jsonl --predictions hard?mode=append", "sinks.predictions: hard?mode=append", "source.url: a.jsonl"),
    ("run a.jsonl --dead-letters soft", "sinks.dead_letters: soft", "source.url: a.jsonl"),
    ("run d --predictions d/z.log", "sinks.predictions: d/z.log", "source.url: d"),
    ("run d/ --predictions hard-b?mode=overwrite", "sinks.predictions: hard-b?mode=overwrite", "source.url: d/"),
    ("run d --report d/r.json", "--report: d/r.json", "source.url: d"),
    ("run d/*.jsonl --dead-letters d/dead.jsonl", "sinks.dead_letters: d/dead.jsonl", "source.url: d/*.jsonl"),
    ("run d --checkpoint d", "checkpoint.path: d/checkpoint.safetensors", "source.url: d"),
    ("run d/** --checkpoint d/state", "checkpoint.path: d/state/checkpoint.safetensors", "source.url: d/**"),
    ("run new.log --follow --predictions ./new.log", "sinks.predictions: ./new.log", "source.url: new.log"),
    ("run .r.json.new --report r.json", "--report: {}/.r.json.new", "source.url: .r.json.new"),
    (
        "run a.jsonl --feedback labels.jsonl --predictions labels.jsonl?mode=overwrite",
        "sinks.predictions: labels.jsonl?mode=overwrite",
        "delayed_labels.url: labels.jsonl",
    ),
    (
        "run a.jsonl --feedback labels.jsonl --report labels.jsonl",
        "--report: labels.jsonl",
        "delayed_labels.url: labels.jsonl",
    ),
    (
        "run a.jsonl --config c.toml --predictions c.toml?mode=overwrite",
        "sinks.predictions: c.toml?mode=overwrite",
        "--config: c.toml",
    ),
    ("run a.jsonl --config c.toml --report c.toml", "--report: c.toml", "--config: c.toml"),
    (
        "run a.jsonl --set kafka.sasl_password_file=password --dead-letters password",
        "sinks.dead_letters: password",
        "kafka.sasl_password_file: password",
    ),
    (
        "predict state a.jsonl --predictions a.jsonl?mode=overwrite",
        "--predictions: a.jsonl?mode=overwrite",
        "SOURCE: a.jsonl",
    ),
    ("predict state d --predictions d/z.log", "--predictions: d/z.log", "SOURCE: d"),
    ("predict state a.jsonl --dead-letters hard", "--dead-letters: hard", "SOURCE: a.jsonl"),
    (
        "predict state a.jsonl --predictions state/checkpoint.safetensors?mode=overwrite",
        "--predictions: state/checkpoint.safetensors?mode=overwrite",
        "DIR: state/checkpoint.safetensors",
    ),
    (
        "predict state a.jsonl --config c.toml --predictions c.toml?mode=overwrite",
        "--predictions: c.toml?mode=overwrite",
        "--config: c.toml",
    ),
    ("produce a.jsonl a.jsonl?mode=overwrite", "SINK: a.jsonl?mode=overwrite", "source.url: a.jsonl"),
    ("produce a.jsonl hard?mode=append", "SINK: hard?mode=append", "source.url: a.jsonl"),
    ("produce d d/z.log", "SINK: d/z.log", "source.url: d"),
    ("produce a.jsonl c.toml?mode=overwrite --config c.toml", "SINK: c.toml?mode=overwrite", "--config: c.toml"),
    (
        "explain state win --html state/checkpoint.safetensors",
        "--html: state/checkpoint.safetensors",
        "DIR: state/checkpoint.safetensors",
    ),
]


@pytest.mark.parametrize(("command", "output", "source"), READ)
def test_writing_to_an_input_is_refused_untouched(place: Path, command: str, output: str, source: str) -> None:
    before = everything(place)
    said = refused(*command.split(), cwd=place)
    assert said == f"{output.format(place)} is also read ({source}); write to another file"
    assert everything(place) == before


@pytest.mark.parametrize(
    ("command", "output", "source"),
    [
        ("run - --predictions a.jsonl?mode=append", "sinks.predictions: a.jsonl?mode=append", "source.url: -"),
        ("explain state - --html hard", "--html: hard", "TEXT: -"),
    ],
)
def test_writing_to_the_file_behind_standard_input_is_refused(
    place: Path, command: str, output: str, source: str
) -> None:
    """As `streamlin run - --predictions a.jsonl < a.jsonl` would have it."""
    before = everything(place)
    redirect = "import os; os.dup2(os.open('a.jsonl', os.O_RDONLY), 0)"
    said = refused_by_process(*command.split(), cwd=place, before=redirect)
    assert said == f"{output} is also read ({source}); write to another file"
    assert everything(place) == before


@pytest.mark.parametrize("command", ["run d", "predict state d", "produce d null://"])
def test_standard_output_in_a_folder_that_is_read_is_refused(place: Path, command: str) -> None:
    """As `streamlin run d > d/out.txt` would have it."""
    out = place / "d" / "out.txt"
    redirect = "import os; os.dup2(os.open('d/out.txt', os.O_WRONLY | os.O_CREAT), 1)"
    said = refused_by_process(*command.split(), cwd=place, before=redirect)
    name = "SOURCE" if command.startswith("predict") else "source.url"
    outputs = "--predictions: -" if command.startswith("predict") else f"standard output: {out}"
    assert said == f"{outputs} is also read ({name}: d); write to another file"
    assert out.read_bytes() == b""


TOPIC = "kafka://127.0.0.1:1/tickets"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (f"predict state {TOPIC} --predictions {TOPIC}", "--predictions"),
        (f"produce {TOPIC} {TOPIC}", "SINK"),
        (f"run a.jsonl --feedback {TOPIC} --predictions {TOPIC}", "sinks.predictions"),
    ],
)
def test_writing_to_the_topic_that_is_read_is_refused(place: Path, command: str, output: str) -> None:
    """No broker is needed to tell."""
    said = refused(*command.split(), cwd=place)
    assert said == f"{output}: {TOPIC} is the topic that is read; give another one"


WRITTEN = [
    ("run a.jsonl --predictions z --report z", "--report: z", "sinks.predictions: z"),
    ("run a.jsonl --predictions z --dead-letters ./z", "sinks.dead_letters: ./z", "sinks.predictions: z"),
    ("run a.jsonl --report z --report z", "--report: z", "--report: z"),
    (
        "run a.jsonl --checkpoint state --report state/lock",
        "--report: state/lock",
        "checkpoint.path: state/lock",
    ),
    ("demo --predictions z --report z", "--report: z", "sinks.predictions: z"),
    ("predict state a.jsonl --predictions z --dead-letters z", "--dead-letters: z", "--predictions: z"),
]


@pytest.mark.parametrize(("command", "output", "other"), WRITTEN)
def test_two_outputs_to_one_file_are_refused_untouched(place: Path, command: str, output: str, other: str) -> None:
    before = everything(place)
    assert refused(*command.split(), cwd=place) == f"{output} is also written ({other}); write to another file"
    assert everything(place) == before


def test_serve_refuses_to_write_to_its_configuration(place: Path) -> None:
    config = place / "c.toml"
    config.write_text('learners = [{kind = "naive_bayes"}]\nsinks.predictions = "c.toml?mode=overwrite"\n')
    before = everything(place)
    said = refused("serve", "state", "127.0.0.1:0", "--config", "c.toml", cwd=place)
    assert said == "sinks.predictions: c.toml?mode=overwrite is also read (--config: c.toml); write to another file"
    assert everything(place) == before


def test_devices_and_files_elsewhere_are_allowed(place: Path) -> None:
    """A folder may have the checkpoint below it, and a pattern may pass over the outputs beside its files."""
    everywhere = ("--predictions", "/dev/null", "--dead-letters", "/dev/null", "--report", "/dev/null")
    command_line("run", "d", *FAST, *everywhere, "--checkpoint", "d/state", cwd=place)
    beside = ("--predictions", "d/out.txt", "--report", "d/r.json", "--checkpoint", "d/more")
    for _ in range(2):  # the second run resumes, and reads nothing
        command_line("run", "d/*.jsonl", *FAST, *beside, cwd=place)
    assert (place / "d" / "out.txt").read_bytes().count(b"\n") == len(EVENTS)


@pytest.mark.parametrize(
    ("source", "tables"),
    [
        ("a.jsonl", {"sinks": {"predictions": "hard?mode=overwrite"}}),
        ("d", {"sinks": {"predictions": "d/z.log"}}),
        ("d", {"checkpoint": {"path": "d"}}),
        ("a.jsonl", {"sinks": {"predictions": "labels.jsonl"}, "delayed_labels": {"url": "labels.jsonl"}}),
        ("a.jsonl", {"sinks": {"predictions": "c.toml?mode=overwrite"}}),
        ([("win", "spam")], {"sinks": {"predictions": "c.toml?mode=overwrite"}}),
    ],
)
def test_a_pipeline_refuses_to_write_to_its_inputs(
    place: Path, monkeypatch: pytest.MonkeyPatch, source: object, tables: dict[str, dict[str, str]]
) -> None:
    monkeypatch.chdir(place)
    before = everything(place)
    with streamlin.Pipeline("c.toml", **tables) as pipeline, pytest.raises(streamlin.ConfigError, match="is also read"):
        pipeline.run(source)
    new = {"d/lock"} if "checkpoint" in tables else set()  # which the pipeline holds before it knows a source
    after = everything(place)
    assert {str(path.relative_to(place)) for path in after.keys() - before.keys()} == new
    assert {path: after[path] for path in before} == before
