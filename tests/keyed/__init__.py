"""Models per key."""
