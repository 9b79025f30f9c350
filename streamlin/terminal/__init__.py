"""Output on a terminal or in a notebook."""
