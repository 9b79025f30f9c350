"""How many messages a poll hands over, with a clock that the test sets."""

from hypothesis import given
from hypothesis import strategies as st

from connectors.kafka.poll_limit import PollLimit

INTERVAL = 300.0
"""Seconds between two polls; a batch may take a tenth of it, 30 s."""


class Polled:
    """Messages that take `each` seconds until more are asked for."""

    def __init__(self, each):
        self.now, self.each = 0.0, each
        self.poll_limit = PollLimit(INTERVAL, lambda: self.now)

    def poll(self, wanted, there=1 << 40):
        """The number that is handed over, if so many are there."""
        given = min(self.poll_limit.limit(wanted), there)
        self.poll_limit.handed_over(given)
        self.now += given * self.each
        return given


def test_the_limit_grows_fourfold_up_to_what_is_wanted():
    polled = Polled(0.00001)
    assert [polled.poll(1000) for _ in range(5)] == [16, 64, 256, 1000, 1000]


def test_a_batch_takes_at_most_a_tenth_of_the_interval():
    """At half a second each, 60 messages take 30 s."""
    polled = Polled(0.5)
    assert [polled.poll(1000) for _ in range(4)] == [16, 60, 60, 60]


def test_the_limit_follows_the_time_of_a_message():
    """A message that takes 40 s comes alone; once they take no time, the limit grows fourfold again."""
    polled = Polled(0.5)
    polled.poll(1000), polled.poll(1000)
    polled.each = 40.0
    assert polled.poll(3) == 3
    assert polled.poll(1000) == 1
    polled.each = 0.0
    assert [polled.poll(1000) for _ in range(4)] == [1, 4, 16, 64]


def test_an_empty_poll_does_not_change_the_limit():
    polled = Polled(0.001)
    polled.poll(1000)
    polled.poll(1000, there=0)
    polled.now += 1000.0
    assert polled.poll(1000) == 64


@given(st.lists(st.tuples(st.integers(1, 2000), st.integers(0, 2000), st.floats(0, 100)), max_size=30))
def test_the_limit_is_between_one_and_what_is_wanted(polls):
    polled = Polled(0.0)
    for wanted, there, each in polls:
        polled.each = each
        limit = polled.poll_limit.limit(wanted)
        assert 1 <= limit <= wanted
        polled.poll(wanted, there)
