"""Whether texts can be clustered within the limit of tables; asked once, since the tables of clusters are bounded."""

from streamlin.config import RunConfig
from streamlin.config.memory import memory_for_tables
from streamlin.errors import ConfigError
from streamlin.events import Batch
from streamlin.model import Features
from streamlin.topics.model import TopicModel


class TopicAdmission:
    """The limits of a model of topics; what `streamlin.running.admission.Admission` is for classifiers.

    model : what learns; it is only read. config : `pipeline.max_table_bytes`.

    Raises
    ------
    ConfigError : the tables would need more, once every feature has its row.
    """

    def __init__(self, model: TopicModel, config: RunConfig) -> None:
        self.max_labels = config.pipeline.max_labels
        self.max_bytes = config.pipeline.max_table_bytes or memory_for_tables()
        rows = {view: own.capacity for view, own in model.rows.items()}
        size = sum(learner.table_bytes(rows[model.view_of_learner[name]]) for name, learner in model.learners.items())
        if size > self.max_bytes:
            raise ConfigError(
                f"pipeline.max_table_bytes: the tables of clusters need up to {size:,} bytes, more than "
                f"{self.max_bytes:,}; use fewer clusters, a smaller features.bits, or raise the limit"
            )

    def fits(self, batch: Batch, features: Features) -> bool:
        """Always; there is room for all rows."""
        return True

    def check(self, event: Batch, features: Features, label_rule: str = "") -> None:
        """Nothing to check."""
