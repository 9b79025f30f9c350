"""Taggers beside Vowpal Wabbit's search and CRFsuite, on the streams of `../shared/data` that have tags.

Each stream is tagged and learned once, test-then-train, over its training part; "frozen" is the test part, tagged by
what was learned until then. VW's search predicts each sentence before it learns it too.
"""

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peer_runs import Case, repeated
from benchmarks.processes import reported, run_module, streamlin
from benchmarks.tables import marked, percent, spread, table

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class Task(NamedTuple):
    """A stream and what is tagged. spans : whether F1 of spans is its figure, instead of accuracy."""

    name: str
    file: str
    tags: str
    columns: str
    spans: bool


TASKS = (
    Task("POS, WSJ", "pos-conll2000", "tags", "", False),
    Task("POS, EWT", "pos-ud-ewt", "tags", "", False),
    Task("chunks", "pos-conll2000", "chunks", "tags", True),
    Task("names, Spanish", "ner-conll2002-es", "tags", "", True),
)
_COUNTS = ("counts=true", "eta=0.17", "epsilon=0.005")
OURS = {
    "crf": ("--learner", "crf"),
    "crf, counts": ("--learner", "crf", *(part for key in _COUNTS for part in ("--set", f"learners.crf.{key}"))),
    "log_linear": ("--learner", "log_linear"),
    "log_linear, beam 3": ("--learner", "log_linear", "--set", "learners.log_linear.beam=3"),
    "structured_perceptron": ("--learner", "structured_perceptron"),
    "hmm": ("--learner", "hmm"),
    "all four": (),
}
KERNELS = ("crf", "log_linear", "structured_perceptron", "hmm")
_SEARCH = "--search_task sequence --search_rollout none -b 22 --holdout_off"


def measure(folder: Path, repeat: int, quick: bool) -> list[dict[str, Any]]:
    """A row for each task and tagger, and one for each tagger's kernel: the figures of each repetition."""
    rows = []
    for task in TASKS[:1] if quick else TASKS:
        train, test = _parts(task, folder, 300 if quick else None)
        rows += [{"task": task.name, **row} for row in repeated(_cases(task, train, test, folder), repeat)]
        if task == TASKS[0]:
            kernels = [Case("streamlin", name, partial(_kernel, train, name)) for name in KERNELS]
            rows += [{"task": "kernels", **row} for row in repeated(kernels, repeat)]
    return rows


def _kernel(train: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = run_module("tag_times", str(train), name)[1]
    return found


def _cases(task: Task, train: Path, test: Path, folder: Path) -> list[Case]:
    return [
        *(
            Case("streamlin", name, partial(_ours, task, train, test, folder, options))
            for name, options in OURS.items()
        ),
        Case("VW search", "streamlin's features", partial(_vw, task, train, test, folder, "ours", "")),
        Case("VW search", "its own", partial(_vw, task, train, test, folder, "own", "--affix -4w,+2w --spelling w")),
        Case("CRFsuite, 10 passes", "streamlin's features", partial(_crfsuite, task, train, test, folder), once=True),
    ]


def _parts(task: Task, folder: Path, limit: int | None) -> tuple[Path, Path]:
    """The training part, in which nothing that is called test is, and the test part."""
    train, test = folder / f"{task.file}-train.jsonl", folder / f"{task.file}-test.jsonl"
    with gzip.open(DATA / f"{task.file}.jsonl.gz", "rb") as file:
        lines = file.read().splitlines()
    splits = [json.loads(line)["split"] for line in lines]
    first = splits[0]
    for path, split in ((train, first), (test, "test")):
        own = [line for line, found in zip(lines, splits, strict=True) if found == split]
        path.write_bytes(b"\n".join(own[:limit]) + b"\n")
    return train, test


def _ours(task: Task, train: Path, test: Path, folder: Path, options: tuple[str, ...]) -> dict[str, Any]:
    out, frozen, state = folder / "out.jsonl", folder / "frozen.jsonl", folder / "state"
    fields = ["--set", f"fields.tags={task.tags}"]
    if task.columns:
        fields += ["--set", f"fields.columns={task.columns.split()}"]
    given = ("--task", "tagging", *fields, *options)
    finished, report = reported(folder, str(train), *given, "--predictions", f"{out}?mode=overwrite")
    for file in folder.glob("state/*"):
        file.unlink()
    reported(folder, str(train), *given, "--checkpoint", str(state))
    streamlin("predict", str(state), str(test), "--predictions", f"{frozen}?mode=overwrite")
    size = (state / "checkpoint.safetensors").stat().st_size
    return {
        "seconds": report["seconds"],
        "process_seconds": finished.seconds,
        "peak_bytes": finished.peak_bytes,
        "checkpoint_bytes": size,
        **_scored(task, train, test, out, frozen, "lines"),
    }


def _vw(task: Task, train: Path, test: Path, folder: Path, features: str, more: str) -> dict[str, Any]:
    both, only, model = folder / "both.jsonl", folder / "train.vw", folder / "model.vw"
    both.write_bytes(train.read_bytes() + test.read_bytes())  # so that tags have the same numbers in both
    _, found = run_module("peer_sentences", "convert", str(both), f"{only}.both", task.tags, task.columns, features)
    n_train = sum(1 for _ in train.open("rb"))
    sentences = Path(f"{only}.both").read_text(encoding="utf-8").split("\n\n")[:-1]
    tests = folder / "test.vw"
    for path, own in ((only, sentences[:n_train]), (tests, sentences[n_train:])):
        path.write_text("".join(f"{sentence}\n\n" for sentence in own), encoding="utf-8")
    options = [*f"--search {int(found['tags'])} {_SEARCH} {more}".split()]
    guesses, frozen = folder / "vw.txt", folder / "vw-frozen.txt"
    finished, driven = run_module("peer_sentences", "drive", str(only), str(guesses), *options, "-f", str(model))
    run_module("peer_sentences", "drive", str(tests), str(frozen), "-t", "-i", str(model))
    return {
        "seconds": driven["seconds"],
        "peak_bytes": finished.peak_bytes,
        "checkpoint_bytes": model.stat().st_size,
        **_scored(task, train, test, guesses, frozen, "codes", str(both)),
    }


def _crfsuite(task: Task, train: Path, test: Path, folder: Path) -> dict[str, Any]:
    out = folder / "crfsuite.jsonl"
    given = (str(train), task.tags, task.columns, "10", str(test), str(out))
    finished, found = run_module("peer_sentences", "crfsuite", *given)
    return {
        "seconds": found["seconds"],
        "peak_bytes": finished.peak_bytes,
        "checkpoint_bytes": Path(f"{out}.model").stat().st_size,
        **_scored(task, train, test, None, out, "tags"),
        "tokens": found["tokens"],
    }


def _scored(task: Task, train: Path, test: Path, learned: Path | None, frozen: Path, *form: str) -> dict[str, Any]:
    """Prequential and frozen, from files of predictions, and the number of tokens of the training part."""
    measure, found = "F1" if task.spans else "accuracy", {"prequential": None}
    for key, stream, path in (("frozen", test, frozen), ("prequential", train, learned)):
        if path is not None:
            scored = run_module("sentence_scores", str(stream), task.tags, measure, str(path), *form)[1]
            found[key], found["tokens"] = scored["score"], scored["tokens"]
    return found


def text(figures: list[dict[str, Any]]) -> str:
    """A table for each task."""
    parts = [
        "One pass over the training part, on one machine, in turn. Own clock: streamlin's from the first read of JSON "
        "lines to the last written prediction; VW's around its driver, which reads converted features and writes "
        "predictions; CRFsuite's around training. Per cent of tokens right, or F1 of spans; median (least – greatest). "
        "Peak memory of the process, and size of what it saves, in MB."
    ]
    for task in TASKS:
        own = [row for row in figures if row["task"] == task.name]
        if own:
            parts.append(f"**{task.name}**, {'F1 of spans' if task.spans else 'tokens right'}\n\n{_table(own)}")
    kernels = [
        [row["name"], spread([run["tokens"] / run["seconds"] / 1000 for run in row["runs"]])]
        for row in figures
        if row["task"] == "kernels"
    ]
    parts.append(f"**Kernels alone**, {TASKS[0].name}, processor time\n\n{table(('', 'k tokens/s'), kernels)}")
    return marked("peers-tagging", "\n\n".join(parts))


def _table(rows: list[dict[str, Any]]) -> str:
    base = next(row["runs"] for row in rows if (row["tool"], row["name"]) == ("VW search", "streamlin's features"))
    lines = []
    for row in rows:
        runs = row["runs"]
        speeds = [run["tokens"] / run["seconds"] / 1000 for run in runs]
        ratios = [other["seconds"] / run["seconds"] for run, other in zip(runs, base, strict=False)]
        first = runs[0]
        shown = "" if first["prequential"] is None else percent(first["prequential"])
        sizes = [f"{first[key] / 1e6:,.0f}" for key in ("peak_bytes", "checkpoint_bytes")]
        rates = (spread(speeds), spread(ratios, ".2f"))
        lines.append([f"{row['tool']}, {row['name']}", shown, percent(first["frozen"]), *rates, *sizes])
    return table(("", "prequential", "frozen", "k tokens/s", "times VW", "memory", "saved"), lines)
