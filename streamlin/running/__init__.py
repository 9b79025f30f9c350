"""The loop that drives a run, and what it needs besides learning."""
