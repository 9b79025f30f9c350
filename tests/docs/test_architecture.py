"""What docs/architecture.md lists is compared with the code: rooms, threads, and the arrays of a checkpoint."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import streamlin.checkpoint
from streamlin.checkpoint.file import load
from streamlin.config import CLUSTERERS, TAGGERS, RunConfig, learner_models
from streamlin.config.loading import load_config
from streamlin.model import Model
from streamlin.running.loop import Run
from tests.docs.pages import ROOT, Page, quoted
from tests.silent import Silent

ARCHITECTURE = Page("docs/architecture.md")
OPTIONS = {
    "naive_bayes": {"smoothing": "prior", "unlabelled": [0.3]},
    "passive_aggressive": {"averaged": True},
    "river": {"object": "tests.external_models.models:bayes", "pickle": True},
    "sklearn": {"object": "sklearn.naive_bayes:MultinomialNB", "pickle": True},
}
"""What learners need, or keep all their arrays with."""
STARTED = re.compile(r'(?:name=|Executor\(.*, |Server\()"(streamlin-[a-z]+)"')
DETECTORS = ("adwin", "page_hinkley", "ddm", "kswin")
WINDOW = 50


class Listed(NamedTuple):
    """An array as the page lists it, or as a checkpoint has it: its name, and the learner's kind or the detector."""

    name: str
    kind: str = ""


def listed() -> dict[Listed, tuple[str, list[str]]]:
    """Each array of the page's tables -> its dtype, and the words of its shape."""
    found = {}
    general = [(cells[0], "``", *cells[1:3]) for cells in ARCHITECTURE.rows("array")]
    special = [*ARCHITECTURE.rows("array of a learner"), *ARCHITECTURE.rows("array of a detector")]
    for names, kinds, dtypes, shapes in [*general, *(cells[:4] for cells in special)]:
        columns = zip(quoted(names), *_filled(quoted(names), quoted(dtypes), quoted(shapes)), strict=True)
        for name, dtype, shape in columns:
            for kind in quoted(kinds) or [""]:
                assert Listed(name, kind) not in found, f"{name} is listed twice"
                found[Listed(name, kind)] = dtype, re.findall(r"\w+", shape)
    return found


def _filled(names: Sequence[str], *columns: list[str]) -> Iterator[list[str]]:
    """Columns of as many cells as there are names; a single cell holds for all of them."""
    for column in columns:
        yield column * len(names) if len(column) == 1 else column


def events() -> str:
    """JSON lines: texts, labels of most of them that come later, and a label without text."""
    lines: list[dict[str, str]] = []
    for i in range(60):
        field = {"split": "ab"[i % 2], "other": "xyz"[i % 3]}
        lines.append({"id": str(i), "text": f"word{i % 7} word{i % 3} thing", **field})
        if i % 4:
            lines.append({"id": str(i), "label": "xyz"[i % 3]})
    lines.append({"id": "none", "label": "x"})
    return "\n".join(map(json.dumps, lines))


def kept(folder: Path, drift: str, **flags: Any) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and state of a checkpoint of a run with all learners, a mixture and external models."""
    (folder / "in.jsonl").write_text(events())
    flags |= {
        "source.url": str(folder / "in.jsonl"),
        "checkpoint.path": str(folder / "state"),
        "features.bits": 12,
        "features.names": 100,
        "features.words.min_count": 2,
        "learners": [{"kind": kind} | OPTIONS.get(kind, {}) for kind in learner_models()],
        "evaluation.window": WINDOW,
        "evaluation.slice_by": ["split"],
        "evaluation.references": ["other"],
        "evaluation.drift": drift,
        "drain.enabled": True,
        "evaluation.novelty": True,
        "surprise.model": "kneser_ney",
    }
    with closing(Run(load_config(flags=flags, environment={}), Silent())) as run:
        run.run()
    return load(folder / "state")


def pattern(name: str, drift: str) -> Listed:
    """An array's name as the page writes it, with VIEW, NAME and FIELD for names that a user gives."""
    parts, kind = name.split("/"), ""
    if parts[0] in ("rows", "sightings", "names"):
        parts[1] = "VIEW"
    elif parts[0] == "joint_rows":
        parts[1] = "NAME"
    elif parts[0] == "learners":
        kind, parts[1] = parts[1], "NAME"
    elif parts[:2] == ["evaluation", "slices"]:
        parts[2] = "FIELD"
    elif parts[:2] == ["evaluation", "drift"]:
        kind = drift
    elif "extra" in parts:
        parts[-1] = re.sub(r"^(split|other|template)", "FIELD", parts[-1])
    return Listed("/".join(parts), kind)


def lengths(arrays: dict[str, NDArray[Any]], state: dict[str, Any]) -> dict[str, int]:
    """The words of shapes that stand for the same number everywhere."""
    learners = len(learner_models())
    return {
        "rows": arrays["rows/words"].size,
        "labels": len(state["labels"]),
        "learners": learners,
        "predictors": learners + 3,
        "members": list(learner_models()).index("mixture"),
        "views": 2,  # that of naive Bayes has rows of its own
        "window": WINDOW,
    }


def check_described(drift: str, arrays: dict[str, NDArray[Any]], state: dict[str, Any]) -> None:
    """Each array's dtype and shape are those that the page lists."""
    table, known = listed(), lengths(arrays, state)
    for name, array in arrays.items():
        dtype, shape = table[pattern(name, drift)]
        assert array.dtype == np.dtype(dtype), f"{name} is {array.dtype}, the page says {dtype}"
        assert array.ndim == len(shape), f"{name} has the shape {array.shape}, the page says {shape}"
        for length, word in zip(array.shape, shape, strict=True):
            said = int(word) if word.isdigit() else known.get(word, length)
            assert length == said, f"{name} has the shape {array.shape}, the page says {shape}"


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[dict[str, NDArray[Any]], dict[str, Any]]]:
    """For each detector a checkpoint with delayed labels by id."""
    folders = {drift: tmp_path_factory.mktemp(drift) for drift in DETECTORS}
    return {drift: kept(folder, drift, **{"delayed_labels.enabled": True}) for drift, folder in folders.items()}


def test_every_array_of_a_checkpoint_is_listed(checkpoints: dict[str, Any]) -> None:
    """And nothing is listed that no checkpoint has."""
    real = {pattern(name, drift) for drift, (arrays, _) in checkpoints.items() for name in arrays}
    several = {
        "features": {"first": {"tokens": "first"}},
        "learners": [{"kind": "arow", "features": ["words", "first"]}],
    }
    arrays, _ = Model(RunConfig(**several)).state()
    real |= {pattern(name, "") for name in arrays if name.startswith("joint_rows/")}
    table = set(listed())
    assert not real - table, f"docs/architecture.md does not list {sorted(real - table)}"
    assert not table - real, f"docs/architecture.md lists what no checkpoint has: {sorted(table - real)}"


@pytest.mark.parametrize("drift", DETECTORS)
def test_arrays_have_the_listed_types_and_shapes(drift: str, checkpoints: dict[str, Any]) -> None:
    check_described(drift, *checkpoints[drift])


def test_arrays_of_a_fixed_delay_lack_waiting_in_their_names(tmp_path: Path) -> None:
    arrays, _ = kept(tmp_path, "adwin", **{"delayed_labels.delay": 5})
    waiting = "delayed_labels/waiting/"
    expected = {name.replace(waiting, "delayed_labels/") for name, _ in listed() if name.startswith(waiting)}
    assert {pattern(name, "adwin").name for name in arrays if name.startswith("delayed_labels/")} == expected


def test_keys_of_the_state_are_listed(checkpoints: dict[str, Any]) -> None:
    named = [quoted(key)[0] for key, _ in ARCHITECTURE.rows("key")]
    for _, state in checkpoints.values():
        assert set(named) == set(state)


def test_the_docstring_lists_all_groups_of_arrays() -> None:
    """The page has them one by one; the docstring of `streamlin.checkpoint` by their first parts."""
    docstring = streamlin.checkpoint.__doc__ or ""
    groups = {re.match(r"(\w+/(?:slices|\w+(?=/)|[A-Z]+|\w+))", name)[1] for name, _ in listed()}  # type: ignore[index]
    missing = sorted(group for group in groups if group not in docstring)
    assert not missing, f"the docstring of streamlin.checkpoint does not list {missing}"


def test_every_room_is_listed() -> None:
    folders = {path.parent.name for path in (ROOT / "streamlin").glob("*/*") if path.name != "__pycache__"}
    assert {quoted(room)[0] for room, _ in ARCHITECTURE.rows("room")} == folders - {"__pycache__"}


def test_every_named_thread_is_listed_with_its_file() -> None:
    """A thread's name is a text in the file that starts it."""
    named = set()
    for path in [*(ROOT / "streamlin").rglob("*.py"), *(ROOT / "connectors").rglob("*.py")]:
        place = str(path.relative_to(ROOT)).removeprefix("streamlin/")
        named |= {(name, place) for name in STARTED.findall(path.read_text(encoding="utf-8"))}
    rows = ARCHITECTURE.rows("thread")
    assert {(quoted(name)[0], quoted(place)[0]) for name, place, *_ in rows if quoted(name)} == named


def test_named_files_exist() -> None:
    """A path is given from the root of the repository, or from `streamlin/`."""
    named = [name for name in quoted(ARCHITECTURE.prose) if "/" in name and name.endswith(".py") and "…" not in name]
    assert named
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "streamlin" / name).exists(), name


def test_arrays_of_a_run_that_asks_are_listed(tmp_path: Path) -> None:
    """Those it has besides, with their types and shapes; those of accuracy and of sums are listed elsewhere."""
    for name in ("plain", "asks"):
        (tmp_path / name).mkdir()
    plain, _ = kept(tmp_path / "plain", "adwin", **{"delayed_labels.enabled": True})
    arrays, state = kept(tmp_path / "asks", "adwin", **{"delayed_labels.enabled": True, "ask.budget": 0.5})
    known = lengths(arrays, state)
    own: dict[str, tuple[str, str]] = {}
    for names, dtypes, shapes, _ in ARCHITECTURE.rows("array of a run that asks"):
        if "…" not in names:
            columns = _filled(quoted(names), quoted(dtypes), quoted(shapes))
            own |= dict(zip(quoted(names), zip(*columns, strict=True), strict=True))
    more = {name: array for name, array in arrays.items() if name not in plain}
    copies = {
        *(f"evaluation/raw/{name}" for name in own_names(plain, "evaluation/accuracy/")),
        *(f"evaluation/raw_sums/{name}" for name in own_names(plain, "evaluation/sums/")),
    }
    assert set(more) == {*own, *copies}
    for name, (dtype, shape) in own.items():
        assert more[name].dtype == np.dtype(dtype), name
        words = re.findall(r"\w+", shape)
        for length, word in zip(more[name].shape, words, strict=True):
            assert length == (int(word) if word.isdigit() else known.get(word, length)), name


def own_names(arrays: dict[str, Any], prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in arrays if name.startswith(prefix)]


def test_arrays_of_taggers_are_listed_with_types_and_shapes(tmp_path: Path) -> None:
    """Those that taggers share with texts are in the other tables."""
    sentences = [{"tokens": ["a", "b"], "tags": ["B-X", "I-X"]}, {"tokens": ["a"], "id": "1"}] * 4
    sentences += [{"id": "1", "tags": ["O"]}, {"tokens": ["a"], "id": "2"}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, sentences)))
    flags = {
        "task": "tagging",
        "source.url": str(tmp_path / "in.jsonl"),
        "checkpoint.path": str(tmp_path / "state"),
        "learners": [{"kind": kind} | ({"counts": True} if kind == "crf" else {}) for kind in TAGGERS],
        "evaluation.window": WINDOW,
        "delayed_labels.enabled": True,
    }
    with closing(Run(load_config(flags=flags, environment={}), Silent())) as run:
        run.run()
    arrays, _ = load(tmp_path / "state")
    late = {name for name, _ in listed() if name.startswith("delayed_labels/") and "FIELD" not in name}
    late -= {"delayed_labels/waiting/baselines"}
    own = {quoted(row[0])[0]: row[1:3] for row in ARCHITECTURE.rows("array of a tagging run")}
    for name, kinds, dtype, shape, _ in ARCHITECTURE.rows("array of a tagger"):
        own |= {quoted(name)[0].replace("NAME", kind): (dtype, shape) for kind in quoted(kinds)}
    shared = tuple(f"evaluation/{part}/" for part in ("sums", "pairs", "confusion", "drift"))
    assert late == {name for name in arrays if name.startswith("delayed_labels/")} - set(own)
    named = {name: array for name, array in arrays.items() if not name.startswith(shared) and name not in late}
    assert set(named) == set(own)
    for name, array in named.items():
        dtype, shape = (quoted(cell)[0] for cell in own[name])
        assert array.dtype == np.dtype(dtype), name
        assert array.ndim == len(re.findall(r"[^,\[\]]+", shape)), name


def test_arrays_of_parsers_are_listed_with_types_and_shapes(tmp_path: Path) -> None:
    """Those of the evaluation are those of a tagging run."""
    (tmp_path / "in.bracketed").write_text("(S (NP (D the) (N dog)) (VP (V barks)))\n" * 4)
    source, state = str(tmp_path / "in.bracketed"), str(tmp_path / "state")
    flags = {"task": "parsing", "source.url": source, "checkpoint.path": state, "evaluation.window": WINDOW}
    with closing(Run(load_config(flags=flags, environment={}), Silent())) as run:
        run.run()
    arrays, kept_state = load(tmp_path / "state")
    own = {quoted(row[0])[0]: row[1:3] for row in ARCHITECTURE.rows("array of a tagging run")}
    own = {name: row for name, row in own.items() if not name.startswith(("rows/tokens", "delayed_labels/"))}
    own |= {quoted(name)[0].replace("NAME", "pcfg"): row for name, *row, _ in ARCHITECTURE.rows("array of a parser")}
    shared = tuple(f"evaluation/{part}/" for part in ("sums", "pairs", "confusion", "drift"))
    named = {name: array for name, array in arrays.items() if not name.startswith(shared)}
    assert set(named) == set(own)
    for name, array in named.items():
        dtype, shape = (quoted(cell)[0] for cell in own[name])
        assert array.dtype == np.dtype(dtype), name
        assert array.ndim == len(re.findall(r"[^,\[\]]+", shape)), name
    assert list(kept_state["symbols"]) == ["pcfg"]


def test_arrays_of_topics_are_listed_with_types_and_shapes(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "a b", "label": "x"}\n' * 3)
    source, state = str(tmp_path / "in.jsonl"), str(tmp_path / "state")
    flags = {"task": "topics", "source.url": source, "checkpoint.path": state, "evaluation.window": WINDOW}
    with closing(Run(load_config(flags=flags, learners=CLUSTERERS, environment={}), Silent())) as run:
        run.run()
    arrays, _ = load(tmp_path / "state")
    own = {quoted(row[0])[0]: row[1:3] for row in ARCHITECTURE.rows("array of a topics run")}
    for name, kinds, dtype, shape, _ in ARCHITECTURE.rows("array of a clusterer"):
        own |= {quoted(name)[0].replace("NAME", kind): (dtype, shape) for kind in quoted(kinds)}
    named = {name: array for name, array in arrays.items() if not name.startswith(("rows/words", "names/words/"))}
    assert set(named) == set(own)
    for name, array in named.items():
        dtype, shape = (quoted(cell)[0] for cell in own[name])
        assert array.dtype == np.dtype(dtype), name
        assert array.ndim == len(re.findall(r"[^,\[\]]+", shape)), name


def test_the_arrays_of_models_per_key_are_listed(tmp_path: Path) -> None:
    """Those that a run has with `keys.per`; a learner's tables are those of its own, in other shapes."""
    (tmp_path / "in.jsonl").write_text(events())
    flags = {"source.url": str(tmp_path / "in.jsonl"), "checkpoint.path": str(tmp_path / "state"), "keys.per": "split"}
    flags |= {"features.bits": 12, "delayed_labels.enabled": True}
    learners = ["naive_bayes", "averaged_perceptron", "mixture"]
    with closing(Run(load_config(flags=flags, learners=learners, environment={}), Silent())) as run:
        run.run()
    arrays, _ = load(tmp_path / "state")
    own = {name.removeprefix("keys/"): array for name, array in arrays.items() if name.startswith("keys/")}
    tables = {name: own.pop(name) for name in list(own) if name.startswith("learners/")}
    assert set(tables) == {name for name in arrays if name.startswith("learners/") and "/mixture/" not in name}
    known = {"n": own["names_lengths"].size, "keyrows": own["buckets/words"].size, "learners": 3, "L": 2}
    width = own["label_counts"].max()
    for name, table in tables.items():
        of_all = arrays[name].shape
        shapes = {2: (known["keyrows"], width), 1: (known["n"], width), 0: (known["n"],)}
        assert (table.shape, table.dtype) == (shapes[len(of_all)], arrays[name].dtype), name
    listed_own: dict[str, tuple[str, str]] = {}
    for names, dtypes, shape_words, _ in ARCHITECTURE.rows("array of a run with keys"):
        if "TABLE" not in names:
            columns = _filled(quoted(names), quoted(dtypes), quoted(shape_words))
            listed_own |= dict(zip(quoted(names), zip(*columns, strict=True), strict=True))
    assert {f"keys/{name.replace('words', 'VIEW')}" for name in own} == set(listed_own)
    for name, (dtype, shape) in listed_own.items():
        array = own[name.removeprefix("keys/").replace("VIEW", "words")]
        words = re.findall(r"\w+", shape)
        assert (array.dtype, array.ndim) == (np.dtype(dtype), len(words)), name
        for length, word in zip(array.shape, words, strict=True):
            assert length == (int(word) if word.isdigit() else known.get(word, length)), name
