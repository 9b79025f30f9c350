"""The commands of the command line, one a module.

What is heavy to import is imported where it is used: `--help` and a wrong option answer at once.
"""
