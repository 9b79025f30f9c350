"""Kinds of dead letters: a bounded number of errors without their particulars."""

import pytest

from streamlin.evaluation.dead_letter_kinds import MOST_KINDS, OTHERS, DeadLetterKinds, kind_of
from streamlin.events import DeadLetter


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("not UTF-8: byte 0xff at position 7", "not UTF-8"),
        ("not JSON: invalid character (byte 4)", "not JSON"),
        ("field 'text' is missing", "field 'text' is missing"),
        ("weight is -0.5, expected a number from 0 to 1e+09", "weight is …"),
        ("time is 'a: b', expected Unix seconds or RFC 3339", "time is '…'"),
        ("the value of 'a' is \"it's\", expected a whole number", "the value of '…'"),
        ("3 cells, expected 2", "… cells"),
        ("expected a JSON object, got array", "expected a JSON object, got array"),
        ("the row can't be read: secret", "the row can't be read"),
        ("record of 100 bytes is over max_record_bytes = 10", "record of … bytes is over max_record_bytes = …"),
    ],
)
def test_a_kind_is_the_error_without_particulars(error: str, kind: str) -> None:
    assert kind_of(error) == kind


def test_the_number_of_kinds_is_bounded() -> None:
    kinds = DeadLetterKinds()
    kinds.add(DeadLetter(0, chr(97 + i) * 3) for i in range(26))
    kinds.add([DeadLetter(0, "bbb")])
    assert len(kinds.counts) == MOST_KINDS + 1
    assert list(kinds.by_frequency().items())[:2] == [(OTHERS, 6), ("bbb", 2)]


def test_what_no_longer_counts_is_taken_from_its_kind() -> None:
    """One that was counted among the others is taken from these."""
    kinds = DeadLetterKinds({"not JSON": 2, OTHERS: 1})
    for error, left in (
        ("not JSON: byte 4", {"not JSON": 1, OTHERS: 1}),
        ("3 cells, expected 2", {"not JSON": 1}),
        ("not JSON: byte 5", {}),
    ):
        kinds.remove(error)
        assert kinds.counts == left
