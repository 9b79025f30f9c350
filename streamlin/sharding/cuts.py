"""Up to where a round reads."""

Cuts = list[tuple[str, int]]
"""Key of a part -> the offset that a round reads up to, in the order in which the parts are read."""
