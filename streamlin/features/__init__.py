"""From texts to hashed features, and from these to rows of the learners' tables."""

from streamlin.features.view import Buckets, View

__all__ = ["Buckets", "View"]
