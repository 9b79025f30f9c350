"""The command `streamlin` in processes that begin as forks of one that has everything imported."""
