"""The checkpoint: its file, writing it in the background, and the state of a run."""
