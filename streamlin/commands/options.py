"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from streamlin.errors import ConfigError
from streamlin.terminal.printing import news_as


def count(text: str) -> int:
    """A whole number from 0 on."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise typer.BadParameter(f"needs a whole number from 0 on, got {text}")
    return number


def _choose_form(form: str) -> str:
    """Before anything is said."""
    if form not in ("text", "json"):
        raise typer.BadParameter(f"needs text or json, got {form}")
    news_as("json" if form == "json" else "text")
    return form


Source = Annotated[str | None, typer.Argument(metavar="SOURCE", help="A path, '-', or a URL.", show_default=False)]
# For Typer the source '-?format=csv' is an option '-?' with a value.
StdinOptions = Annotated[str | None, typer.Option("-?", hidden=True)]
Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder of a checkpoint.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A TOML file.", metavar="FILE")]
Learners = Annotated[list[str] | None, typer.Option("--learner", help="Repeatable; all by default.", metavar="NAME")]
Predictions = Annotated[str | None, typer.Option(help="Where to: one JSON line an event.", metavar="URL")]
DeadLetters = Annotated[str | None, typer.Option(help="Where records go that can't be read.", metavar="URL")]
CheckpointDir = Annotated[str | None, typer.Option("--checkpoint", help="Resume from it, save to it.", metavar="DIR")]
Reports = Annotated[
    list[Path] | None,
    typer.Option("--report", help="The summary, .html or JSON. Repeatable.", metavar="FILE", readable=False),
]
Limit = Annotated[int | None, typer.Option(help="Stop after N events.", metavar="N", parser=count)]
LabelDelay = Annotated[int | None, typer.Option(help="Labels come N texts later.", metavar="N", parser=count)]
Feedback = Annotated[str | None, typer.Option(help="Labels by id; a second source.", metavar="URL")]
DelayedLabels = Annotated[bool, typer.Option("--late-labels", help="Records of id and label without text are labels.")]
Follow = Annotated[bool, typer.Option("--follow", help="Go on when the file ends, as tail -F does.")]
SliceBy = Annotated[list[str] | None, typer.Option(help="Accuracy for each value of a field too.", metavar="FIELD")]
Set = Annotated[list[str] | None, typer.Option("--set", help="Any configuration key.", metavar="KEY=VALUE")]
Preset = Annotated[str | None, typer.Option(help="fast (the default) or accurate.", metavar="NAME")]
Dashboard = Annotated[str | None, typer.Option(help="Show the run as a page there.", metavar="[HOST:]PORT")]
Metrics = Annotated[str | None, typer.Option(help="Tell Prometheus there how it goes.", metavar="[HOST:]PORT")]
HideText = Annotated[bool, typer.Option("--dashboard-hide-text", help="No text of events on the page.")]
LogFormat = Annotated[
    str,
    typer.Option(
        "--log-format", help="News as text or as JSON lines.", metavar="NAME", is_eager=True, callback=_choose_form
    ),
]
AllowPickle = Annotated[bool, typer.Option("--allow-pickle", help="Unpickle external models, which runs their code.")]
Previous = Annotated[bool, typer.Option("--previous", help="Use the checkpoint before the last.")]


def given_source(source: str | None, stdin_options: str | None) -> str | None:
    """SOURCE, whichever way it was understood."""
    if stdin_options is None:
        return source
    if source not in (None, "-"):
        raise ConfigError(f"two sources: {source} and -?{stdin_options}; there can be one")
    return f"-?{stdin_options}"
