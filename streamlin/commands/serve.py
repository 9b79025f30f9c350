"""The command `streamlin serve`."""

import threading
from contextlib import closing
from typing import Annotated

import typer

from streamlin.commands import options
from streamlin.commands.garbage import freeze
from streamlin.errors import ConfigError, missing
from streamlin.terminal.printing import print_notice


def serve(
    folder: options.Folder,
    address: Annotated[
        str,
        typer.Argument(metavar="[HOST:]PORT", help="Address to serve; without a host only this machine can connect."),
    ],
    config: options.ConfigFile = None,
    task: options.TaskName = None,
    learner: options.Learners = None,
    delayed_labels: options.DelayedLabels = False,
    preset: options.Preset = None,
    set_: options.Set = None,
    previous: options.Previous = False,
    allow_pickle: options.AllowPickle = False,
    log_format: options.LogFormat = "text",
) -> None:
    """Serve predictions and learning over HTTP."""
    from streamlin.config.loading import load_config
    from streamlin.running.inputs_and_outputs import inputs_of, outputs_of
    from streamlin.streams.overlap import refuse_overlaps, standard_outputs
    from streamlin.terminal.compile_notice import notify_when_compiling
    from streamlin.terminal.progress import PlainProgress, log_fields
    from streamlin.terminal.signals import stop_on_signals
    from streamlin.terminal.summary import counts_line

    flags = {"task": task, "delayed_labels.enabled": delayed_labels or None, "preset": preset}
    given = load_config(config, flags, set_ or (), learner or ())
    try:
        from streamlin.service.service import Service, configuration
    except ModuleNotFoundError as error:
        raise ConfigError(missing("serve", "serve", error)) from None

    stop, shown = threading.Event(), PlainProgress()
    with stop_on_signals(stop.set):
        notify_when_compiling(shown.notice)
        run_config = configuration(folder, given, previous, allow_pickle)
        if run_config.task == "parsing":
            raise ConfigError("serve: not for task = 'parsing'; only texts and tokens are served")
        if run_config.task == "topics":
            raise ConfigError("serve: not for task = 'topics'; a service predicts labels")
        if run_config.mixing.shards is not None:
            raise ConfigError("serve: not with mixing.shards; a service learns its events in one piece")
        refuse_overlaps(inputs_of(run_config, False, config), [*outputs_of(run_config), *standard_outputs()])
        with closing(Service(run_config, address, shown.notice, stop, previous)) as service:
            freeze()
            report = service.run()
    print_notice(f"done: {counts_line(report)}", **log_fields(report))
