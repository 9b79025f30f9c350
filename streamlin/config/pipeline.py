"""The table `[pipeline]`."""

from typing import Annotated

from pydantic import Field

from streamlin.config.base import Count, Strict


class PipelineConfig(Strict):
    """What changes no prediction, only speed and what is put up with.

    batch_size : events read, learned and written together.
    threads : 2 read ahead on a thread of its own; 1 does one thing at a time.
    max_record_bytes : a longer record is a dead letter.
    max_consecutive_dead_letters : so many in a row end the run.
    """

    batch_size: Annotated[Count, Field(le=100_000)] = 4000
    threads: Annotated[Count, Field(le=2)] = 2
    max_record_bytes: Count = 10_000_000
    max_consecutive_dead_letters: Count = 1000
    max_labels: Count = 1000
