"""Explanations as tables on a terminal."""

import re

import pytest

from streamlin.events import Event
from streamlin.explanation import explain
from streamlin.terminal.printing import rendered
from tests import naive_features as naive
from tests.explanation.models import events_of, taught

STREAM = events_of(("win a prize now", "spam"), ("see you at lunch", "ham")) * 3
NUMBER = re.compile(r"[+-]\d+\.\d{3}")


def lines_of(explanation, top=10):
    return rendered(explanation.table(top), None).splitlines()


def test_columns_sum_to_the_score():
    """For each label: n-grams, rest and prior sum to the score; the mean over labels is subtracted from each."""
    lines = lines_of(explain(taught(STREAM), "win a lunch", ["naive_bayes"]), top=3)
    assert re.fullmatch(r"naive_bayes: spam, confidence 0\.\d+", lines[0])
    assert lines[1].split() == ["n-gram", "spam", "ham"]
    numbers = [[float(number) for number in NUMBER.findall(line)] for line in lines[2:-1]]
    assert [line.split("  ")[0] for line in lines[5:-1]] == ["1 more", "prior", "score"]
    for column in zip(*numbers, strict=True):
        assert abs(sum(column[:-1]) - column[-1]) < 0.004
    assert lines[-1] == "Not known: 1 of 5 features: a lunch"


def test_every_learner_has_a_table_also_as_text():
    explanation = explain(taught(STREAM), "win a lunch")
    assert [line.partition(":")[0] for line in lines_of(explanation) if ", confidence" in line] == list(
        explanation.learners
    )
    assert str(explanation).splitlines() == lines_of(explanation)


def test_several_views_are_named():
    text = "\n".join(lines_of(explain(taught(STREAM), "win", ["mixture"])))
    assert "win (words)" in text
    assert "␣w (letters)" in text
    assert "(words)" not in "\n".join(lines_of(explain(taught(STREAM), "win", ["perceptron"])))


def test_counts_and_colliding_ngrams_are_shown():
    features = {"bits": 1, "names": 9, "words": {"ngrams": [1, 1], "values": "counts"}}
    model = taught(events_of(("a b c d", "x"), ("e f g", "y")), [{"kind": "naive_bayes"}], features=features)
    text = str(explain(model, "a a a"))
    others = [ngram for ngram in "bcdefg" if naive.bucket(ngram, 1) == naive.bucket("a", 1)]
    assert f"a × 3 [also {' / '.join(others[:3])}" in text
    assert others


def test_the_best_five_of_many_labels_have_columns():
    events = [Event(f"w{i}", f"label{i}") for i in range(9)] * 2
    lines = lines_of(explain(taught(events), "w3", ["naive_bayes"]))
    assert lines[1].split()[:2] == ["n-gram", "label3"]
    assert len(lines[1].split()) == 6
    assert lines[-1] == "4 more labels score lower."


def test_without_labels_there_is_no_table():
    assert lines_of(explain(taught([]), "a", ["sgd"])) == ["sgd: no label is known yet"]


@pytest.mark.parametrize("odd", ["[/x]", "[bold]", "\x1b[2Jgone", "\u202eleft", "a" * 100_000, "tab\tbed", "\x00"])
def test_control_characters_do_not_reach_the_terminal(odd):
    """They are not interpreted as rich markup or control sequences, whatever their length."""
    features = {"words": {"tokens": "whitespace", "lowercase": False}}
    model = taught(events_of((odd, odd[:500]), ("b", "c")) * 2, [{"kind": "naive_bayes"}], features=features)
    text = str(explain(model, odd))
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert max(map(len, text.splitlines())) < 300
    if odd in ("[/x]", "[bold]"):
        assert text.count(odd) == 3
