"""The registry of built-in taggers: one line each, in the order in which they run."""
# ruff: noqa: I001  # the order is part of the registry

from streamlin.tagging.crf import CRF as CRF
from streamlin.tagging.log_linear import LogLinear as LogLinear
from streamlin.tagging.structured_perceptron import StructuredPerceptron as StructuredPerceptron
from streamlin.tagging.hmm import HMM as HMM
