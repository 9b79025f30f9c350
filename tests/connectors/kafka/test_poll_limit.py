"""How many messages are handed over at once, by a clock that the test turns."""

from hypothesis import given
from hypothesis import strategies as st

from connectors.kafka.poll_limit import PollLimit

INTERVAL = 300.0
"""Seconds between two polls; a tenth of it, 30 s, is what a batch may take."""


class Polled:
    """Messages that take `each` seconds until more are asked for."""

    def __init__(self, each):
        self.now, self.each = 0.0, each
        self.poll_limit = PollLimit(INTERVAL, lambda: self.now)

    def poll(self, wanted, there=1 << 40):
        """How many are handed over, of so many that there are."""
        given = min(self.poll_limit.limit(wanted), there)
        self.poll_limit.handed_over(given)
        self.now += given * self.each
        return given


def test_from_few_to_as_many_as_are_wanted():
    polled = Polled(0.00001)
    assert [polled.poll(1000) for _ in range(5)] == [16, 64, 256, 1000, 1000]


def test_no_more_than_a_tenth_of_the_interval_is_taken_up():
    """At half a second each, 60 messages take 30 s."""
    polled = Polled(0.5)
    assert [polled.poll(1000) for _ in range(4)] == [16, 60, 60, 60]


def test_it_follows_what_gets_slower_and_quicker():
    """A message of 40 s is handed over alone; one later that takes no time, and they are four, then sixteen."""
    polled = Polled(0.5)
    polled.poll(1000), polled.poll(1000)
    polled.each = 40.0
    assert polled.poll(3) == 3
    assert polled.poll(1000) == 1
    polled.each = 0.0
    assert [polled.poll(1000) for _ in range(4)] == [1, 4, 16, 64]


def test_a_poll_that_gives_nothing_says_nothing():
    polled = Polled(0.001)
    polled.poll(1000)
    polled.poll(1000, there=0)
    polled.now += 1000.0
    assert polled.poll(1000) == 64


@given(st.lists(st.tuples(st.integers(1, 2000), st.integers(0, 2000), st.floats(0, 100)), max_size=30))
def test_it_never_gives_more_than_wanted_nor_stops(polls):
    polled = Polled(0.0)
    for wanted, there, each in polls:
        polled.each = each
        limit = polled.poll_limit.limit(wanted)
        assert 1 <= limit <= wanted
        polled.poll(wanted, there)
