"""A pipeline in a real notebook, run by a Jupyter kernel."""

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

RUN = """
import streamlin
pipeline = streamlin.Pipeline(learners=["naive_bayes", "perceptron"])
report = pipeline.run({path!r}).finish()
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """Outputs of two cells: a run, and its pipeline."""
    folder = tmp_path_factory.mktemp("notebook")
    path = folder / "in.jsonl"
    lines = [f'{{"text": "word{n % 3} <b>", "label": "label{n % 3}"}}\n' for n in range(3000)]
    path.write_text("".join([*lines, "no JSON\n"]))
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in (RUN.format(path=str(path)), "pipeline")]
    )
    kept = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    kept.execute()
    return [cell.outputs for cell in notebook.cells]


def html_of(output: Any) -> str:
    return str(output["data"]["text/html"])


def test_a_run_in_a_notebook_shows_progress_and_a_table(outputs: list[list[Any]]) -> None:
    shown, *_ = (html_of(output) for output in outputs[0] if output["output_type"] == "display_data")
    assert "3,000 events" in shown, "the end is drawn"
    assert "naive_bayes" in shown
    value, total = (int(part) for part in shown.partition('value="')[2].partition('"></progress>')[0].split('" max="'))
    assert value == total > 0


def test_news_are_printed_below_the_cell(outputs: list[list[Any]]) -> None:
    printed = "".join(output["text"] for output in outputs[0] if output["output_type"] == "stream")
    assert "dead letter at " in printed


def test_a_pipeline_is_displayed_as_its_table(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[1]
    assert "perceptron" in html_of(shown)
    assert shown["data"]["text/plain"] == "<Pipeline naive_bayes, perceptron: 3,000 events, 3 labels>"
