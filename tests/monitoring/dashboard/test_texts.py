"""What strangers write is shortened and can control nothing."""

from streamlin.monitoring.dashboard.texts import LONG, SHORT, shortened


def test_a_short_text_stays() -> None:
    assert shortened("<script>alert('é 漢')</script>", LONG) == "<script>alert('é 漢')</script>"
    assert shortened("x" * SHORT) == "x" * SHORT
    assert shortened("") == ""


def test_a_long_one_is_cut_and_says_so() -> None:
    assert shortened("x" * (SHORT + 1)) == "x" * (SHORT - 1) + "…"
    assert len(shortened("y" * 1_000_000, LONG)) == LONG


def test_what_controls_becomes_a_blank() -> None:
    assert shortened("a\x00\x1b[31mb\r\nc\x85d\u2028e\x7f") == "a [31mb c d e "


def test_marks_of_direction_stay_and_half_a_character_is_a_question_mark() -> None:
    assert shortened("\u202eabc\u2066") == "\u202eabc\u2066"
    assert shortened("a\ud800b") == "a?b"
