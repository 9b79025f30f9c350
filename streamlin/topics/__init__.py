"""Clusters of texts without labels, for `task = "topics"`."""
