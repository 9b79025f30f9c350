"""Asking for labels: which events, with which probability, and what metrics make of the answers."""

from streamlin.asking.asking import Asking

__all__ = ["Asking"]
