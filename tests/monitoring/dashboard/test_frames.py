"""Messages to pages: whoever gets each of them has the whole curve."""

import json
from typing import Any

from streamlin.monitoring.dashboard.frames import Frame


def snapshot(labelled: list[int], done: bool = False) -> dict[str, Any]:
    series = [[n / 100 for n in labelled], [n / 200 for n in labelled]]
    return {"done": done, "seconds": 1.0, "curve": {"labelled": labelled, "accuracy": series}}


def sent(message: bytes) -> dict[str, Any]:
    """The data of a server-sent event, which must be one line."""
    assert message.startswith(b"data: ")
    assert message.endswith(b"\n\n")
    assert message.count(b"\n") == 2
    data: dict[str, Any] = json.loads(message.removeprefix(b"data: "))
    return data


def test_the_first_frame_is_whole() -> None:
    frame = Frame(snapshot([1, 2]), None)
    assert frame.news == frame.whole
    assert sent(frame.whole)["curve"] == {"begin": 0, "labelled": [1, 2], "accuracy": [[0.01, 0.02], [0.005, 0.01]]}


def test_next_frame_has_the_new_points_only() -> None:
    frame = Frame(snapshot([1, 2, 3, 4]), Frame(snapshot([1, 2]), None))
    assert sent(frame.news)["curve"] == {"begin": 2, "labelled": [3, 4], "accuracy": [[0.03, 0.04], [0.015, 0.02]]}
    assert sent(frame.whole)["curve"]["labelled"] == [1, 2, 3, 4]
    assert frame.number == 2


def test_thinned_curve_is_sent_whole() -> None:
    frame = Frame(snapshot([2, 4, 6]), Frame(snapshot([1, 2, 3, 4]), None))
    assert sent(frame.news)["curve"]["begin"] == 0
    assert sent(frame.news)["curve"]["labelled"] == [2, 4, 6]


def test_frame_without_a_curve() -> None:
    lean = {"done": True, "seconds": 2.0}
    frame = Frame(lean, Frame(snapshot([1]), None))
    assert sent(frame.news) == lean
    assert frame.done
    assert sent(Frame(snapshot([1]), frame).news)["curve"]["begin"] == 0
