"""What Contact reports while no broker answers, with a clock that the test sets."""

import pytest

from connectors.kafka.contact import Contact
from streamlin.errors import ConnectorError

AWAY = ConnectorError("no broker at h:1")


class Report:
    """A contact that waits 10 s for the first answer and 100 s later; the lines it has shown."""

    def __init__(self):
        self.now, self.lines = 1000.0, []
        self.contact = Contact("h:1", 10.0, 100.0, self.lines.append, lambda: self.now)

    def unanswered_after(self, seconds):
        """No broker answers `seconds` later; the lines shown then."""
        self.now += seconds
        del self.lines[:]
        self.contact.unanswered(AWAY)
        return self.lines

    def answered_after(self, seconds):
        self.now += seconds
        del self.lines[:]
        self.contact.answered()
        return self.lines


def test_an_answer_shows_no_line():
    assert Report().answered_after(5) == []


def test_half_a_second_without_an_answer_shows_no_line():
    report = Report()
    assert report.unanswered_after(0) == report.unanswered_after(0.4) == report.answered_after(0) == []


def test_a_missing_broker_is_reported_every_half_minute():
    report = Report()
    report.answered_after(0)
    report.unanswered_after(0)
    assert report.unanswered_after(1) == ["no broker at h:1; tried again for 99 s"]
    assert report.unanswered_after(1) == report.unanswered_after(28.5) == []
    assert report.unanswered_after(1) == ["no broker at h:1; tried again for 68 s"]
    assert report.answered_after(1) == ["the brokers at h:1 answer again, after 32 s"]
    assert report.answered_after(1) == []


def test_an_answer_resets_the_patience():
    report = Report()
    report.answered_after(0)
    for _ in range(5):
        report.unanswered_after(0)
        report.unanswered_after(99)
        report.answered_after(0)


@pytest.mark.parametrize(
    ("ever", "patience", "key"), [(False, 10, "kafka.connect_timeout"), (True, 100, "kafka.give_up_after")]
)
def test_patience_ends(ever, patience, key):
    """Sooner if no broker has ever answered."""
    report = Report()
    if ever:
        report.answered_after(0)
    report.unanswered_after(0)
    report.unanswered_after(patience - 0.1)
    with pytest.raises(ConnectorError) as raised:
        report.unanswered_after(0.1)
    assert str(raised.value) == f"no broker at h:1; given up after {patience} s ({key})"


def test_attempts_take_longer_each_time():
    contact = Report().contact
    assert [contact.patience() for _ in range(5)] == [2, 4, 8, 10, 10]
