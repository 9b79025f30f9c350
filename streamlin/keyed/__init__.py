"""A model for each key: which keys have one, their labels, rows and tables, and when a key's own model answers."""
