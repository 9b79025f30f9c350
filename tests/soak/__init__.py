"""What an enemy, or a crowd, tries: each at full size, three times, in real processes, with the memory it takes.

Not among the ordinary tests, whose twins are smaller: `make soak` runs them and shows what they print.
"""
