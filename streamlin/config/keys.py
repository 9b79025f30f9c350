"""The table `[keys]`: models per key."""

from typing import Annotated

from pydantic import Field

from streamlin.config.base import Count, Strict


class KeysConfig(Strict):
    """A model for each value of a field, such as a customer.

    per : the field that holds the key of an event; None: one model for all events. `key` is also the key of a Kafka
        message.
    max_keys : keys that have a model at the same time; for a further one the least recently used is dropped.
    shared : whether the learners also learn from the events of all keys; this shared model answers until a key's own
        is better.
    """

    per: Annotated[str, Field(min_length=1)] | None = None
    max_keys: Annotated[Count, Field(le=10_000_000)] = 100_000
    shared: bool = True
