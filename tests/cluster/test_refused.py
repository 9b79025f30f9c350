"""What is refused before any worker is started, and what a worker refuses."""

import sys
from pickle import UnpicklingError
from unittest.mock import patch

import pytest

from streamlin.cluster.messages import Copy, Work, pack, settings, to_learn
from streamlin.cluster.worker import OutOfStepError, Worker
from streamlin.errors import ConfigError
from streamlin.model import Model
from streamlin.version import __version__
from tests.command_line import refused
from tests.integration.streams import write_lines
from tests.sample_streams import Example
from tests.sharding.running import config_of, model_of, piece_of

LEARNER = {"kind": "perceptron"}


def work_of(model):
    piece = piece_of(model, [Example({1: 1.0}, "x"), Example({2: 1.0}, "y")])
    return pack([Work(0, [to_learn(piece, ())])])


@pytest.fixture
def worker():
    """A worker with a new model."""
    worker, model = Worker(), model_of(LEARNER)
    worker.restore(__version__, pack(Copy(settings(config_of(LEARNER)), 0, *Model.state(model))))
    return worker


def test_a_new_worker_learns_nothing():
    with pytest.raises(OutOfStepError):
        Worker().learn(1, work_of(model_of(LEARNER)), 0)


def test_a_worker_learns_the_next_round_alone(worker):
    work = work_of(model_of(LEARNER))
    first = worker.learn(1, work, 0)
    assert worker.learn(1, work, 0)[0] == first[0]
    for number in (0, 3, 4):
        with pytest.raises(OutOfStepError):
            worker.learn(number, work, 1)
    worker.learn(2, work, 1)
    with pytest.raises(OutOfStepError):
        worker.learn(1, work, 0)


@pytest.mark.parametrize(("shards", "parts"), [(0, ()), (2, ()), (1, (pack([None]),))])
def test_a_worker_mixes_the_parts_of_all_shards_or_none(worker, shards, parts):
    work = work_of(model_of(LEARNER))
    worker.learn(1, work, 0)
    with pytest.raises(OutOfStepError):
        worker.learn(2, work, shards, *parts)
    with pytest.raises(OutOfStepError):
        worker.learn(1, work, 0)


def test_a_worker_that_could_not_mix_learns_nothing_more(worker):
    work = work_of(model_of(LEARNER))
    worker.learn(1, work, 0)
    with pytest.raises(UnpicklingError):
        worker.learn(2, work, 2, [b"no parts"])
    with pytest.raises(OutOfStepError):
        worker.learn(1, work, 0)


def test_another_version_is_refused_before_the_copy_is_read(worker):
    with pytest.raises(ConfigError, match=r"a worker has streamlin .*, but the run 0\.0\.1; install the same"):
        worker.restore("0.0.1", b"of another time")


@pytest.fixture
def stream(tmp_path):
    return write_lines(tmp_path / "two.jsonl", [{"text": "a", "label": "x"}, {"text": "b", "label": "y"}])


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--workers", 2), "cluster.workers: 2 workers need shards to learn; give mixing.shards (--shards)"),
        (("--shards", 2, "--workers", 3), "3 workers can't share mixing.shards = 2; use at most 2 workers"),
        (("--shards", 2, "--workers", 0), "cluster.workers"),
        (("--shards", 2, "--address", "a:1"), "nothing runs there without cluster.workers (--workers N)"),
        (("--shards", 2, "--workers", 2, "--address", "nowhere"), "cluster.address"),
    ],
)
def test_workers_without_work_are_refused(stream, options, wanted):
    assert wanted in refused("run", stream, *options)


def test_a_missing_ray_is_named_with_its_extra(stream):
    with patch.dict(sys.modules, {"ray": None}):
        line = refused("run", stream, "--shards", 2, "--workers", 2)
    assert line == "--workers needs ray, which is not installed: pip install 'streamlin[cluster]'"


def test_a_damaged_checkpoint_is_refused_before_workers_start(stream, tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "checkpoint.safetensors").write_bytes(b"nothing")
    with patch.dict(sys.modules, {"ray": None}):
        line = refused("run", stream, "--shards", 2, "--workers", 2, "--checkpoint", tmp_path / "state", code=4)
    assert "checkpoint.safetensors" in line
