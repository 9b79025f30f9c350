"""Whether sentences can be learned within the limits of tags and tables; asked before anything is learned."""

from collections.abc import Iterable, Mapping
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
from streamlin.tagging.templates import LEVELS


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
        if self.fits_any_text(n_tags):  # whatever the features, which take long to count
            return True
        late = self._model.delayed_labels
        waiting = [] if late is None else late.texts_due(batch)
        rows = self._rows_with(features.followed_by(self._features(waiting, batch)))
        return self.table_bytes(rows, n_tags) <= self.max_bytes

    def check(self, event: Batch, features: TokenBuckets, label_rule: str = "") -> None:
        """Raise ConfigError if a batch of one event can't be learned. The message names the key and the event."""
        assert event.tokens is not None
        tags, weight = event.tokens.tags, float(event.weights[0])
        if self._model.delayed_labels is not None:
            due = self._model.delayed_labels.due(event)
            if due is None:
                return
            tags, weight = tags_of(str(due.label)), due.weight
            features = features if due.text is None else self._features([due.text], event)
        if not weight > 0:
            return
        new, n_tags = self._new(tags), len(self._model.labels)
        where = event.place(0)
        if new and n_tags + len(new) > self.max_labels:
            raise ConfigError(
                f"pipeline.max_labels: found more than {self.max_labels:,} tags, {new[self.max_labels - n_tags]!r:.60} "
                f"at {where} is one too many; if fields.tags = '{self._tags_field}' are the tags, raise the limit"
            )
        rows = self._rows_with(features)
        if self.table_bytes(rows, n_tags + len(new)) > self.max_bytes:
            raise ConfigError(self.too_large(rows, n_tags + len(new), f"at {where} "))

    def fits_any_text(self, n_labels: int) -> bool:
        """Whether the tables would fit with so many tags even if every feature had its row."""
        return self.table_bytes({}, n_labels) <= self.max_bytes

    def table_bytes(self, rows: Mapping[str, int], n_labels: int) -> int:
        """The size of all taggers' tables for so many rows and tags; all rows there can be of a kind not named."""
        most = {name: min(rows.get(name, own.capacity), own.capacity) for name, own in self._model.rows.items()}
        n_rows, n_contexts = most["tokens"], most["contexts"]
        return sum(tagger.table_bytes(n_rows, n_contexts, n_labels) for tagger in self._model.learners.values())

    def new_rows(self, features: TokenBuckets) -> dict[str, int]:
        """How many rows the features may bring, of tokens and of contexts; asked while another thread learns."""
        rows = self._model.rows
        return {
            "tokens": rows["tokens"].count_new(features.buckets),
            "contexts": rows["contexts"].count_new(features.contexts),
        }

    def most_rows(self, tokens: int, sentences: int) -> dict[str, int]:
        """How many rows so many tokens may bring."""
        return {"tokens": tokens * self._model.view.n_templates, "contexts": tokens * LEVELS}

    def too_large(self, rows: Mapping[str, int], n_labels: int, where: str = "") -> str:
        """The message about tables beyond the limit."""
        return (
            f"pipeline.max_table_bytes: {where}the taggers' tables need more than {self.max_bytes:,} bytes, for "
            f"{n_labels:,} tags and {rows['tokens']:,} features; use fewer taggers, a smaller features.max_rows, "
            "or raise the limit"
        )

    def _tags_due(self, batch: Batch) -> Iterable[str | None]:
        """The tags that may be learned with a batch, in order."""
        assert batch.tokens is not None
        late = self._model.delayed_labels
        return (
            batch.tokens.distinct_tags.values
            if late is None
            else chain.from_iterable(map(tags_of, late.labels_due(batch)))
        )

    def _new(self, tags: Iterable[str | None]) -> list[str]:
        """Those that were not seen before, in order."""
        return self._model.labels.unknown(tags)

    def _features(self, waiting: list[WaitingText], batch: Batch) -> TokenBuckets:
        """The features of sentences from before a batch."""
        return self._model.featurize(old_texts(waiting, self._model.further_fields, batch))

    def _rows_with(self, features: TokenBuckets) -> dict[str, int]:
        """How many rows there are at most once all features of a batch have rows."""
        rows = self._model.rows
        return {
            "tokens": rows["tokens"].count_with(features.buckets),
            "contexts": rows["contexts"].count_with(features.contexts),
        }
