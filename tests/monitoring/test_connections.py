"""Which connections are kept, and which make room."""

import os
import resource
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from streamlin.config.serve import ServeConfig
from streamlin.monitoring.connections import Connections


class Recorded:
    """A connection that remembers its end."""

    is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True


@contextmanager
def servers(number: int, limits: ServeConfig) -> Iterator[list[Connections]]:
    """The connections of some servers of this process."""
    with ExitStack() as opened:
        made = [Connections(limits, lambda line: None) for _ in range(number)]
        for connections in made:
            opened.callback(connections.close)
        yield made


def filled(connections: Connections, number: int, busy: bool) -> list[Recorded]:
    """So many connections."""
    made = [Recorded() for _ in range(number)]
    for connection in made:
        connections.entered(connection, False)
        connections.waits(connection)
        if busy:
            connections.is_busy(connection)
    return made


def test_the_connection_that_has_waited_longest_makes_room() -> None:
    with servers(1, ServeConfig(max_connections=3)) as (connections,):
        first, second, third = filled(connections, 3, busy=False)
        connections.waits(first)  # an answer has ended
        assert connections.make_room(10) is None
        assert [one.is_aborted for one in (first, second, third)] == [False, True, False]


def test_where_all_are_busy_a_few_may_ask_for_the_health() -> None:
    with servers(1, ServeConfig(max_connections=3)) as (connections,):
        filled(connections, 3, busy=True)
        kept = 0
        while connections.can_keep(10, bound := connections.make_room(10)):
            assert bound == "serve.max_connections = 3 connections are open"
            connections.entered(Recorded(), True)
            kept += 1
        assert kept == 8


def test_those_that_asked_for_the_health_make_room_for_each_other() -> None:
    """However many come, no more are kept beyond the bound."""
    with servers(1, ServeConfig(max_connections=3)) as (connections,):
        busy, crowd = filled(connections, 3, busy=True), list[Recorded]()
        for _ in range(100):
            assert connections.can_keep(10, connections.make_room(10))
            crowd.append(Recorded())
            connections.entered(crowd[-1], True)
            connections.waits(crowd[-1])
        assert [one.is_aborted for one in crowd] == [True] * 92 + [False] * 8
        assert not any(one.is_aborted for one in busy)


def test_the_servers_of_a_process_share_its_files() -> None:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    limits = ServeConfig(max_connections=1 << 30, reserved_files=16)
    with servers(2, limits) as (one, other):
        room = (files - 16 - len(os.listdir("/proc/self/fd"))) // 2
        filled(one, room - 5, busy=True)
        assert one.make_room(10) is None
        filled(one, 10, busy=True)
        assert str(one.make_room(10)).endswith(
            f"{files:,} open files (ulimit -n) allow beside serve.reserved_files = 16"
        )
        assert other.make_room(10) is None


def test_no_connection_takes_more_than_half_of_the_reserve() -> None:
    """Where other files already take the rest."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    with servers(1, ServeConfig(reserved_files=100)) as (connections,):
        assert connections.can_keep(files - 51, connections.make_room(files - 51))
        assert not connections.can_keep(files - 50, connections.make_room(files - 50))
