"""The checks in streamlin.testing pass for its own parts and fail for broken ones."""

from functools import partial
from math import inf

import numpy as np
import pytest

import streamlin
from connectors.files import FileSink, FileSource
from streamlin import Learner, Perceptron
from streamlin.events import SinkContext, SourceContext
from streamlin.formats.framing import Lines
from streamlin.learners import KINDS, PassiveAggressive, StochasticGradientDescent
from streamlin.testing import check_learner, check_sink, check_source


@pytest.mark.parametrize("learner", KINDS.values(), ids=KINDS.keys())
def test_built_in_learners_pass_the_check(learner):
    check_learner(learner)


@pytest.mark.parametrize(
    "learner",
    [
        partial(PassiveAggressive, C=inf, averaged=True),
        partial(PassiveAggressive, averaged=True, half_life=20.0),
        partial(StochasticGradientDescent, rate="bottou", l2=0.01),
    ],
)
def test_means_and_rates_pass_the_check(learner):
    check_learner(learner)


def test_the_file_source_passes_the_check(tmp_path):
    lines = [b"line %d" % i for i in range(50)]
    (tmp_path / "lines.txt").write_bytes(b"\n".join(lines) + b"\n")
    check_source(lambda positions: FileSource(str(tmp_path / "lines.txt"), context(positions)), lines)


def test_a_source_that_repeats_a_record_fails_the_check(tmp_path):
    (tmp_path / "lines.txt").write_bytes(b"a\nb\nc\n")

    class Forgetful(FileSource):
        def __init__(self, path, context):
            super().__init__(path, SourceContext(**vars(context) | {"positions": {}}))

    with pytest.raises(AssertionError, match="after a resume"):
        check_source(lambda positions: Forgetful(str(tmp_path / "lines.txt"), context(positions)), [b"a", b"b", b"c"])


def test_the_file_sink_passes_the_check(tmp_path):
    path = tmp_path / "out.jsonl"
    check_sink(lambda length: FileSink(str(path), SinkContext({}, length)), path.read_bytes)


def test_a_sink_that_never_truncates_fails_the_check(tmp_path):
    path = tmp_path / "out.jsonl"
    with pytest.raises(AssertionError, match="truncate everything"):
        check_sink(lambda length: FileSink(str(path), SinkContext({"mode": "append"}, None)), path.read_bytes)


class Peeking(Perceptron):
    """Uses the label of an event in its scores."""

    def score_then_learn(self, examples, targets, scores):
        super().score_then_learn(examples, targets, scores)
        for i in np.flatnonzero((targets.codes >= 0) & (targets.codes < targets.known)):
            scores[i, targets.codes[i]] += 100


class Batched(Perceptron):
    """Scores a whole batch before it learns any of it."""

    def score_then_learn(self, examples, targets, scores):
        super().score_then_learn(examples, targets._replace(codes=np.full_like(targets.codes, -1)), scores)
        super().score_then_learn(examples, targets, np.empty_like(scores))


class Overreading(Perceptron):
    """Reads beyond the entries of an event."""

    def score_then_learn(self, examples, targets, scores):
        super().score_then_learn(examples, targets, scores)
        scores[:, :1] += examples.values.size - examples.indptr[-1]


@pytest.mark.parametrize(
    ("learner", "broken"), [(Peeking, "label hidden"), (Batched, "in batches of"), (Overreading, "one by one")]
)
def test_a_learner_that_breaks_the_contract_fails_the_check(learner: type[Learner], broken):
    with pytest.raises(AssertionError, match=broken):
        check_learner(learner)


def test_the_public_names_are_pinned():
    """They are sorted, and each can be imported."""
    assert sorted(streamlin.__all__) == streamlin.__all__
    assert all(getattr(streamlin, name) is not None for name in streamlin.__all__)
    assert set(streamlin.__all__) == {
        "Arow",
        "AveragedPerceptron",
        "Batch",
        "CheckpointError",
        "ConfigError",
        "ConnectorError",
        "DecodeError",
        "Event",
        "GuestError",
        "Hinge",
        "Learner",
        "LogisticRegression",
        "NaiveBayes",
        "PassiveAggressive",
        "Perceptron",
        "Pipeline",
        "Prediction",
        "RecordError",
        "Records",
        "Results",
        "RunConfig",
        "StochasticGradientDescent",
        "StreamlinError",
        "UnknownScheme",
        "View",
        "ViewConfig",
        "load_config",
    }
    with pytest.raises(AttributeError, match="no attribute 'Learners'"):
        streamlin.Learners  # noqa: B018


def context(positions) -> SourceContext:
    """A context for a source of lines."""
    return SourceContext({}, Lines(), positions, False, 1 << 20, print)
