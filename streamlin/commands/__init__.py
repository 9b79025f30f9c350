"""The commands of the command line, one per module.

Heavy imports are inside the functions that need them, so that `--help` and a wrong option answer at once.
"""
