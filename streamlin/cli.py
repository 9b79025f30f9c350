"""Arguments → RunConfig → run → exit code.

What is heavy to import is imported where it is used: `--help` and a wrong option answer at once.
"""

import gc
import json
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlin import __version__
from streamlin.asked import Asked
from streamlin.errors import ConfigError, StreamlinError
from streamlin.printing import are_news_json, is_read, news_as, print_news, print_result

if TYPE_CHECKING:
    from streamlin.config import RunConfig
    from streamlin.report_file import ReportFile
    from streamlin.run import Run

_GARBAGE = 100_000
"""Objects made until the collector looks at them. The columns of a few batches are some thousands, none in a cycle."""

app = typer.Typer(
    help="Streaming text classification: test, then train, event by event.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _count(text: str) -> int:
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
Limit = Annotated[int | None, typer.Option(help="Stop after N events.", metavar="N", parser=_count)]
LabelDelay = Annotated[int | None, typer.Option(help="Labels come N texts later.", metavar="N", parser=_count)]
Feedback = Annotated[str | None, typer.Option(help="Labels by id; a second source.", metavar="URL")]
LateLabels = Annotated[bool, typer.Option("--late-labels", help="Records of id and label without text are labels.")]
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
AllowPickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Unpickle guests in it, which runs code; if you trust it.")
]
Previous = Annotated[bool, typer.Option("--previous", help="Use the checkpoint before the last.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        print_result(f"streamlin {__version__}", sys.stdout)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show it.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        known = "run, demo, predict, explain, serve, produce, inspect, connectors"
        raise ConfigError(f"no command; there is {known} (streamlin --help)")


@app.command()
def run(
    source: Source = None,
    stdin_options: StdinOptions = None,
    config: ConfigFile = None,
    learner: Learners = None,
    predictions: Predictions = None,
    dead_letters: DeadLetters = None,
    checkpoint: CheckpointDir = None,
    report: Reports = None,
    limit: Limit = None,
    follow: Follow = False,
    slice_by: SliceBy = None,
    late_labels: LateLabels = False,
    feedback: Feedback = None,
    label_delay: LabelDelay = None,
    preset: Preset = None,
    set_: Set = None,
    previous: Previous = False,
    dashboard: Dashboard = None,
    dashboard_hide_text: HideText = False,
    metrics: Metrics = None,
    log_format: LogFormat = "text",
) -> None:
    """Replay or follow a source: predict, measure, learn."""
    from streamlin.settings import load_config

    flags = {
        "source.url": _source(source, stdin_options),
        "source.follow": follow or None,
        "sinks.predictions": predictions,
        "sinks.dead_letters": dead_letters,
        "checkpoint.path": checkpoint,
        "evaluation.slice_by": slice_by or None,
        "feedback.enabled": late_labels or None,
        "feedback.url": feedback,
        "feedback.delay": label_delay,
        "preset": preset,
    }
    run_config = load_config(config, flags, set_ or (), learner or ())
    run_config.source.needed_url()  # before anything large is imported
    _run(run_config, Asked(dashboard, dashboard_hide_text, metrics), report or (), limit, previous)


@app.command()
def demo(
    learner: Learners = None,
    predictions: Predictions = None,
    report: Reports = None,
    limit: Limit = None,
    preset: Preset = None,
    set_: Set = None,
    dashboard: Dashboard = None,
    dashboard_hide_text: HideText = False,
    metrics: Metrics = None,
    log_format: LogFormat = "text",
) -> None:
    """Run on 32,000 headlines: clickbait or news?"""
    from streamlin.settings import load_config

    headlines = Path(__file__).parent / "demo" / "clickbait.jsonl.gz"
    flags = {"source.url": str(headlines), "sinks.predictions": predictions, "preset": preset}
    asked = Asked(dashboard, dashboard_hide_text, metrics)
    _run(load_config(None, flags, set_ or (), learner or (), {}), asked, report or (), limit, False)


@app.command()
def predict(
    folder: Folder,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A path, '-', or a URL.")] = "-",
    stdin_options: StdinOptions = None,
    predictions: Annotated[str, typer.Option(help="Where to; standard output by default.", metavar="URL")] = "-",
    dead_letters: DeadLetters = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file: its table [kafka].", metavar="FILE")] = None,
    limit: Limit = None,
    previous: Previous = False,
    allow_pickle: AllowPickle = False,
    log_format: LogFormat = "text",
) -> None:
    """Predict with a checkpoint, learn nothing; JSON lines."""
    from streamlin.compiling import tell_if_compiling
    from streamlin.predictor import predict as predict_all
    from streamlin.progress import PlainProgress
    from streamlin.settings import load_kafka
    from streamlin.stopping import stopping
    from streamlin.summary import counted

    url = _source(source, stdin_options) or "-"
    kafka = load_kafka(config)
    stop, shown = threading.Event(), PlainProgress()
    with stopping(stop.set):
        tell_if_compiling(shown.notice)
        dead = predict_all(
            *(folder, url, predictions, dead_letters, limit, shown.notice, stop, previous, kafka, allow_pickle)
        )
    if dead:
        shown.notice(counted(dead, "dead letter"))


@app.command()
def serve(
    folder: Folder,
    address: Annotated[str, typer.Argument(metavar="[HOST:]PORT", help="Where; on this machine by default.")],
    config: ConfigFile = None,
    learner: Learners = None,
    late_labels: LateLabels = False,
    preset: Preset = None,
    set_: Set = None,
    previous: Previous = False,
    allow_pickle: AllowPickle = False,
    log_format: LogFormat = "text",
) -> None:
    """Answer over HTTP: predict texts, learn labels, tell how it goes."""
    from streamlin.compiling import tell_if_compiling
    from streamlin.progress import PlainProgress, figures
    from streamlin.settings import load_config
    from streamlin.stopping import stopping
    from streamlin.summary import counts_line

    flags = {"feedback.enabled": late_labels or None, "preset": preset}
    given = load_config(config, flags, set_ or (), learner or ())
    try:
        from streamlin.service.service import Service, configuration
    except ModuleNotFoundError as error:
        raise ConfigError(f"serve needs {error.name}, which is not installed: pip install 'streamlin[serve]'") from None

    stop, shown = threading.Event(), PlainProgress()
    with stopping(stop.set):
        tell_if_compiling(shown.notice)
        run_config = configuration(folder, given, previous, allow_pickle)
        with closing(Service(run_config, address, shown.notice, stop, previous)) as service:
            _tune_garbage()
            report = service.run()
    print_news(f"done: {counts_line(report)}", **figures(report))


@app.command()
def produce(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A path, '-', or a URL.")],
    sink: Annotated[str, typer.Argument(metavar="SINK", help="A URL, as kafka://host:port/topic, or a path.")],
    stdin_options: StdinOptions = None,
    config: ConfigFile = None,
    limit: Limit = None,
    set_: Set = None,
    log_format: LogFormat = "text",
) -> None:
    """Put a source's events into a topic, as JSON messages."""
    from streamlin.produce import produce as produce_all
    from streamlin.progress import PlainProgress
    from streamlin.settings import load_config
    from streamlin.stopping import stopping
    from streamlin.summary import counted

    run_config = load_config(config, {"source.url": _source(source, stdin_options)}, set_ or ())
    stop = threading.Event()
    with stopping(stop.set):
        sent = produce_all(run_config, sink, limit, PlainProgress().notice, stop)
    dead = f", {counted(sent.dead_letters, 'dead letter')}" if sent.dead_letters else ""
    print_result(f"{counted(sent.messages, 'message')}{dead}", sys.stderr if sink.startswith("-") else sys.stdout)


@app.command()
def inspect(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    top: Annotated[int, typer.Option(help="Heaviest features for each label.", metavar="N", parser=_count)] = 5,
    previous: Previous = False,
    allow_pickle: AllowPickle = False,
) -> None:
    """What a checkpoint holds: labels, weights, positions."""
    from streamlin.inspection import inspect as inspect_folder

    found = inspect_folder(folder, top, previous, allow_pickle)
    if as_json:
        print_result(json.dumps(found, ensure_ascii=False), sys.stdout)
    else:
        from streamlin.printing import rendered
        from streamlin.summary import inspection

        print_result(rendered(inspection(found), sys.stdout), sys.stdout)


@app.command()
def explain(
    folder: Folder,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Texts; '-' is what standard input holds.")],
    learner: Annotated[list[str] | None, typer.Option(help="Repeatable; all by default.", metavar="NAME")] = None,
    top: Annotated[int, typer.Option(help="Heaviest n-grams of each learner.", metavar="N", parser=_count)] = 10,
    category: Annotated[
        list[str] | None, typer.Option(help="One of the text's fields.categories. Repeatable.", metavar="FIELD=VALUE")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="A page with the texts shaded.", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, a line a text.")] = False,
    previous: Previous = False,
    allow_pickle: AllowPickle = False,
) -> None:
    """Why a checkpoint labels texts as it does: what each n-gram adds to each label's score."""
    from streamlin.compiling import tell_if_compiling
    from streamlin.explaining import explain_all
    from streamlin.progress import PlainProgress

    tell_if_compiling(PlainProgress().notice)
    explain_all(folder, texts, learner, category or (), html, top, as_json, previous, allow_pickle)


@app.command()
def connectors() -> None:
    """The schemes there are, learners of other packages too, and who provides them."""
    from streamlin.registry import Kind, schemes

    kinds: tuple[Kind, ...] = ("sources", "sinks", "learners")
    for kind in kinds:
        for name, point in schemes(kind).items():
            provider = point.dist.name if point.dist is not None else "?"
            shown = name if kind == "learners" else f"{name}://"
            print_result(f"{kind[:-1]:<8}{shown + ' ':<16}{point.value} ({provider})", sys.stdout)


def _source(source: str | None, stdin_options: str | None) -> str | None:
    """SOURCE, whichever way it was understood."""
    if stdin_options is None:
        return source
    if source not in (None, "-"):
        raise ConfigError(f"two sources: {source} and -?{stdin_options}; there can be one")
    return f"-?{stdin_options}"


def main() -> None:
    """The command `streamlin`; ends the process with the exit code of what happened."""
    if sys.stdout is not None:
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # what a terminal can't show
    try:
        code = app(standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        code = _exit_code(error)
    for file in (sys.stdout, sys.stderr):
        if file is not None:
            with suppress(OSError):
                file.flush()
    # Everything is closed by now. To take numba and LLVM down in good order would be a quarter of a second's wait.
    os._exit(code)


def _exit_code(error: Exception) -> int:
    """Show an error that has a line for people, and give its exit code; raise what is a mistake of ours again."""
    if isinstance(error, StreamlinError):
        if not isinstance(error.__cause__, BrokenPipeError) or is_read(1):
            _show_error(str(error))
        return error.exit_code
    # Typer's own errors of usage; by name, since it brings its own copy of click or not as its version likes.
    if hasattr(error, "format_message"):
        _show_error(error.format_message())
        return 2
    raise error


def _show_error(text: str) -> None:
    print_news(" ".join(line.strip() for line in text.splitlines()), "error")


def _run(config: "RunConfig", asked: Asked, reports: Sequence[Path], limit: int | None, previous: bool) -> None:
    """Run as configured, show the summary, write the report."""
    from streamlin.compiling import tell_if_compiling
    from streamlin.progress import progress
    from streamlin.report_file import ReportFile
    from streamlin.run import Run
    from streamlin.stopping import stopping
    from streamlin.watchers import watchers

    asked.check()
    report_files = [ReportFile(report) for report in reports]
    stop = threading.Event()
    with stopping(stop.set):
        with progress() as shown, watchers(asked, shown.notice) as watching:
            tell_if_compiling(shown.notice)
            with closing(Run(config, shown, watchers=watching, limit=limit, previous=previous, stop=stop)) as pipeline:
                _tune_garbage()
                _run_and_report(pipeline, report_files)
        _show(pipeline)


def _tune_garbage() -> None:
    gc.freeze()  # what was imported lives on; to look it through takes longer than to learn a batch
    gc.set_threshold(_GARBAGE)


def _run_and_report(pipeline: "Run", report_files: "Sequence[ReportFile]") -> None:
    """The report is written, and those who watch are told, whatever happens."""
    try:
        pipeline.run()
    finally:
        if report_files or pipeline.watchers:
            report = pipeline.report()
            for watcher in pipeline.watchers:
                watcher.finish(pipeline, report)
            for file in report_files:
                file.write(_page(pipeline, report) if file.is_page else json.dumps(report, ensure_ascii=False) + "\n")


def _page(pipeline: "Run", report: dict[str, Any]) -> str:
    from streamlin.addresses import shown
    from streamlin.html_report import html_report

    config = pipeline.config
    return html_report(report, config.evaluation.window, shown(config.source.needed_url()))


def _show(pipeline: "Run") -> None:
    """The summary, where no events go."""
    from streamlin.printing import rendered
    from streamlin.progress import figures
    from streamlin.summary import counts_line, summary

    report = pipeline.report()
    file = sys.stderr if pipeline.writes_to_stdout else sys.stdout
    if are_news_json():
        print_news(f"done: {counts_line(report)}", **figures(report))
        file = None if pipeline.writes_to_stdout else file
    print_result(rendered(summary(report, pipeline.config.evaluation.window), file), file)


if __name__ == "__main__":
    main()
