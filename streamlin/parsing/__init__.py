"""Parsers of sentences, for `task = "parsing"`."""
