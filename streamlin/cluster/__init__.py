"""Worker processes that host the shards: each keeps a copy of the model, and learns the events of its shards."""
