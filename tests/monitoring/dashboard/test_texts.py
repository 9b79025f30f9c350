"""What strangers write is shortened and can control nothing."""

from streamlin.monitoring.dashboard.texts import LONG, SHORT, shortened


def test_short_text_is_unchanged() -> None:
    assert shortened("<script>alert('é 漢')</script>", LONG) == "<script>alert('é 漢')</script>"
    assert shortened("x" * SHORT) == "x" * SHORT
    assert shortened("") == ""


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert shortened("x" * (SHORT + 1)) == "x" * (SHORT - 1) + "…"
    assert len(shortened("y" * 1_000_000, LONG)) == LONG


def test_control_characters_become_blanks() -> None:
    assert shortened("a\x00\x1b[31mb\r\nc\x85d\u2028e\x7f") == "a [31mb c d e "


def test_direction_marks_stay_and_lone_surrogates_become_question_marks() -> None:
    assert shortened("\u202eabc\u2066") == "\u202eabc\u2066"
    assert shortened("a\ud800b") == "a?b"
