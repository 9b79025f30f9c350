"""Whether sentences can be learned within the limits of tags and tables; asked before anything is learned."""

from streamlin.config import RunConfig
from streamlin.config.memory import memory_for_tables
from streamlin.errors import ConfigError
from streamlin.events import Batch
from streamlin.tagging.features import TokenBuckets
from streamlin.tagging.model import TaggingModel


class TagAdmission:
    """The limits of a tagging model; what `streamlin.running.admission.Admission` is for texts.

    model : what learns; it is only read. config : `pipeline.max_labels` and `pipeline.max_table_bytes`.
    """

    def __init__(self, model: TaggingModel, config: RunConfig) -> None:
        self._model, self._tags_field = model, config.fields.tags
        self.max_labels = config.pipeline.max_labels
        self.max_bytes = config.pipeline.max_table_bytes or memory_for_tables()

    def fits(self, batch: Batch, features: TokenBuckets) -> bool:
        """Whether all of a batch can be learned; False also where only `check`, sentence by sentence, can tell."""
        n_tags = len(self._model.labels) + len(self._new(batch))
        if n_tags > self.max_labels:
            return False
        if self._table_bytes(n_tags) <= self.max_bytes:  # whatever the features, which take long to count
            return True
        return self._table_bytes(n_tags, features) <= self.max_bytes

    def check(self, event: Batch, features: TokenBuckets, label_rule: str = "") -> None:
        """Raise ConfigError if a batch of one sentence can't be learned. The message names the key and the sentence."""
        if not event.weights[0] > 0:
            return
        new, n_tags = self._new(event), len(self._model.labels)
        where = event.records.name(int(event.kept[0]))
        if new and n_tags + len(new) > self.max_labels:
            raise ConfigError(
                f"pipeline.max_labels: found more than {self.max_labels:,} tags, {new[self.max_labels - n_tags]!r:.60} "
                f"at {where} is one too many; if fields.tags = '{self._tags_field}' are the tags, raise the limit"
            )
        if self._table_bytes(n_tags + len(new), features) > self.max_bytes:
            raise ConfigError(
                f"pipeline.max_table_bytes: at {where} the taggers' tables need more than {self.max_bytes:,} bytes "
                f"for {n_tags + len(new):,} tags; use fewer taggers, a smaller features.max_rows, or raise the limit"
            )

    def _new(self, batch: Batch) -> list[str]:
        """The tags that the batch may bring, in order."""
        assert batch.tokens is not None
        code = self._model.labels.code
        return [tag for tag in dict.fromkeys(batch.tokens.tags) if tag is not None and code(tag) < 0]

    def _table_bytes(self, n_tags: int, features: TokenBuckets | None = None) -> int:
        """The size of the tables with all features of a batch, of which some may bring no row; None: with all rows."""
        tokens, contexts = self._model.rows["tokens"], self._model.rows["contexts"]
        n_rows = tokens.capacity, contexts.capacity
        if features is not None:
            n_rows = tokens.count_with(features.buckets), contexts.count_with(features.contexts)
        return sum(tagger.table_bytes(*n_rows, n_tags) for tagger in self._model.learners.values())
