"""The two client libraries that the connector can use."""

from collections.abc import Callable
from functools import partial

from tests.integration.processes import together

CLIENTS = ("kafka-python", "confluent")
"""Values of the option `client`."""


def with_both(check: Callable[[str], None]) -> None:
    """Check something with both clients at once."""
    together(*(partial(check, client) for client in CLIENTS))
