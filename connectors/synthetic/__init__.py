"""A synthetic stream of known Bayes-optimal accuracy."""

from connectors.synthetic.source import SyntheticSource

__all__ = ["SyntheticSource"]
