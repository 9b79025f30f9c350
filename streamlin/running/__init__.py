"""The loop that drives a run, and what it does beside learning."""
