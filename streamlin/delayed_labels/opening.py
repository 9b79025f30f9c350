"""What waits for delayed labels, as a configuration asks for it."""

from pathlib import Path

from streamlin.config import RunConfig
from streamlin.delayed_labels.by_id import LabelsById
from streamlin.delayed_labels.fixed_delay import FixedDelay
from streamlin.delayed_labels.form import Form
from streamlin.delayed_labels.in_memory import InMemory, Store
from streamlin.errors import ConfigError


def open_delayed_labels(config: RunConfig, form: Form) -> LabelsById | FixedDelay | None:
    """The component that waits for delayed labels; None if labels come with their texts.

    Raises
    ------
    ConfigError : it needs a checkpoint. CheckpointError, ConnectorError : its file can't be used.
    """
    if config.delayed_labels.by_id:
        return LabelsById(config.delayed_labels, form, _store(config, form))
    return FixedDelay(config.delayed_labels.delay, form) if config.delayed_labels.delay else None


def _store(config: RunConfig, form: Form) -> Store:
    """The store in which texts wait."""
    if config.delayed_labels.store == "memory":
        return InMemory(form)
    if config.checkpoint.path is None:
        raise ConfigError("delayed_labels.store = 'disk' needs a checkpoint folder to write to (--checkpoint)")
    from streamlin.delayed_labels.on_disk import OnDisk

    return OnDisk(Path(config.checkpoint.path), form, config.checkpoint.mode)
