"""Tables and lists of the pages are complete and correct."""

import re
import tomllib
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer.main

import streamlin
from connectors.kafka.options import SINK, SOURCE
from connectors.synthetic.options import SyntheticOptions
from generator.keys import keys, own_keys
from streamlin import Pipeline, testing
from streamlin.cli import app
from streamlin.config.loading import load_config
from streamlin.evaluation.metrics import METRICS, PARSING, TAGGING, TOPICS
from streamlin.formats import FORMATS, format_of, option_names
from streamlin.formats.log_presets import PRESETS
from streamlin.learners import KINDS
from streamlin.monitoring.prometheus.families import families
from streamlin.running.loop import Run
from tests.docs.pages import DOCS, PAGES, README, ROOT, Page, quoted, table_rows
from tests.silent import Silent

COMMANDS = Page("docs/commands.md")
COMPARISON = Page("docs/comparison.md")
CONFIGURATION = Page("docs/configuration.md")
CONNECTORS = Page("docs/connectors.md")
CONTRIBUTING = Page("CONTRIBUTING.md")
EVALUATION = Page("docs/evaluation.md")
LEARNERS = Page("docs/learners.md")
WATCHING = Page("docs/watching.md")


def commands() -> dict[str, Any]:
    return typer.main.get_command(app).commands  # type: ignore[attr-defined,no-any-return]  # a group


def test_the_table_of_options_is_complete() -> None:
    """It lists for each command exactly the options that it has."""
    real = {
        (name, f"{parameter.opts[0]} {parameter.metavar or ''}".strip())
        for name, command in commands().items()
        for parameter in command.params
        if parameter.param_type_name == "option" and parameter.name != "help" and not parameter.hidden
    }
    listed = {
        (command, option)
        for option_cell, command_cell, _ in COMMANDS.rows("option")
        for option in quoted(option_cell)
        for command in quoted(command_cell)
    }
    assert listed == real


def test_the_table_of_commands_is_complete() -> None:
    """The table of commands has each command and its arguments."""
    listed = [quoted(row[0])[0].split()[1:] for row in table_rows(COMMANDS.section("Commands"), "command")]
    real = [
        [name, *(p.metavar if p.required else f"[{p.metavar}]" for p in c.params if p.param_type_name == "argument")]
        for name, c in commands().items()
    ]
    assert sorted(listed) == sorted(real)


def test_the_tables_of_configuration_keys_are_complete() -> None:
    """The tables of keys have every key with its values and its default, and no other."""
    listed = {quoted(key)[0]: (values, default) for key, values, default, _ in CONFIGURATION.rows("key")}
    assert listed == {name: (key.values, key.default) for name, key in keys().items()}


def test_the_table_of_formats_is_complete() -> None:
    """The table of formats has each format, its suffixes and its options."""
    table = CONNECTORS.rows("format")
    assert [quoted(row[0])[0] for row in table] == list(FORMATS)
    for name_cell, suffixes, _, options in table:
        (name,) = quoted(name_cell)
        assert {format_of(f"x{suffix}") for suffix in quoted(suffixes)} <= {name}
        assert {option.split("=")[0] for option in quoted(options)} == option_names(name)


def test_the_list_of_log_presets_is_complete() -> None:
    """Presets of the format `regex`."""
    (line,) = re.findall(r"^Presets of `regex`: ([^.]*)", CONNECTORS.section("Formats"), re.MULTILINE)
    assert quoted(line) == list(PRESETS)


def test_the_table_of_synthetic_options_is_complete() -> None:
    """Options of `synthetic://`, with their defaults."""
    listed = {
        quoted(name)[0]: (quoted(default) or [None])[0]
        for name, default, _ in CONNECTORS.rows("option of a synthetic stream")
    }
    real = {field.name: None if field.default is None else str(field.default) for field in fields(SyntheticOptions)}
    assert listed == real


@pytest.mark.parametrize(("kind", "real"), [("source", SOURCE), ("sink", SINK)])
def test_the_tables_of_kafka_options_are_complete(kind: str, real: tuple[str, ...]) -> None:
    """Options of a Kafka source and sink, and those passed to the client."""
    listed = [name for cell, _, _ in CONNECTORS.rows(f"option of a Kafka {kind}") for name in quoted(cell)]
    assert sorted(listed) == sorted([*real, "client.NAME"])


def test_the_table_of_the_report_is_complete() -> None:
    """It has each key of the report; keys of learners and baselines are explained somewhere on the page."""
    pipeline = Pipeline(learners=["naive_bayes", "perceptron"])
    report = pipeline.learn_many(["a", "b", "a"], ["x", "y", "x"]).metrics
    rows = table_rows(EVALUATION.section("The report"), "key")
    listed = {name for first, _ in rows if "only" not in first for name in quoted(first)}
    assert listed == set(report) | {
        "asking",
        "keys",
        "delayed_labels",
        "label_hint",
        "lag",
        "missing_fields",
        "novelty",
        "surprise",
        "templates",
        "topics",
        "unverified",
    }
    for name in {*report["learners"]["naive_bayes"], *report["baselines"]["majority"]}:
        of_all = name.removeprefix("window_").removeprefix("fading_")
        assert f"`{name}`" in EVALUATION.prose or f"`{of_all}`" in EVALUATION.prose, name


def test_the_table_of_prometheus_metrics_is_complete(tmp_path: Path) -> None:
    """It has each metric that a run exports, and those that only some runs have."""
    rows = ['{"id": "1", "text": "a"}', '{"id": "1", "label": "x"}', '{"id": "2", "text": "b", "label": "y"}']
    (tmp_path / "in.jsonl").write_text("\n".join(rows))
    flags = {
        "source.url": str(tmp_path / "in.jsonl"),
        "checkpoint.path": str(tmp_path / "state"),
        "drain.enabled": True,
        "delayed_labels.enabled": True,
        "evaluation.novelty": True,
        "surprise.model": "kneser_ney",
        "keys.per": "split",
    }
    with closing(Run(load_config(flags=flags, learners=["naive_bayes"], environment={}), Silent())) as run:
        run.run()
        found = families(run)
    exported = {family.name.removeprefix("streamlin_") + "_total" * (family.type == "counter") for family in found}
    listed = {name for cell, _, _ in WATCHING.rows("metric") for name in quoted(cell)}
    assert {name for name in exported if not name.startswith("delayed_labels_")} <= listed
    of_texts = {metric for group in METRICS for metric in group}
    of_sentences = {metric for group in (*TAGGING, *PARSING, *TOPICS) for metric in group} - of_texts
    named = {name for metric in of_sentences for name in metric.prometheus.values()} | {"too_long_total"}
    of_workers = {f"worker_{name}_total" for name in ("events", "learning_seconds", "mixing_seconds", "restarts")}
    others = {"lag_events", "checkpoint_age_seconds", "ready", "healthy", "rounds_total", *of_workers}
    assert listed - exported == others | named


def test_the_table_of_extras_is_complete() -> None:
    """Every extra of a `pip install 'streamlin[…]'` on the pages exists."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = re.findall(r"'(?:streamlin|\.)\[(\w+)\]'", "".join(page.text for page in PAGES))
    assert {"kafka", "confluent", "dashboard", "metrics"} <= set(named) <= set(extras)


def test_the_table_of_learners_is_complete() -> None:
    """Each learner has a section, whose table has each of its parameters with its values and default."""
    headings = re.findall(r"^## (.*`(\w+)`)$", LEARNERS.prose, re.MULTILINE)
    assert [kind for _, kind in headings] == [*KINDS, "mixture"]
    for title, kind in headings:
        rows = table_rows(LEARNERS.section(title), "parameter")
        listed = {quoted(name)[0]: (values, default) for name, values, default, _ in rows}
        assert listed == {name: (key.values, key.default) for name, key in own_keys(kind).items()}, kind


def test_the_reference_has_every_public_name() -> None:
    """It has each public name and the checks of `streamlin.testing`."""
    named = re.findall(r"^::: ([\w.]+)$", "".join(page.text for page in PAGES), re.MULTILINE)
    assert len(named) == len(set(named))
    checks = [f"streamlin.testing.{name}" for name in vars(testing) if name.startswith("check_")]
    assert {f"streamlin.{name}" for name in streamlin.__all__} | set(checks) <= set(named)


def test_the_list_of_make_targets_is_complete() -> None:
    """Each `make …` is a target of the Makefile."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = "".join(page.text for page in PAGES)
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert {"demo", "test", "lint", "bench", "docs"} <= named <= targets


def test_links_of_pages_lead_somewhere() -> None:
    """Links within the repository lead to existing files and headings."""
    pages = {page.path: page for page in (*PAGES, CONTRIBUTING)}
    for page in pages.values():
        for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", page.prose):
            path, _, anchor = target.partition("#")
            file = (page.path.parent / path).resolve() if path else page.path
            assert file.exists(), f"{page}: {target}"
            assert not anchor or anchor in pages[file].anchors, f"{page}: {target}"
            assert page in (README, CONTRIBUTING) or DOCS in file.parents, f"{page}: {target} is not of the site"


def test_the_readme_is_short() -> None:
    assert README.text.count("\n") <= 200


def test_readme_accuracies_are_those_of_the_comparison() -> None:
    """Each tool's accuracy in the README's table is the one that the comparison lists for that stream."""
    measured = {stream: cells for stream, *cells in COMPARISON.rows("stream") if len(cells) == 8}
    for stream, *cells in README.rows("stream"):
        events, labels, _, *others = measured[stream]
        assert [cell.strip("*") for cell in cells] == [events, labels, *(other.split()[0] for other in others)], stream
