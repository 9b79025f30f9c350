"""Watching a run from outside: page, metrics, health, HTML report."""
