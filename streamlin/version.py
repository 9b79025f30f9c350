"""The version of this package, in a file that nothing else is imported with."""

__version__ = "0.1.0"
