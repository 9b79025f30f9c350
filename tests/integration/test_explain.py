"""`streamlin explain`, and names of features from a run through the checkpoint to `inspect`."""

import gzip
import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from streamlin import Pipeline, RecordError
from streamlin.checkpoint.file import load
from tests.command_line import command_line, refused
from tests.integration.conftest import Reference
from tests.integration.streams import assert_same_state, content, measured, write_lines
from tests.integration.test_predict_inspect import LEARNERS

TEXT = "Free prize! Call now, see you at lunch"


@pytest.fixture(scope="module")
def named(reference: Reference, folder: Path) -> Path:
    """A checkpoint of the reference run with names; its first part ran in batches of 7 on one thread."""
    state = folder / "named"
    run = ("run", reference.stream, "--checkpoint", state, "--dead-letters", "null://", "--set", "features.names=5000")
    command_line(*run, "--limit", 500, "--set", "pipeline.batch_size=7", "--set", "pipeline.threads=1")
    command_line(*run, "--predictions", folder / "named.jsonl", "--report", folder / "named.json")
    return state


def test_kept_names_change_neither_predictions_nor_weights(
    reference: Reference, named: Path, folder: Path, tmp_path: Path
) -> None:
    """Predictions and weights equal those without names; the names equal those of an uninterrupted run."""
    predictions = content(folder / "named.jsonl")
    assert content(reference.predictions).endswith(predictions)
    assert measured(folder / "named.json")["learners"] == measured(reference.report)["learners"]
    arrays, state = load(reference.checkpoint)
    named_arrays, named_state = load(named)
    assert {name for name in named_arrays if not name.startswith("names/")} == set(arrays)
    for name, array in arrays.items():
        assert array.tobytes() == named_arrays[name].tobytes()
    assert state["fingerprint"] == named_state["fingerprint"]
    command_line(
        *("run", reference.stream, "--checkpoint", tmp_path, "--dead-letters", "null://"),
        *("--set", "features.names=5000"),
    )
    assert named_arrays["names/words/hashes"].size == 5000
    assert_same_state(tmp_path, named)


def test_inspect_shows_names_if_they_are_kept(named: Path, reference: Reference) -> None:
    by_name = command_line("inspect", named, "--top", 3)
    by_bucket = command_line("inspect", reference.checkpoint, "--top", 3)
    assert "heaviest features (name:weight)" in by_name.out
    assert "call:+" in by_name.out
    assert "features.names" not in by_name.out
    assert "heaviest features (bucket:weight)" in by_bucket.out
    assert "--set features.names=100000" in by_bucket.out
    found = json.loads(command_line("inspect", named, "--json").out)
    heaviest = found["heaviest"]["naive_bayes"]["spam"]
    assert all(isinstance(name, str) for bucket, _ in heaviest for name in found["names"]["words"].get(str(bucket), []))
    assert found["names_kept"] == {"words": 5000}


def test_names_can_be_switched_on_and_off_between_runs(reference: Reference, tmp_path: Path) -> None:
    """A checkpoint can be resumed with or without names; names that were kept stay."""
    run = ("run", reference.stream, "--checkpoint", tmp_path, "--dead-letters", "null://", "--learner", "naive_bayes")
    command_line(*run, "--limit", 300)
    command_line(*run, "--limit", 300, "--set", "features.names=1000000")
    arrays, _ = load(tmp_path)
    kept = arrays["names/words/hashes"].copy()
    assert kept.size > 1000
    command_line(*run)
    assert np.array_equal(load(tmp_path)[0]["names/words/hashes"], kept)


def test_explain_as_a_table(reference: Reference) -> None:
    out = command_line("explain", reference.checkpoint, TEXT, "--learner", "naive_bayes", "--top", 4).out
    lines = out.splitlines()
    assert lines[0].startswith("naive_bayes: spam, confidence 0.")
    assert lines[1].split() == ["n-gram", "spam", "ham"]
    assert len(lines) == 2 + 4 + 3 + 1
    every = command_line("explain", reference.checkpoint, TEXT).out
    assert [line.split(":")[0] for line in every.splitlines() if ", confidence" in line] == LEARNERS


def test_explain_as_json_says_what_predict_says(reference: Reference) -> None:
    arguments = (reference.checkpoint, "-", "lunch", "--json", "--top", 1000)
    explained = command_line("explain", *arguments, stdin=f"{TEXT}\n".encode())
    predicted = command_line("predict", reference.checkpoint, stdin=json.dumps({"text": TEXT}).encode())
    first, second = explained.lines
    assert (first["text"], second["text"]) == (TEXT, "lunch")
    [line] = predicted.lines
    assert first["predicted"] == line["predicted"]
    assert {name: told["predicted"] for name, told in first["learners"].items()} == line["learners"]
    assert round(first["learners"][first["lead"]]["confidence"], 6) == line["confidence"]
    for told in first["learners"].values():
        for label, score in told["scores"].items():
            added = sum(feature["adds"][label] for feature in told["features"])
            assert abs(told["base"][label] + added - score) < 1e-9
        assert told["rest"]["features"] == 0


def test_explain_as_a_page(reference: Reference, tmp_path: Path) -> None:
    done = command_line("explain", reference.checkpoint, TEXT, "<b>", "--html", tmp_path / "why.html", "--previous")
    assert "no label is known yet" in done.out
    html = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert "&lt;b&gt;" in html


def test_explain_with_categories(tmp_path: Path) -> None:
    events = [{"text": "a", "product": value, "label": label} for value, label in (("card", "x"), ("loan", "y")) * 4]
    stream = write_lines(tmp_path / "in.jsonl", events)
    command_line("run", stream, "--checkpoint", tmp_path / "s", "--set", "fields.categories=product")
    told = command_line("explain", tmp_path / "s", "a", "--json", "--category", "product=loan").lines[0]
    assert told["predicted"] == "y"
    assert ["product=loan"] in [feature["ngrams"] for feature in told["learners"]["perceptron"]["features"]]
    assert "FIELD=VALUE" in refused("explain", tmp_path / "s", "a", "--category", "product")
    assert "no category 'colour'" in refused("explain", tmp_path / "s", "a", "--category", "colour=red")


def test_errors_of_explain_are_one_line(reference: Reference, tmp_path: Path) -> None:
    folder = reference.checkpoint
    assert (
        refused("explain", folder, "a", "--learner", "naive_bays")
        == "no learner 'naive_bays'; did you mean 'naive_bayes'?"
    )
    assert "not UTF-8" in refused("explain", folder, "-", stdin=b"\xff")
    assert "there is no checkpoint" in refused("explain", tmp_path, "a", code=4)
    assert "--html" in refused("explain", folder, "a", "--html", tmp_path / "missing" / "why.html")
    assert refused("explain", folder, "a", "--html", "-").startswith("--html -: expected the name of a file")
    assert "TEXT" in refused("explain", folder)


@pytest.fixture(scope="module")
def tagged(data: Path, folder: Path) -> Path:
    """A checkpoint of taggers, also with a column."""
    with gzip.open(data / "pos-ud-ewt.jsonl.gz", "rt", encoding="utf-8", newline="\n") as lines:
        events = [json.loads(line) for line in islice(lines, 120)]
    stream = write_lines(folder / "sentences.jsonl", events)
    run = ("run", stream, "--task", "tagging")
    command_line(*run, "--checkpoint", folder / "tagged")
    command_line(
        *(*run, "--checkpoint", folder / "columns", "--learner", "crf", "--set", "fields.columns=tags"),
        *("--set", "fields.tags=xpos"),
    )
    return folder / "tagged"


def test_explain_tags_as_json_says_what_predict_says(tagged: Path) -> None:
    text = "The old dog sleeps, today"
    told, second = command_line("explain", tagged, text, "-", "--json", "--top", 3, stdin=b"A dog\n").lines
    [line] = command_line("predict", tagged, stdin=json.dumps({"text": text}).encode()).lines
    assert told["tokens"] == ["The", "old", "dog", "sleeps", ",", "today"]
    assert second["tokens"] == ["A", "dog"]
    assert told["predicted"] == line["predicted"]
    assert {name: found["predicted"] for name, found in told["learners"].items()} == line["learners"]
    assert round(told["learners"][told["lead"]]["confidence"], 6) == line["confidence"]
    for found in told["learners"].values():
        for token in found["tokens"]:
            for tag, score in token["scores"].items():
                added = [term["adds"][tag] for term in (*token["features"], *token["beside"], token["rest"])]
                assert abs(sum(added) - score) < 1e-9


def test_explain_tags_as_tables_and_a_page(tagged: Path, tmp_path: Path) -> None:
    arguments = ("a dog", "<b>", "--learner", "crf", "--top", 2, "--html", tmp_path / "why.html")
    lines = command_line("explain", tagged, *arguments).out.splitlines()
    assert lines[0].startswith("crf: DET NOUN, confidence 0.")
    assert lines[3].split()[:2] == ["feature", "DET"]
    html = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert html.count("<hr>") == 1
    assert "<ruby>dog<rt>NOUN</rt></ruby>" in html
    assert "<ruby>&lt;<rt>" in html


def test_explain_events_with_columns(tagged: Path) -> None:
    """Given as JSON, or on standard input, one per line."""
    events = [{"tokens": ["do", "n't"], "tags": ["AUX", "PART"]}, {"tokens": ["dog"], "tags": ["NOUN"]}]
    stdin = "\n".join(map(json.dumps, events)).encode()
    state = tagged.parent / "columns"
    first, second = command_line("explain", state, "-", "--events", "--json", "--top", 99, stdin=stdin).lines
    assert (first["tokens"], second["tokens"]) == (["do", "n't"], ["dog"])
    named = [feature["feature"] for feature in first["learners"]["crf"]["tokens"][1]["features"]]
    assert "tags-1|tags=AUX|PART" in named
    [alone] = command_line("explain", state, json.dumps(events[0]), "--events", "--json", "--top", 99).lines
    assert alone == first


def test_explain_events_of_texts(tmp_path: Path) -> None:
    """Several text fields, and categories, which the option gives for the other form."""
    events = [{"a": "x y", "b": "z", "product": value, "label": label} for value, label in (("p", "u"), ("q", "v")) * 4]
    fields = ("--set", 'fields.text=["a", "b"]', "--set", "fields.categories=product")
    command_line("run", write_lines(tmp_path / "in.jsonl", events), "--checkpoint", tmp_path / "s", *fields)
    event = json.dumps({"a": "x", "b": "z", "product": "q"})
    told = command_line("explain", tmp_path / "s", event, "--events", "--json", "--top", 99).lines[0]
    assert told["text"] == "x\nz"
    ngrams = [feature["ngrams"] for feature in told["learners"]["perceptron"]["features"]]
    assert ["product=q"] in ngrams
    assert "--category: not with --events" in refused(
        "explain", tmp_path / "s", event, "--events", "--category", "product=q"
    )


def test_an_event_that_is_only_a_label_is_not_explained(tmp_path: Path) -> None:
    """With late labels it is one of an earlier text; there is nothing to explain."""
    events = [{"id": "1", "text": "win"}, {"id": "1", "label": "spam"}]
    run = ("run", write_lines(tmp_path / "in.jsonl", events), "--late-labels", "--checkpoint", tmp_path / "s")
    command_line(*run)
    event = json.dumps({"id": "1", "label": "spam"})
    says = refused("explain", tmp_path / "s", event, "--events")
    assert says == "TEXT: expected a text, found only a label"
    with Pipeline.load(tmp_path / "s") as pipeline, pytest.raises(RecordError, match="found only a label"):
        pipeline.explain({"id": "1", "label": "spam"})


def test_errors_of_explaining_tags_are_one_line(tagged: Path) -> None:
    for text in ("", " \n"):
        assert refused("explain", tagged, text) == "TEXT: the sentence has no tokens, expected at least one to explain"
    assert refused("explain", tagged, "a", "--learner", "hm") == "no learner 'hm'; did you mean 'hmm'?"
    assert "--category: not for task = 'tagging'" in refused("explain", tagged, "a", "--category", "a=b")
    for event, says in (
        ('{"tokens": []}', "TEXT: the sentence has no tokens"),
        ('{"tokens": "a"}', "TEXT: tokens is of type str, expected array or null"),
        ('["a"]', "is not a JSON object, as --events expects"),
        ('{"tokens', "is not a JSON object, as --events expects"),
        ('{"text": 5}', "TEXT: text is"),
        ('{"label": "x"}', "TEXT: tokens and text are missing"),
    ):
        assert says in refused("explain", tagged, event, "--events")
    columns = tagged.parent / "columns"
    says = refused("explain", columns, '{"tokens": ["a", "b"], "tags": ["X"]}', "--events")
    assert says == "TEXT: tags has 1 values for 2 tokens, expected as many"
