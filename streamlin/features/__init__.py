"""Texts to hashed features to rows of the learners' tables."""

from streamlin.features.hashing import Buckets
from streamlin.features.rows import Examples, RowIndex
from streamlin.features.view import View

__all__ = ["Buckets", "Examples", "RowIndex", "View"]
