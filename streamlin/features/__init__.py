"""Texts to hashed features, and these to the rows of the learners' tables."""

from streamlin.features.view import Buckets, View

__all__ = ["Buckets", "View"]
