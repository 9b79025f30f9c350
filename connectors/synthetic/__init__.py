"""A synthetic stream whose Bayes-optimal accuracy is known."""

from connectors.synthetic.source import SyntheticSource

__all__ = ["SyntheticSource"]
