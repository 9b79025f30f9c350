"""Long labels, ids and fields, and large answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import command_line
from tests.integration.processes import memory_of
from tests.integration.streams import json_lines, write_lines
from tests.service.served import Served, served

LIMITS = {"label": ("label", 1000), "id": ("id", 4000), "product": ("field", 10_000), "split": ("field", 10_000)}
FIELDS = ("--set", 'fields.categories=["product"]', "--set", 'evaluation.slice_by=["split"]', "--learner", "perceptron")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """With further fields, and room for answers of 200,000 bytes."""
    limit = ("--set", "serve.max_answer_bytes=200_000", "--late-labels")
    with served(tmp_path_factory.mktemp("lengths") / "state", *FIELDS, *limit) as running:
        yield running


def event(name: str, value: Any) -> dict[str, Any]:
    """An event with this value of a key or a further field."""
    made: dict[str, Any] = {"text": "a", "label": "b"}
    return made | ({name: value} if name in ("label", "id") else {"fields": {name: value}})


@pytest.mark.parametrize("name", LIMITS)
def test_long_values_get_422_that_names_the_key(own: Served, name: str) -> None:
    kind, most = LIMITS[name]
    before = len(own.lines)
    where = name if name in ("label", "id") else f"fields.{name}"
    reason = f"{where}: {most + 1:,} characters, but at most pipeline.max_{kind}_characters = {most:,}"
    for path in ("/learn", "/predict", "/predict?await_label=1")[: 1 if name == "label" else 3]:
        long = event(name, "é" * (most + 1))
        if path != "/learn":
            del long["label"]
        answer = own.post(path, long)
        assert (answer.status, answer.error) == (422, reason)
        answer = own.post(path, [long])
        assert (answer.status, answer.error) == (422, f"[0].{reason}")
    assert len(own.lines) == before
    assert own.post("/learn", event(name, "é" * most)).status == 202


def test_long_numbers_get_422(own: Served) -> None:
    answer = own.post("/learn", event("label", 10**2000))
    assert answer.status == 422
    assert own.post("/learn", event("label", 10**99)).status == 202


def test_a_large_answer_gets_422_that_names_the_key(own: Served) -> None:
    own.post("/learn", event("label", "x" * 1000))
    own.post("/learn", event("label", "y" * 1000))
    asked = [{"text": "a"} for _ in range(200)]
    answer = own.post("/predict", asked)
    assert answer.status == 422
    assert answer.error == "the answer is over serve.max_answer_bytes = 200,000: ask for fewer texts at a time"
    assert len(own.post("/predict", asked[:20]).value) == 20


def test_the_document_names_the_bounds(own: Served) -> None:
    schemas = own.ask("GET", "/openapi.json").value["components"]["schemas"]
    for model, name, most in (("Example", "label", 1000), ("Text", "id", 4000), ("Fields", "product", 10_000)):
        assert schemas[model]["properties"][name]["anyOf"][0]["maxLength"] == most


def test_long_values_are_dead_letters_in_a_run(tmp_path: Path) -> None:
    """At any batch size; their bounds can be changed."""
    longs = [{"text": "t" * 100, "label": "b", name: "x" * (most + 1)} for name, (_, most) in LIMITS.items()]
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "label": "a"}, *longs, {"text": "b", "label": "b"}])
    outs = []
    for size in (1, 4000):
        dead, out = tmp_path / f"dead{size}", tmp_path / f"out{size}"
        sizes = ("--set", f"pipeline.batch_size={size}")
        command_line("run", stream, *FIELDS, *sizes, "--dead-letters", dead, "--predictions", out)
        errors = [letter["error"] for letter in json_lines(dead)]
        assert len(errors) == 4
        for error, (kind, most) in zip(errors, LIMITS.values(), strict=True):
            bound = f"pipeline.max_{kind}_characters = {most:,}"
            assert error.endswith(f"has {most + 1:,} characters, expected at most {bound}")
        outs.append(out.read_bytes())
    assert outs[0] == outs[1]
    assert len(json_lines(tmp_path / "out1")) == 2
    more = [("--set", f"pipeline.max_{kind}_characters={most + 1}") for kind, most in LIMITS.values()]
    report = tmp_path / "report.json"
    command_line("run", stream, *FIELDS, *sum(more, ()), "--report", report)
    assert json.loads(report.read_text())["events"] == 6


def test_long_labels_of_an_older_service_make_no_huge_answers(tmp_path: Path) -> None:
    """A label of a megabyte that was accepted with another limit; a hundred texts would get 600 MB."""
    state = tmp_path / "state"
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "label": end + "x" * 1_000_000} for end in "ab"])
    command_line("run", stream, "--checkpoint", state, "--set", "pipeline.max_label_characters=2000000")
    with served(state) as service:
        before = memory_of(service.process)
        assert service.post("/predict", [{"text": "a"}] * 100).status == 422
        assert memory_of(service.process, "VmHWM") - before < 200
        assert service.post("/predict", [{"text": "a"}] * 5).status == 200
