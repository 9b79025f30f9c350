"""Metrics and health of a run for Prometheus, and the server for them."""
