"""The service does what its OpenAPI document says."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.served import Served, served


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One with further fields, and room for any number of labels."""
    limits = ("--set", "serve.max_batch=10", "--set", "pipeline.max_labels=100000", "--learner", "perceptron")
    fields = ("--set", 'fields.categories=["product"]', "--set", 'evaluation.slice_by=["meta.split"]')
    asks = ("--set", "ask.budget=0.5")
    with served(tmp_path_factory.mktemp("openapi") / "state", "--late-labels", *limits, *fields, *asks) as running:
        yield running


def test_every_answer_is_as_the_document_says(service: Served, tmp_path: Path) -> None:
    """Valid requests are accepted, others are refused as described, never with 500. Accepted events are learned."""
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", f"{service.url}openapi.json", "--no-color"]
    options = ["--checks", "all", "--max-examples", "150", "--request-timeout", "180"]
    rest = ["--seed", "1", "--generation-database", "none"]
    done = subprocess.run([*command, *options, *rest], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()
    assert b"API Operations:\n  Selected: 6/6\n  Tested: 6\n" in done.stdout
    lines = service.lines
    assert len(lines) > 100
    service.learned(sum("text" in line for line in lines))
    assert service.figures()["streamlin_dead_letters_total"] == 0


def test_the_examples_can_be_sent(service: Served) -> None:
    """Those of the document, as they are."""
    paths = service.ask("GET", "/openapi.json").value["paths"]
    for path, status in (("/predict", 200), ("/learn", 202)):
        examples = paths[path]["post"]["requestBody"]["content"]["application/json"]["examples"]
        assert list(examples) == ["one", "several"]
        for example in examples.values():
            assert service.post(path, example["value"]).status == status
