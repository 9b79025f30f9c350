"""Whether trees can be learned within the limits of tags and tables; asked before anything is learned."""

from streamlin.config import RunConfig
from streamlin.config.memory import memory_for_tables
from streamlin.errors import ConfigError
from streamlin.events import Batch
from streamlin.parsing.model import ParsingModel, TreeFeatures


class TreeAdmission:
    """The limits of a parsing model; what `streamlin.running.admission.Admission` is for texts.

    model : what learns; it is only read. config : `pipeline.max_labels` and `pipeline.max_table_bytes`.
    """

    def __init__(self, model: ParsingModel, config: RunConfig) -> None:
        self._model = model
        self.max_labels = config.pipeline.max_labels
        self.max_bytes = config.pipeline.max_table_bytes or memory_for_tables()

    def fits(self, batch: Batch, features: TreeFeatures) -> bool:
        """Whether all of a batch can be learned; False also where only `check`, sentence by sentence, can tell."""
        n_tags = len(self._model.labels) + len(self._new(batch))
        return n_tags <= self.max_labels and self._table_bytes(n_tags, features) <= self.max_bytes

    def check(self, event: Batch, features: TreeFeatures, label_rule: str = "") -> None:
        """Raise ConfigError if a batch of one sentence can't be learned. The message names the key and the sentence."""
        if not event.weights[0] > 0:
            return
        new, n_tags = self._new(event), len(self._model.labels)
        where = event.place(0)
        if new and n_tags + len(new) > self.max_labels:
            raise ConfigError(
                f"pipeline.max_labels: found more than {self.max_labels:,} tags, {new[self.max_labels - n_tags]!r:.60} "
                f"at {where} is one too many; if these are tags, raise the limit"
            )
        if self._table_bytes(n_tags + len(new), features) > self.max_bytes:
            raise ConfigError(
                f"pipeline.max_table_bytes: at {where} the parsers' tables need more than {self.max_bytes:,} bytes "
                f"for {n_tags + len(new):,} tags; use a smaller features.max_rows, or raise the limit"
            )

    def _new(self, batch: Batch) -> list[str]:
        """The tags that the batch may bring, in order."""
        assert batch.tokens is not None
        return self._model.labels.unknown(batch.tokens.distinct_tags.values)

    def _table_bytes(self, n_tags: int, features: TreeFeatures) -> int:
        """The size of the tables with all contexts and rules of a batch, of which some may be known."""
        n_contexts = self._model.rows["contexts"].count_with(features.tokens.contexts)
        rules = sum(len(tree.words) + len(tree.brackets) for tree in features.trees if tree is not None)
        return sum(parser.table_bytes(n_contexts, n_tags, rules) for parser in self._model.learners.values())
