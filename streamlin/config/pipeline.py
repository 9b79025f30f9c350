"""The table `[pipeline]`."""

from typing import Annotated

from pydantic import Field

from streamlin.config.base import Count, Strict

_Length = Annotated[Count, Field(ge=128)]
"""Of a text, in characters; numbers are shorter."""


class PipelineConfig(Strict):
    """Speed and tolerance; no key changes a prediction.

    batch_size : events that are read, learned and written together.
    threads : 2: read ahead and write on threads of their own, and let learners and taggers learn side by side; N above
        2: so many learn side by side, and N - 1 further threads find features; 1: do everything on one thread.
    max_record_bytes : a longer record is a dead letter.
    max_consecutive_dead_letters : this many in a row end the run.
    max_labels : more labels than this end the run.
    token_confidence : taggers add the probability of each token's tag to the prediction lines.
    novelty : prediction lines have the share of each event's tokens that no event before had.
    max_table_bytes : larger tables of all learners together end the run; None: a third of the usable memory.
    max_label_characters, max_id_characters, max_field_characters : a record with a longer label, id or further field (a
        category, a field to slice by, a reference) is a dead letter.
    """

    batch_size: Annotated[Count, Field(le=100_000)] = 4000
    threads: Annotated[Count, Field(le=256)] = 2
    max_record_bytes: Count = 10_000_000
    max_consecutive_dead_letters: Count = 1000
    max_labels: Count = 1000
    token_confidence: bool = False
    novelty: bool = False
    max_table_bytes: Count | None = None
    max_label_characters: _Length = 1000
    max_id_characters: _Length = 4000
    max_field_characters: _Length = 10_000
