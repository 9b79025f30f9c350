"""What a configuration reads and what it writes, for `streamlin.streams.overlap`."""

import os
from pathlib import Path

from streamlin.checkpoint.file import FILES
from streamlin.config import KafkaConfig, RunConfig
from streamlin.config.serve import ServeConfig
from streamlin.streams.overlap import Place, file_place, sink_place, source_place


def inputs_of(config: RunConfig, has_source: bool = True, config_file: Path | str | None = None) -> list[Place]:
    """What a run reads: its source (unless it is given as an object), its delayed labels, and files of settings."""
    places = [source_place("source.url", config.source.needed_url())] if has_source else []
    if config.delayed_labels.url is not None:
        places.append(source_place("delayed_labels.url", config.delayed_labels.url))
    if config_file is not None:
        places.append(file_place("--config", config_file))
    return [*places, *_files_of("kafka", config.kafka), *_files_of("serve", config.serve)]


def outputs_of(config: RunConfig) -> list[Place]:
    """What a run writes: its sinks and its checkpoint."""
    places = [sink_place(f"sinks.{name}", url) for name, url in config.sinks if url is not None]
    if config.checkpoint.path is not None:
        places += checkpoint_files(config.checkpoint.path, "checkpoint.path")
    return places


def predict_places(
    folder: str, url: str, predictions: str, dead_letters: str | None, kafka: KafkaConfig, config_file: Path | None
) -> tuple[list[Place], list[Place]]:
    """What `predict` reads and writes. Arguments as of `streamlin.running.predict.predict`."""
    read = [source_place("SOURCE", url), *checkpoint_files(folder, "DIR"), *_files_of("kafka", kafka)]
    if config_file is not None:
        read.append(file_place("--config", config_file))
    written = {"--predictions": predictions, "--dead-letters": dead_letters}
    return read, [sink_place(option, sink) for option, sink in written.items() if sink is not None]


def checkpoint_files(folder: str, key: str) -> list[Place]:
    """The files of a checkpoint's folder, whether they exist or not."""
    from streamlin.delayed_labels.on_disk import FILES as DATABASE_FILES  # slow to import; `produce` does without

    return [file_place(key, os.path.join(folder, name)) for name in (*FILES, *DATABASE_FILES)]


def _files_of(table: str, settings: KafkaConfig | ServeConfig) -> list[Place]:
    """The files that a table of the configuration names: certificates, keys, passwords."""
    given = {key: value for key, value in settings if key.endswith("_file") and value is not None}
    return [file_place(f"{table}.{key}", path) for key, path in given.items()]
