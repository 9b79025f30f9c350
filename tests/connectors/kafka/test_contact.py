"""What is said, and done, while no broker answers; by a clock that the test turns."""

import pytest

from connectors.kafka.contact import Contact
from streamlin.errors import ConnectorError

AWAY = ConnectorError("no broker at h:1")


class Told:
    """A contact with a patience of 10 s at first and of 100 s later; what it has told."""

    def __init__(self):
        self.now, self.lines = 1000.0, []
        self.contact = Contact("h:1", 10.0, 100.0, self.lines.append, lambda: self.now)

    def lost_after(self, seconds):
        """None answers `seconds` later either; what was told then."""
        self.now += seconds
        del self.lines[:]
        self.contact.unanswered(AWAY)
        return self.lines

    def made_after(self, seconds):
        self.now += seconds
        del self.lines[:]
        self.contact.answered()
        return self.lines


def test_a_broker_that_answers_is_no_news():
    assert Told().made_after(5) == []


def test_a_moment_without_an_answer_is_none_either():
    told = Told()
    assert told.lost_after(0) == told.lost_after(0.4) == told.made_after(0) == []


def test_one_that_goes_away_is_told_of_once_and_again_after_half_a_minute():
    told = Told()
    told.made_after(0)
    told.lost_after(0)
    assert told.lost_after(1) == ["no broker at h:1; tried again for 99 s"]
    assert told.lost_after(1) == told.lost_after(28.5) == []
    assert told.lost_after(1) == ["no broker at h:1; tried again for 68 s"]
    assert told.made_after(1) == ["the brokers at h:1 answer again, after 32 s"]
    assert told.made_after(1) == []


def test_patience_begins_anew_when_one_has_answered():
    told = Told()
    told.made_after(0)
    for _ in range(5):
        told.lost_after(0)
        told.lost_after(99)
        told.made_after(0)


@pytest.mark.parametrize(
    ("ever", "patience", "key"), [(False, 10, "kafka.connect_timeout"), (True, 100, "kafka.give_up_after")]
)
def test_patience_ends(ever, patience, key):
    """Sooner where there has been no broker at all."""
    told = Told()
    if ever:
        told.made_after(0)
    told.lost_after(0)
    told.lost_after(patience - 0.1)
    with pytest.raises(ConnectorError) as raised:
        told.lost_after(0.1)
    assert str(raised.value) == f"no broker at h:1; given up after {patience} s ({key})"


def test_attempts_take_longer_each_time():
    contact = Told().contact
    assert [contact.patience() for _ in range(5)] == [2, 4, 8, 10, 10]
