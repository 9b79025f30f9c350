"""What a service measures of events without labels."""

import json
from pathlib import Path

import pytest

from tests.command_line import command_line
from tests.integration.streams import write_lines
from tests.service.served import served

NOVELTY = ("--set", "evaluation.novelty=true", "--set", "pipeline.novelty=true")
SURPRISE = ("--set", "surprise.model=witten_bell")


@pytest.mark.parametrize(
    ("options", "learned", "asked"),
    [
        (("--learner", "naive_bayes", *SURPRISE), {"text": "a b", "label": "x"}, [{"text": "a b c d"}, {"text": "…"}]),
        (
            ("--task", "tagging", "--learner", "hmm"),
            {"tokens": ["a", "b"], "tags": ["X", "Y"]},
            [{"tokens": ["a", "b", "c", "d"]}, {"tokens": []}],
        ),
    ],
)
def test_answers_have_what_prediction_lines_have(
    options: tuple[str, ...], learned: dict[str, object], asked: list[dict[str, object]], tmp_path: Path
) -> None:
    """Each answer is the line that `predict` writes; asking counts nothing."""
    with served(tmp_path / "state", *options, *NOVELTY) as service:
        service.post("/learn", learned)
        service.learned(1)
        answers = [service.post("/predict", asked).value for _ in range(2)]
        assert service.figures()["streamlin_new_tokens_total"] == 2
        service.ended()
    lines = tmp_path / "lines.jsonl"
    command_line("predict", tmp_path / "state", write_lines(tmp_path / "e.jsonl", asked), "--predictions", lines)
    expected = [json.loads(line) for line in lines.read_text().splitlines()]
    for line in expected:
        del line["position"]
    assert [line["novelty"] for line in expected] == [0.5, None]
    assert [line.get("surprise", -1) is None for line in expected] == [False, "text" in learned]
    assert answers == [expected, expected]
