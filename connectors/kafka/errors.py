"""What can go wrong between a client and its brokers."""

from streamlin.errors import ConnectorError


class UnreachableError(ConnectorError):
    """No broker answers at the moment."""

    retriable = True


class RebalancingError(UnreachableError):
    """The group is rebalancing, and takes no commit for a moment."""


class OffsetGoneError(Exception):
    """The record at a partition's position cannot be read: it is gone, or not there any more."""
