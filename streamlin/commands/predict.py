"""The command `streamlin predict`."""

import threading
from pathlib import Path
from typing import Annotated

import typer

from streamlin.commands import options


def predict(
    folder: options.Folder,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A path, '-', or a URL.")] = "-",
    stdin_options: options.StdinOptions = None,
    predictions: Annotated[str, typer.Option(help="Write here; standard output by default.", metavar="URL")] = "-",
    dead_letters: options.DeadLetters = None,
    config: Annotated[Path | None, typer.Option(help="Read the table [kafka] of a TOML file.", metavar="FILE")] = None,
    limit: options.Limit = None,
    previous: options.Previous = False,
    allow_pickle: options.AllowPickle = False,
    without_external_models: options.WithoutExternalModels = False,
    log_format: options.LogFormat = "text",
) -> None:
    """Predict with a checkpoint, without learning."""
    from streamlin.config.loading import load_kafka
    from streamlin.kernel.late import few_by_python
    from streamlin.running.inputs_and_outputs import predict_places
    from streamlin.running.predict import predict as predict_all
    from streamlin.streams.overlap import refuse_overlaps, standard_outputs
    from streamlin.terminal.cells import counted
    from streamlin.terminal.compile_notice import notify_when_compiling
    from streamlin.terminal.progress import PlainProgress
    from streamlin.terminal.signals import stop_on_signals

    url = options.resolve_source(source, stdin_options) or "-"
    kafka = load_kafka(config)
    read, written = predict_places(folder, url, predictions, dead_letters, kafka, config)
    refuse_overlaps(read, [*written, *standard_outputs()])
    stop, shown = threading.Event(), PlainProgress()
    with stop_on_signals(stop.set), few_by_python():
        notify_when_compiling(shown.notice)
        dead = predict_all(
            *(folder, url, predictions, dead_letters, limit, shown.notice, stop, previous, kafka),
            *(allow_pickle, not without_external_models),
        )
    if dead:
        shown.notice(counted(dead, "dead letter"))
