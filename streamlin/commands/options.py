"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from streamlin.errors import ConfigError, redacted
from streamlin.terminal.printing import set_log_format


def count(text: str) -> int:
    """Parse a whole number, at least 0."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise typer.BadParameter(f"expected a whole number, at least 0, got {text}")
    return number


def _choose_log_format(name: str) -> str:
    """Set the log format; eager, so that it holds for the errors of other options too."""
    if name not in ("text", "json"):
        raise typer.BadParameter(f"expected text or json, got {name}")
    set_log_format("json" if name == "json" else "text")
    return name


Source = Annotated[str | None, typer.Argument(metavar="SOURCE", help="A path, '-', or a URL.", show_default=False)]
# Typer takes the source '-?format=csv' for an option '-?' with a value.
StdinOptions = Annotated[str | None, typer.Option("-?", hidden=True)]
Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder of a checkpoint.")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="Read the configuration from a TOML file.", metavar="FILE")
]
TaskName = Annotated[
    str | None,
    typer.Option("--task", help="classification (default), tagging of tokens, parsing, or topics.", metavar="NAME"),
]
Learners = Annotated[
    list[str] | None, typer.Option("--learner", help="Use this learner (default: all). Repeatable.", metavar="NAME")
]
Predictions = Annotated[str | None, typer.Option(help="Write one JSON line per event.", metavar="URL")]
LabelsWanted = Annotated[
    str | None, typer.Option(help="Write one JSON line per label that is asked for (ask.budget).", metavar="URL")
]
DeadLetters = Annotated[str | None, typer.Option(help="Write records that can't be read.", metavar="URL")]
CheckpointDir = Annotated[str | None, typer.Option("--checkpoint", help="Resume and save here.", metavar="DIR")]
Reports = Annotated[
    list[Path] | None,
    typer.Option("--report", help="Write the report as .html or JSON. Repeatable.", metavar="FILE", readable=False),
]
Limit = Annotated[int | None, typer.Option(help="Stop after N events.", metavar="N", parser=count)]
LabelDelay = Annotated[int | None, typer.Option(help="Replay each label N texts later.", metavar="N", parser=count)]
Feedback = Annotated[str | None, typer.Option(help="Read labels by id from a second source.", metavar="URL")]
Drain = Annotated[bool, typer.Option("--drain", help="Find the templates of log lines, without labels.")]
DelayedLabels = Annotated[bool, typer.Option("--late-labels", help="Read records without text as labels by id.")]
Shards = Annotated[
    int | None, typer.Option(help="Learn in N shards side by side, mixed after each round.", metavar="N", parser=count)
]
Workers = Annotated[
    int | None, typer.Option(help="Learn the shards in N worker processes, by Ray.", metavar="N", parser=count)
]
ClusterAddress = Annotated[
    str | None, typer.Option("--address", help="Join this Ray cluster (default: start one here).", metavar="HOST:PORT")
]
Follow = Annotated[bool, typer.Option("--follow", help="Keep reading as the file grows.")]
SliceBy = Annotated[list[str] | None, typer.Option(help="Report accuracy by value of a field.", metavar="FIELD")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="Set a configuration key. Repeatable.", metavar="KEY=VALUE")
]
Preset = Annotated[str | None, typer.Option(help="Preset: fast (default), accurate or log-template.", metavar="NAME")]
Dashboard = Annotated[str | None, typer.Option(help="Serve a page that shows the run.", metavar="[HOST:]PORT")]
Metrics = Annotated[str | None, typer.Option(help="Serve Prometheus metrics on this address.", metavar="[HOST:]PORT")]
HideText = Annotated[bool, typer.Option("--dashboard-hide-text", help="Hide the texts of events on the page.")]
LogFormat = Annotated[
    str,
    typer.Option(
        "--log-format", help="Log as text or as JSON lines.", metavar="NAME", is_eager=True, callback=_choose_log_format
    ),
]
AllowPickle = Annotated[bool, typer.Option("--allow-pickle", help="Unpickle external models, which runs their code.")]
WithoutExternalModels = Annotated[
    bool, typer.Option("--without-external-models", help="Use the other learners alone; unpickle nothing.")
]
Previous = Annotated[bool, typer.Option("--previous", help="Use the checkpoint before the last.")]


def resolve_source(source: str | None, stdin_options: str | None) -> str | None:
    """SOURCE, given as an argument or as `-?options`."""
    if stdin_options is None:
        return source
    if source not in (None, "-"):
        raise ConfigError(f"two sources given: {redacted(str(source))} and {redacted(f'-?{stdin_options}')}; give one")
    return f"-?{stdin_options}"
