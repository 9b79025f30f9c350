"""The command `streamlin produce`."""

import sys
import threading
from typing import Annotated

import typer

from streamlin.commands import options
from streamlin.terminal.printing import print_result


def produce(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A path, '-', or a URL.")],
    sink: Annotated[str, typer.Argument(metavar="SINK", help="A URL, as kafka://host:port/topic, or a path.")],
    stdin_options: options.StdinOptions = None,
    config: options.ConfigFile = None,
    limit: options.Limit = None,
    set_: options.Set = None,
    log_format: options.LogFormat = "text",
) -> None:
    """Send a source's events to a topic, as JSON messages."""
    from streamlin.config.loading import load_config
    from streamlin.running.inputs_and_outputs import inputs_of
    from streamlin.running.produce import produce as produce_all
    from streamlin.streams.overlap import refuse_overlaps, sink_place, standard_outputs
    from streamlin.terminal.cells import counted
    from streamlin.terminal.progress import PlainProgress
    from streamlin.terminal.signals import stop_on_signals

    run_config = load_config(config, {"source.url": options.resolve_source(source, stdin_options)}, set_ or ())
    refuse_overlaps(inputs_of(run_config, config_file=config), [sink_place("SINK", sink), *standard_outputs()])
    stop = threading.Event()
    with stop_on_signals(stop.set):
        sent = produce_all(run_config, sink, limit, PlainProgress().notice, stop)
    dead = f", {counted(sent.dead_letters, 'dead letter')}" if sent.dead_letters else ""
    print_result(f"{counted(sent.messages, 'message')}{dead}", sys.stderr if sink.startswith("-") else sys.stdout)
