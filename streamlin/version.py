"""The version of this package, in a file without imports."""

__version__ = "0.1.0"
