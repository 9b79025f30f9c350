"""Runs with shards: the same results whatever the batches, threads and interruptions; what is refused."""

import json
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest

from streamlin import Pipeline
from streamlin.checkpoint.file import load
from streamlin.errors import ConfigError
from streamlin.sharding.plan_log import FILE
from tests.command_line import command_line, refused
from tests.integration.processes import finish, kill, start, until
from tests.integration.streams import json_lines, real_events, roughened, write_lines
from tests.locations import DATA
from tests.sharding.runs import OFTEN, SHARDS, Ran

QUIET = ("--set", "evaluation.drift=none")


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    events = roughened(real_events(DATA / "trec-6.jsonl.gz", 1500))
    return write_lines(tmp_path_factory.mktemp("stream") / "trec.jsonl", events)


@pytest.fixture(scope="module")
def reference(stream: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """An uninterrupted run."""
    ran = Ran(tmp_path_factory.mktemp("reference"))
    command_line(*ran.arguments(stream, *OFTEN))
    return ran


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return Ran(tmp_path)


@pytest.mark.parametrize(("size", "threads"), [(1, 1), (7, 2), (7, 4), (500, 1)])
def test_results_do_not_depend_on_batches_or_threads(stream, reference, ran, size, threads):
    command_line(*ran.arguments(stream), "--set", f"pipeline.batch_size={size}", "--set", f"pipeline.threads={threads}")
    ran.assert_same(reference)


def test_lines_stand_in_the_order_of_the_file(reference):
    """A line without an id has its place in the file."""
    ids = [event["id"] for event in real_events(DATA / "trec-6.jsonl.gz", 1500)]
    told = [line.get("id") for line in json_lines(reference.folder / "out.jsonl")]
    assert all(one in (wanted, None) for one, wanted in zip(told, ids, strict=True))
    assert told.count(None) < 100


def test_a_run_killed_in_rounds_and_between_them_ends_as_if_it_had_not_been(stream, reference, ran):
    """Each kill comes as soon as a plan is written, whose round then is no part of the checkpoint; the last one before
    any plan of the run, while it gathers at a slow pace.
    """
    caught = 0
    for planned in (2, 5, 7):
        process = start(*ran.arguments(stream, *OFTEN))
        until(lambda: ran.last_plan() >= planned, process)  # noqa: B023
        kill(process)
        caught += ran.last_plan() > ran.rounds()
    assert caught, "no kill came within a round"
    before = ran.rounds()
    process = start(*ran.arguments(f"{stream}?rate=300", *OFTEN))
    until(lambda: ran.last_plan() > before, process)
    kill(process)
    command_line(*ran.arguments(stream, *OFTEN))
    ran.assert_same(reference)


def test_a_stopped_run_goes_on_as_if_it_had_not_been(stream, reference, ran):
    """What it has gathered of the next round is read again."""
    process = start(*ran.arguments(f"{stream}?rate=400", *OFTEN))
    until(lambda: ran.rounds() >= 2, process)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0
    assert ran.rounds() < load(reference.folder / "state")[1]["rounds"]["number"]
    command_line(*ran.arguments(stream, *OFTEN))
    ran.assert_same(reference)


def test_the_checkpoint_before_the_last_leads_to_the_same_end(stream, reference, ran):
    command_line(*ran.arguments(stream, *OFTEN))
    command_line(*ran.arguments(stream, *OFTEN, "--previous"))
    ran.assert_same(reference)


def test_a_limit_ends_a_round_and_no_event_is_learned_twice(stream, ran):
    for _ in range(2):
        command_line(*ran.arguments(stream, "--limit", 333))
    report = json.loads((ran.folder / "report.json").read_text())
    assert report["events"] == len(json_lines(ran.folder / "out.jsonl")) == 666


def test_metrics_are_those_of_the_predictions(tmp_path):
    """Labels that several shards bring in one round have one code: hits, F1 and confusion agree with the lines."""
    stream = write_lines(tmp_path / "clinc.jsonl", real_events(DATA / "clinc150.jsonl.gz", 1200))
    lines, report = tmp_path / "out.jsonl", tmp_path / "report.json"
    command_line("run", stream, "--shards", 5, "--predictions", lines, "--report", report)
    told, found = json_lines(lines), json.loads(report.read_text())
    assert len(found["labels"]) > 100
    for name, row in found["learners"].items():
        pairs = [(line["label"], line["learners"][name]) for line in told]
        right = Counter(label for label, predicted in pairs if label == predicted)
        assert row["correct"] == right.total()
        assert row["accuracy"] == pytest.approx(right.total() / len(told))
        labels, predictions = Counter(label for label, _ in pairs), Counter(predicted for _, predicted in pairs)
        f1 = [2 * right[label] / (labels[label] + predictions[label]) for label in labels]
        assert row["macro_f1"] == pytest.approx(sum(f1) / len(f1))


def test_shards_without_events_are_told(tmp_path):
    """Five events of eight shards."""
    stream = write_lines(tmp_path / "five.jsonl", [{"text": f"word{i} a", "label": "xy"[i % 2]} for i in range(5)])
    report = tmp_path / "report.json"
    done = command_line("run", stream, "--shards", 8, "--report", report)
    assert "1 round of 8 shards, 5.0 of them in use" in done.out
    assert json.loads(report.read_text())["rounds"]["shards_in_use"] == 5


def test_one_shard_of_rounds_of_one_event_is_the_serial_run(tmp_path):
    """Naive Bayes and the perceptron: what is mixed after every event is what was learned, to rounding."""
    stream = DATA / "sms-spam.jsonl.gz"
    learners = ("--learner", "naive_bayes", "--learner", "perceptron", "--limit", 400)
    for name, shards in (("serial", ()), ("shards", ("--shards", 1, "--set", "mixing.max_events=1"))):
        command_line("run", stream, *learners, *shards, "--predictions", tmp_path / f"{name}.jsonl")
    serial, shards = (json_lines(tmp_path / f"{name}.jsonl") for name in ("serial", "shards"))
    assert [line["predicted"] for line in serial] == [line["predicted"] for line in shards]


def test_a_checkpoint_of_other_shards_is_refused(reference, stream, ran):
    line = refused(
        *("run", stream, "--shards", 4, "--set", "mixing.floor=40", "--preset", "accurate"),
        *("--checkpoint", reference.folder / "state"),
        code=4,
    )
    assert line.endswith("was made with a different configuration: mixing.shards: 3 in the checkpoint, 4 now")


def test_a_damaged_log_of_plans_is_refused(reference, stream, tmp_path):
    folder = tmp_path / "state"
    shutil.copytree(reference.folder / "state", folder)
    (folder / FILE).write_bytes(b'{"round": 99, "cuts": []}\n')
    line = refused("run", stream, *SHARDS, "--checkpoint", folder, code=4)
    assert "lacks the plan of round" in line


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--late-labels",), "delayed_labels"),
        (("--label-delay", 5), "delayed_labels"),
        (("--drain",), "drain"),
        (("--task", "tagging"), "task = 'tagging'"),
        (("--set", "surprise.model=kneser_ney"), "surprise.model"),
        (("--set", "evaluation.novelty=true"), "evaluation.novelty"),
        (("--set", "features.words.min_count=2"), "features.words.min_count"),
    ],
)
def test_what_needs_the_stream_in_one_piece_is_refused(tmp_path, options, wanted):
    line = refused("run", tmp_path / "any.jsonl", "--shards", 2, *options)
    assert f"mixing.shards: not together with {wanted}, which needs the stream in one piece" in line


@pytest.mark.parametrize(
    ("learner", "key", "wanted"),
    [
        ("sgd", "l2=0.1", "shrinks every weight with each event; use l2 = 0"),
        ("averaged_perceptron", "half_life=9", "a mean with a half_life weighs each event by its place in the stream"),
        ("naive_bayes", "half_life=9", "rounds must have at most 90 events (mixing.max_events)"),
    ],
)
def test_learners_that_can_not_be_mixed_are_refused(stream, learner, key, wanted):
    line = refused("run", stream, "--shards", 2, "--learner", learner, "--set", f"learners.{learner}.{key}")
    assert f"mixing.shards: the learner {learner} can't be sharded: " in line
    assert wanted in line


@pytest.mark.parametrize("key", ["shards=0", "growth=0", "floor=0", "max_events=0", "growth=2"])
def test_settings_beyond_their_limits_are_refused(stream, key):
    assert "mixing." in refused("run", stream, "--shards", 2, "--set", f"mixing.{key}")


def test_a_round_beyond_the_limit_of_labels_is_not_learned(tmp_path):
    stream = write_lines(tmp_path / "many.jsonl", [{"text": f"w{i // 20}", "label": f"l{i // 20}"} for i in range(200)])
    report = tmp_path / "report.json"
    line = refused("run", stream, "--shards", 2, "--set", "pipeline.max_labels=5", "--report", report, *QUIET)
    assert "pipeline.max_labels: found more than 5 labels, 'l5' at " in line
    events = json.loads(report.read_text())["events"]
    assert 0 < events < 100
    assert events % 16 == 0


def test_a_round_beyond_the_limit_of_tables_is_not_learned(tmp_path):
    report = tmp_path / "report.json"
    plain = write_lines(tmp_path / "plain.jsonl", real_events(DATA / "trec-6.jsonl.gz", 200))
    line = refused("run", plain, "--shards", 2, "--set", "pipeline.max_table_bytes=200000", "--report", report, *QUIET)
    assert "pipeline.max_table_bytes: in the round from " in line
    assert json.loads(report.read_text())["events"] > 0


def test_a_pipeline_learns_in_rounds_with_run_alone(stream):
    with Pipeline(mixing={"shards": 2}, learners=["perceptron"]) as pipeline:
        assert len(list(pipeline.run([("a b", "x"), ("c d", "y")] * 40))) == 80
        assert pipeline.predict_one("a b") == "x"
        with pytest.raises(ConfigError, match="shards learn whole rounds; use run"):
            pipeline.learn_one("a", "x")


def test_a_service_refuses_shards(reference):
    line = refused("serve", reference.folder / "state", 0)
    assert "serve: not with mixing.shards" in line


def test_the_checkpoint_predicts_and_is_inspected(reference, stream):
    done = command_line("predict", reference.folder / "state", stream)
    assert len(done.lines) == len(json_lines(reference.folder / "out.jsonl"))
    assert "naive_bayes" in command_line("inspect", reference.folder / "state").out
