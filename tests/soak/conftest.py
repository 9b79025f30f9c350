"""The cluster of workers, for the kills."""

from tests.cluster.conftest import cluster  # noqa: F401
