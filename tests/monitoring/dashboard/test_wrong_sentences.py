"""The list of sentences of which the lead got tags wrong."""

import numpy as np

from streamlin.evaluation.tagging import TagPredictions
from streamlin.events import Batch, TokenColumns, single_records
from streamlin.monitoring.dashboard.mistakes import KEPT, Mistakes
from streamlin.tagging.model import LearnedSentences

TAGS = ["DET", "NOUN", "<b>"]
DET, NOUN, BOLD = range(3)


def learned(
    sentences: list[list[tuple[str, int, int]]], confidence: float = np.nan, begin: int = 0
) -> LearnedSentences:
    """Sentences of tokens with their true and their predicted tags."""
    rows = [row for sentence in sentences for row in sentence]
    n = len(sentences)
    batch = Batch(
        ids=[f"s{begin + i}" for i in range(n)],
        texts=[token for token, _, _ in rows],
        labels=[None] * n,
        weights=np.ones(n),
        times=np.full(n, np.nan),
        extra={},
        records=single_records([b"x"] * n),
        kept=np.arange(n),
        pieces=np.cumsum([0, *map(len, sentences)]),
        tokens=TokenColumns([None] * len(rows)),
    )
    tags = np.array([[predicted for _, _, predicted in rows]], np.int32)
    shares, none = np.full((1, n), confidence), np.zeros((1, 0), np.float32)
    predictions = TagPredictions(tags, np.zeros(n, np.int32), shares, none, tags, np.empty((0, n)))
    codes = np.array([tag for _, tag, _ in rows], np.int32)
    assert batch.pieces is not None
    return LearnedSentences(batch, codes, predictions, batch.pieces, (batch, batch[:0]))


def test_wrong_tokens_are_marked_with_both_tags() -> None:
    """Those without a known tag are not wrong; a token may have had no prediction, and a tag may be markup."""
    mistakes = Mistakes(hide_text=False)
    right = [("a", DET, DET)]
    wrong = [("the", DET, DET), ("old", -1, NOUN), ("man", NOUN, DET), ("boats", BOLD, -1), (".", DET, DET)]
    mistakes.learned(learned([right, wrong], 0.123456))
    assert mistakes.listed(TAGS) == [
        {
            "event": "s1",
            "parts": [
                "the old",
                {"token": "man", "predicted": "DET", "label": "NOUN"},
                {"token": "boats", "predicted": None, "label": "<b>"},
                ".",
            ],
            "wrong": 2,
            "known": 4,
            "confidence": 0.123,
        }
    ]


def test_of_a_long_sentence_the_wrong_tokens_and_those_beside_are_shown() -> None:
    """100 tokens of which the 30th and the 60th are wrong, then 50 of a million of characters that all are."""
    long = [(f"t{i}", DET, NOUN if i in (30, 60) else DET) for i in range(100)]
    mistakes = Mistakes(hide_text=False)
    mistakes.learned(learned([long, [("\n" + "x" * 1_000_000, DET, NOUN)] * 50]))
    huge, found = mistakes.listed(TAGS)
    before, at = (
        "… t22 t23 t24 t25 t26 t27 t28 t29",
        "t31 t32 t33 t34 t35 t36 t37 t38 … t52 t53 t54 t55 t56 t57 t58 t59",
    )
    assert [part if isinstance(part, str) else part["token"] for part in found["parts"]] == [
        *(before, "t30", at, "t60"),
        "t61 t62 t63 t64 t65 t66 t67 t68 …",
    ]
    assert (huge["wrong"], len([part for part in huge["parts"] if isinstance(part, dict)])) == (50, 12)
    assert huge["parts"][0]["token"] == " " + "x" * 38 + "…"
    assert sum(len(str(part)) for part in huge["parts"]) < 3000


def test_hidden_tokens_are_not_even_kept() -> None:
    mistakes = Mistakes(hide_text=True)
    mistakes.learned(learned([[("secret", DET, NOUN), ("word", DET, DET)]]))
    (found,) = mistakes.listed(TAGS)
    assert found["parts"] == [{"token": None, "predicted": "NOUN", "label": "DET"}]
    assert (found["wrong"], found["known"], found["confidence"]) == (1, 2, None)
    assert "secret" not in repr(mistakes.__dict__)


def test_the_last_twenty_do_not_depend_on_batches() -> None:
    """Of 50 wrong sentences the last 20, the newest first, in batches of 50 and of 7 alike."""
    listed = []
    for size in (50, 7):
        mistakes = Mistakes(hide_text=False)
        for begin in range(0, 50, size):
            mistakes.learned(learned([[("a", DET, NOUN)]] * min(size, 50 - begin), begin=begin))
        listed.append([mistake["event"] for mistake in mistakes.listed(TAGS)])
    assert listed[0] == listed[1] == [f"s{i}" for i in range(49, 49 - KEPT, -1)]
