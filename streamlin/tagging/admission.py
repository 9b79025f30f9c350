"""Whether sentences can be learned within the limits of tags and tables; asked before anything is learned."""

from collections.abc import Iterable
from itertools import chain

from streamlin.config import RunConfig
from streamlin.config.memory import memory_for_tables
from streamlin.delayed_labels.plan import old_texts
from streamlin.delayed_labels.waiting import WaitingText
from streamlin.errors import ConfigError
from streamlin.events import Batch
from streamlin.formats.tokens import tags_of
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
        n_tags = len(self._model.labels) + len(self._new(self._tags_due(batch)))
        if n_tags > self.max_labels:
            return False
        if self._table_bytes(n_tags) <= self.max_bytes:  # whatever the features, which take long to count
            return True
        late = self._model.delayed_labels
        waiting = [] if late is None else late.texts_due(batch)
        return self._table_bytes(n_tags, features.followed_by(self._features(waiting, batch))) <= self.max_bytes

    def check(self, event: Batch, features: TokenBuckets, label_rule: str = "") -> None:
        """Raise ConfigError if a batch of one event can't be learned. The message names the key and the event."""
        assert event.tokens is not None
        tags, weight = event.tokens.tags, float(event.weights[0])
        if self._model.delayed_labels is not None:
            due = self._model.delayed_labels.due(event)
            if due is None:
                return
            tags, weight = tags_of(due.label), due.weight
            features = features if due.text is None else self._features([due.text], event)
        if not weight > 0:
            return
        new, n_tags = self._new(tags), len(self._model.labels)
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

    def _tags_due(self, batch: Batch) -> Iterable[str | None]:
        """The tags that may be learned with a batch."""
        assert batch.tokens is not None
        late = self._model.delayed_labels
        return batch.tokens.tags if late is None else chain.from_iterable(map(tags_of, late.labels_due(batch)))

    def _new(self, tags: Iterable[str | None]) -> list[str]:
        """Those that were not seen before, in order."""
        code = self._model.labels.code
        return [tag for tag in dict.fromkeys(tags) if tag is not None and code(tag) < 0]

    def _features(self, waiting: list[WaitingText], batch: Batch) -> TokenBuckets:
        """The features of sentences from before a batch."""
        return self._model.featurize(old_texts(waiting, self._model.further_fields, batch))

    def _table_bytes(self, n_tags: int, features: TokenBuckets | None = None) -> int:
        """The size of the tables with all features of a batch, of which some may bring no row; None: with all rows."""
        tokens, contexts = self._model.rows["tokens"], self._model.rows["contexts"]
        n_rows = tokens.capacity, contexts.capacity
        if features is not None:
            n_rows = tokens.count_with(features.buckets), contexts.count_with(features.contexts)
        return sum(tagger.table_bytes(*n_rows, n_tags) for tagger in self._model.learners.values())
