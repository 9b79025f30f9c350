"""Shards that learn side by side, each for itself for a round at a time, and are then mixed."""
