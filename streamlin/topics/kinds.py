"""The built-in clusterers by kind, and new ones as configured."""

from streamlin.config import ClustererConfig
from streamlin.topics.base import Clusterer
from streamlin.topics.leader import KMeans, Leader
from streamlin.topics.soft_k_means import SoftKMeans

KINDS: dict[str, type[Clusterer]] = {kind.name: kind for kind in (Leader, KMeans, SoftKMeans)}
"""Kind, as a configuration names it -> class."""


def from_config(config: ClustererConfig) -> Clusterer:
    """A new clusterer as configured."""
    return KINDS[config.kind](**config.parameters())
