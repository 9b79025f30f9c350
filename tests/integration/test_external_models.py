"""External models from the command line: their pickled state in a checkpoint, and their errors."""

from pathlib import Path

import pytest

from streamlin import Pipeline
from streamlin.checkpoint.file import load
from streamlin.errors import CheckpointError, ConfigError
from tests.command_line import command_line, refused
from tests.integration.processes import refused_by_process, streamlin
from tests.integration.streams import content, json_lines, measured, real_events, write_lines
from tests.locations import ROOT

SMALL = ("--set", "features.bits=12", "--set", "pipeline.batch_size=50")
EXTERNAL_MODELS = """
[[learners]]
kind = "perceptron"

[[learners]]
kind = "river"
name = "bayes"
object = "tests.external_models.models:bayes"
pickle = true

[[learners]]
kind = "sklearn"
object = "tests.external_models.models:Texts"
input = "text"
classes = ["ham", "spam"]
pickle = true

[[learners]]
kind = "mixture"
"""
FAILING = """
[[learners]]
kind = "perceptron"

[[learners]]
kind = "river"
object = "tests.external_models.plain:Failing"
arguments = { after = 99, how = "learn" }
pickle = true
"""


@pytest.fixture(scope="module")
def stream(data: Path, folder: Path) -> Path:
    """Real messages; river's naive Bayes would fail on empty ones."""
    events = [event for event in real_events(data / "sms-spam.jsonl.gz", 320) if event["text"].strip()]
    return write_lines(folder / "guests.jsonl", events)


@pytest.fixture(scope="module")
def config(folder: Path) -> Path:
    path = folder / "guests.toml"
    path.write_text(EXTERNAL_MODELS)
    return path


@pytest.fixture(scope="module")
def whole(stream: Path, config: Path, folder: Path) -> Path:
    """The folder of an uninterrupted run."""
    out = folder / "external_models"
    out.mkdir()
    command_line(*arguments(stream, config, out))
    return out


def arguments(stream: Path, config: Path, out: Path) -> tuple[object, ...]:
    """Arguments of a run; the current folder must be that of `tests`."""
    return (
        *("run", stream, "--config", config, "--predictions", out / "predictions.jsonl", "--checkpoint", out / "state"),
        *("--report", out / "report.json", *SMALL),
    )


@pytest.fixture(autouse=True)
def _where_the_models_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_a_resumed_run_with_external_models_is_exact(stream: Path, config: Path, whole: Path, tmp_path: Path) -> None:
    """Stopped twice and resumed with other threads, with external models unpickled: same predictions, same report."""
    for limit, threads in (70, 1), (111, 2), (None, 1):
        more = () if limit is None else ("--limit", limit)
        command_line(*arguments(stream, config, tmp_path), *more, "--set", f"pipeline.threads={threads}")
    assert content(tmp_path / "predictions.jsonl") == content(whole / "predictions.jsonl")
    assert measured(tmp_path / "report.json") == measured(whole / "report.json")
    learners = measured(whole / "report.json")["learners"]
    assert list(learners) == ["perceptron", "bayes", "sklearn", "mixture"]
    assert all(row["accuracy"] > 0.8 for row in learners.values())
    arrays, _ = load(whole / "state")
    assert arrays["learners/bayes/pickle"].size > 1000


def test_a_checkpoint_with_external_models_needs_allow_pickle(stream: Path, whole: Path, tmp_path: Path) -> None:
    state = whole / "state"
    predict = refused("predict", state, stream, code=4)
    inspect = refused("inspect", state, "--json", code=4)
    serve = refused("serve", state, 0, code=4)
    assert predict == inspect == serve
    assert predict.startswith(
        "the checkpoint holds pickled learners (bayes, sklearn), and unpickling runs any code that is in it"
    )
    assert "--allow-pickle" in predict
    with pytest.raises(CheckpointError, match="allow_pickle=True"):
        Pipeline.load(state)
    predicted = command_line("predict", state, stream, "--allow-pickle", "--limit", 3)
    inspected = command_line("inspect", state, "--allow-pickle", "--json")
    lines = predicted.lines
    assert [list(line["learners"]) for line in lines] == [["perceptron", "bayes", "sklearn", "mixture"]] * 3
    (found,) = inspected.lines
    assert found["learners"]["bayes"]["object"] == "tests.external_models.models:bayes"
    assert list(found["heaviest"]) == ["perceptron"]
    shown = command_line("inspect", state, "--allow-pickle").out
    assert "object=tests.external_models.models:bayes" in shown
    with Pipeline.load(state, allow_pickle=True) as pipeline:
        events = json_lines(stream)[:3]
        assert pipeline.predict_many([event["text"] for event in events]) == [line["predicted"] for line in lines]
        pipeline.learn_one("another message", "ham")
        pipeline.save(tmp_path / "copy")
    with Pipeline.load(tmp_path / "copy", allow_pickle=True) as again:
        assert again.metrics["events"] == found["events"] + 1


def test_nothing_is_unpickled_before_it_is_allowed(stream: Path, whole: Path, tmp_path: Path) -> None:
    """The module that the checkpoint names is not imported either; its import would leave a file."""
    (tmp_path / "trap.py").write_text("open('sprung', 'w').close()\nfrom tests.external_models.plain import Counting\n")
    setting = "learners=[{kind = 'river', object = 'trap:Counting', pickle = true}]"
    env = {"PYTHONPATH": str(ROOT)}
    stream = stream.resolve()
    where = {"cwd": tmp_path, "env": env}
    streamlin("run", stream, "--set", setting, "--checkpoint", "state", "--limit", 10, **where)
    (tmp_path / "sprung").unlink()
    refused_by_process("predict", "state", stream, code=4, **where)
    refused_by_process("inspect", "state", code=4, **where)
    assert not (tmp_path / "sprung").exists()
    streamlin("predict", "state", stream, "--allow-pickle", **where)
    assert (tmp_path / "sprung").exists()


def test_without_pickle_an_external_model_has_no_checkpoint(stream: Path, config: Path, tmp_path: Path) -> None:
    off = "learners.bayes.pickle=false"
    line = refused(*arguments(stream, config, tmp_path), "--set", off)
    assert line.startswith("learners.bayes.pickle: an external model can be saved only by pickling; pickle = true")
    assert not (tmp_path / "state").exists()
    done = command_line("run", stream, "--config", config, "--set", off, "--limit", 20, *SMALL)
    assert done.out.startswith("20 events")
    with Pipeline(learners=[{"kind": "river", "object": "tests.external_models.models:bayes"}]) as pipeline:
        pipeline.learn_one("a", "x").learn_one("b", "y")
        with pytest.raises(ConfigError, match=r"learners\.river\.pickle"):
            pipeline.save(tmp_path / "copy")


def test_a_failing_external_model_is_retired(stream: Path, tmp_path: Path) -> None:
    """A line says so at once, another one in the summary; it stays retired after a resume."""
    config = tmp_path / "failing.toml"
    config.write_text(FAILING)
    done = command_line(*arguments(stream, config, tmp_path), "--limit", 150)
    position = f"{stream}:{sum(len(line) + 1 for line in content(stream).splitlines()[:99])}"
    why = f"river is retired, it failed at {position}: ValueError"
    assert done.err.splitlines()[0] == f"streamlin: {why}; it abstains from now on"
    assert why in done.out.splitlines()
    assert "no prediction, counted as wrong: river 51 times" in done.out
    lines = json_lines(tmp_path / "predictions.jsonl")
    assert [line["learners"]["river"] is None for line in lines] == [i == 0 or i > 99 for i in range(150)]
    assert all(line["predicted"] is not None for line in lines[1:])
    again = command_line(*arguments(stream, config, tmp_path))
    assert "retired" not in again.err
    report = measured(tmp_path / "report.json")
    error = {"position": position, "error": "ValueError"}
    assert report["learners"]["river"]["retired"] == error
    assert "retired" not in report["learners"]["perceptron"]
    assert (
        command_line("inspect", tmp_path / "state", "--allow-pickle", "--json").lines[0]["events"] == report["events"]
    )


def test_a_failing_external_model_can_stop_the_run(stream: Path, tmp_path: Path) -> None:
    """Exit code 3; the run can be resumed from the last checkpoint."""
    config = tmp_path / "failing.toml"
    config.write_text(FAILING)
    stop = (
        "--set",
        "learners.river.on_error=stop",
        "--set",
        "learners.river.show_errors=true",
        "--set",
        "checkpoint.every_events=50",
    )
    done = command_line(*arguments(stream, config, tmp_path), *stop, code=3)
    assert done.err.startswith("streamlin: learner river failed at ")
    assert done.err.endswith(": ValueError: no more lessons\n")
    (found,) = command_line("inspect", tmp_path / "state", "--allow-pickle", "--json").lines
    assert found["events"] == 50
    done = command_line(*arguments(stream, config, tmp_path), *stop, "--limit", 49)
    assert done.out.startswith("99 events")


def test_external_models_learn_the_texts_of_delayed_labels(stream: Path, config: Path, tmp_path: Path) -> None:
    """The texts that external models learn are those that the labels belong to: the same result as with labels at once.

    With each label one text late an external model learns the same events in the same order.
    """
    setting = "learners=[{kind = 'river', object = 'tests.external_models.plain:Stateful', pickle = true}]"
    more = ("--set", setting, "--checkpoint", tmp_path / "state", "--set", "pipeline.batch_size=7")
    command_line("run", stream, *more, "--label-delay", 10, "--limit", 100)
    with Pipeline.load(tmp_path / "state", allow_pickle=True) as pipeline:
        seen = pipeline._state.model.external_models["river"]._adapter.model.seen
    assert seen == [event["text"] for event in json_lines(stream)[:90]]


def test_bad_external_models_never_start(stream: Path, tmp_path: Path) -> None:
    """Exit code 2, and one line names the key."""
    cases = {
        "{kind = 'river'}": "learners.river.object: a value is missing",
        "{kind = 'river', object = 'my_models'}": "learners.river.object: string should match pattern",
        "{kind = 'river', object = 'my_models:bayes'}": "my_models can't be imported: ModuleNotFoundError",
        "{kind = 'river', object = 'river.tree:HoeffdingTreeRegressor'}": "should return a river classifier, returned",
        "{kind = 'sklearn', object = 'sklearn.svm:SVC'}": "sklearn.svm._classes.SVC, which has no partial_fit",
        "{kind = 'sklearn', object = 'a:b', classes = ['x']}": "learners.sklearn.classes: needs at least two labels",
        "{kind = 'sklearn', object = 'a:b', on_error = 'x'}": "on_error: input should be 'retire' or 'stop', got 'x'",
        "{kind = 'sklearn', object = 'a:b', clases = ['x']}": "clases: unknown key; did you mean 'classes'?",
        "{kind = 'sklearn', object = 'a:b', features = 'x'}": "sklearn.features: no view 'x'; choose one of words",
    }
    for case, says in cases.items():
        line = refused("run", stream, "--set", f"learners=[{case}]", "--report", tmp_path / "report")
        assert says in line, line
    assert not (tmp_path / "report").exists()


GUEST = '''
__version__ = "1.0"


class Guest:
    """Predicts the last label."""

    last = None

    def learn_one(self, x, y):
        self.last = y

    def predict_one(self, x):
        return self.last
'''
WITH_GUEST = """
[[learners]]
kind = "perceptron"

[[learners]]
kind = "river"
name = "guest"
object = "guest:Guest"
input = "text"
pickle = true

[[learners]]
kind = "mixture"
"""


@pytest.fixture
def guested(tmp_path: Path) -> Path:
    """A folder with a module, a run that uses it, and its checkpoint."""
    (tmp_path / "guest.py").write_text(GUEST)
    (tmp_path / "guest.toml").write_text(WITH_GUEST)
    write_lines(tmp_path / "in.jsonl", [{"text": f"w{i % 5} w{i % 3}", "label": f"l{i % 2}"} for i in range(60)])
    streamlin("run", "in.jsonl", "--config", "guest.toml", "--checkpoint", "state", cwd=tmp_path, fresh=True)
    return tmp_path


def test_another_version_of_a_library_is_a_line(guested: Path) -> None:
    _, state = load(guested / "state")
    assert (state["external_models"]["guest"]["library"], state["external_models"]["guest"]["version"]) == (
        "guest",
        "1.0",
    )
    (guested / "guest.py").write_text(GUEST.replace("1.0", "1.1.0"))
    line = "streamlin: guest was saved with guest 1.0 and is used with 1.1.0: it may predict otherwise, or fail\n"
    for command in (
        ("inspect", "state", "--allow-pickle"),
        ("predict", "state", "in.jsonl", "--allow-pickle"),
        ("explain", "state", "w1", "--learner", "perceptron", "--allow-pickle"),
    ):
        assert line in streamlin(*command, cwd=guested, fresh=True).err
    with (guested / "in.jsonl").open("a") as file:
        file.write('{"text": "w1", "label": "l1"}\n')
    done = streamlin("run", "in.jsonl", "--config", "guest.toml", "--checkpoint", "state", cwd=guested, fresh=True)
    assert line in done.err


def test_the_other_learners_are_usable_where_a_module_is_gone(guested: Path) -> None:
    """Nothing is imported or unpickled; a run goes on, and its next checkpoint has no pickle."""
    (guested / "guest.py").unlink()
    assert "No module named 'guest'" in refused_by_process("inspect", "state", "--allow-pickle", code=2, cwd=guested)
    assert "--without-external-models" in refused_by_process("inspect", "state", code=4, cwd=guested)
    without = ("state", "--without-external-models")
    assert "perceptron" in streamlin("inspect", *without, cwd=guested).out
    assert "w1" in streamlin("explain", *without, "w1", "--learner", "perceptron", cwd=guested).out
    lines = streamlin("predict", *without, cwd=guested, stdin=b'{"text": "w1 w2"}\n').lines
    assert lines[0]["learners"]["guest"] is None
    assert lines[0]["learners"]["perceptron"] in ("l0", "l1")
    with Pipeline.load(guested / "state", external_models=False) as pipeline:
        assert pipeline.predict_one("w1 w2") in ("l0", "l1")
    with (guested / "in.jsonl").open("a") as file:
        file.write('{"text": "w1", "label": "l1"}\n')
    run = ("run", "in.jsonl", "--config", "guest.toml", "--checkpoint", "state")
    done = streamlin(*run, "--set", "checkpoint.external_models=leave_out", cwd=guested)
    assert "guest is retired, it failed at the start: left out (checkpoint.external_models)" in done.out
    arrays, state = load(guested / "state")
    assert state["evaluation"]["events"] == 61
    assert "learners/guest/pickle" not in arrays
