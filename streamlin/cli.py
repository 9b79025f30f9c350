"""Arguments → RunConfig → run → exit code.

What is heavy to import is imported where it is used: `--help` and a wrong option answer at once.
"""

import json
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlin.errors import ConfigError, StreamlinError

if TYPE_CHECKING:
    from streamlin.config import RunConfig
    from streamlin.pipeline import Pipeline

app = typer.Typer(
    help="Streaming text classification: test, then train, event by event.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Source = Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="A path, '-', or a URL.", show_default=False)]
Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder of a checkpoint.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A TOML file.", metavar="FILE")]
Learners = Annotated[list[str] | None, typer.Option("--learner", help="Repeatable; all by default.", metavar="NAME")]
Predictions = Annotated[str | None, typer.Option(help="Where to: one JSON line an event.", metavar="URL")]
DeadLetters = Annotated[str | None, typer.Option(help="Where records go that can't be read.", metavar="URL")]
CheckpointDir = Annotated[str | None, typer.Option("--checkpoint", help="Resume from it, save to it.", metavar="DIR")]
Report = Annotated[Path | None, typer.Option(help="The summary as JSON.", metavar="FILE")]
Limit = Annotated[int | None, typer.Option(help="Stop after N events.", metavar="N", min=0)]
Follow = Annotated[bool, typer.Option("--follow", help="Go on when the file ends, as tail -F does.")]
SliceBy = Annotated[list[str] | None, typer.Option(help="Accuracy for each value of a field too.", metavar="FIELD")]
Set = Annotated[list[str] | None, typer.Option("--set", help="Any configuration key.", metavar="KEY=VALUE")]
Previous = Annotated[bool, typer.Option("--previous", help="Use the checkpoint before the last.")]


@app.command()
def run(
    source: Source = None,
    config: ConfigFile = None,
    learner: Learners = None,
    predictions: Predictions = None,
    dead_letters: DeadLetters = None,
    checkpoint: CheckpointDir = None,
    report: Report = None,
    limit: Limit = None,
    follow: Follow = False,
    slice_by: SliceBy = None,
    set_: Set = None,
    previous: Previous = False,
) -> None:
    """Replay or follow a source: predict, measure, learn."""
    from streamlin.settings import load_config

    flags = {
        "source.url": source,
        "source.follow": follow or None,
        "sinks.predictions": predictions,
        "sinks.dead_letters": dead_letters,
        "checkpoint.path": checkpoint,
        "evaluation.slice_by": slice_by or None,
    }
    run_config = load_config(config, flags, set_ or (), learner or ())
    if run_config.source.url is None:
        raise ConfigError("no source; give a path, '-' or a URL, or source.url in the configuration")
    _run(run_config, report, limit, previous)


@app.command()
def demo(
    learner: Learners = None,
    predictions: Predictions = None,
    report: Report = None,
    limit: Limit = None,
    set_: Set = None,
) -> None:
    """Run on 32,000 headlines that come with streamlin: clickbait or news?"""
    from streamlin.settings import load_config

    headlines = Path(__file__).parent / "demo" / "clickbait.jsonl.gz"
    flags = {"source.url": str(headlines), "sinks.predictions": predictions}
    _run(load_config(None, flags, set_ or (), learner or (), {}), report, limit, False)


@app.command()
def predict(
    folder: Folder,
    source: Annotated[str, typer.Argument(metavar="[SOURCE]", help="A path, '-', or a URL.")] = "-",
    predictions: Annotated[str, typer.Option(help="Where to; standard output by default.", metavar="URL")] = "-",
    dead_letters: DeadLetters = None,
    limit: Limit = None,
) -> None:
    """Predict with a checkpoint, learn nothing; JSON lines."""
    from streamlin.predictor import predict as predict_all
    from streamlin.progress import PlainProgress

    stop = threading.Event()
    with _stopping(stop.set):
        predict_all(folder, source, predictions, dead_letters, limit, PlainProgress().notice, stop)


@app.command()
def inspect(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    top: Annotated[int, typer.Option(help="Heaviest features to show for each label.", metavar="N", min=0)] = 5,
    previous: Previous = False,
) -> None:
    """What a checkpoint holds: learners, labels, positions, heaviest features."""
    from streamlin.inspection import inspect as inspect_folder

    found = inspect_folder(folder, top, previous)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
    else:
        from streamlin.summary import inspection

        _console(sys.stdout).print(inspection(found))


@app.command()
def connectors() -> None:
    """The schemes there are, and who provides them."""
    from streamlin.registry import Kind, schemes

    kinds: tuple[Kind, ...] = ("sources", "sinks")
    for kind in kinds:
        for name, point in schemes(kind).items():
            provider = point.dist.name if point.dist is not None else "?"
            print(f"{kind[:-1]:<8}{name + '://':<16}{point.value} ({provider})")


def main() -> None:
    """The command `streamlin`; ends the process with the exit code of what happened."""
    try:
        code = app(standalone_mode=False)
    except StreamlinError as error:
        sys.exit(_fail(str(error), error.exit_code))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        # Typer's own errors of usage; by name, since it brings its own copy of click or not as its version likes.
        if hasattr(error, "format_message"):
            sys.exit(_fail(_one_line(error), 2))
        raise
    sys.exit(code or 0)


def _run(config: "RunConfig", report: Path | None, limit: int | None, previous: bool) -> None:
    """Run as configured, show the summary, write the report."""
    from streamlin.compiling import tell_if_compiling
    from streamlin.pipeline import Pipeline
    from streamlin.progress import progress

    if report is not None:
        _check_writable(report)
    with progress() as shown:
        tell_if_compiling(shown.notice)
        pipeline = Pipeline(config, shown, limit=limit, previous=previous)
        try:
            with _stopping(pipeline.stop.set):
                pipeline.run()
        finally:
            if report is not None:
                _write_report(report, pipeline.report())
            pipeline.close()
    _show(pipeline)


def _show(pipeline: "Pipeline") -> None:
    from streamlin.summary import summary

    to_stdout = (pipeline.config.sinks.predictions or "").startswith("-")
    console = _console(sys.stderr if to_stdout else sys.stdout)
    console.print(summary(pipeline.report(), pipeline.config.evaluation.window))


def _console(file: Any) -> Any:
    from rich.console import Console

    return Console(file=file, highlight=False, width=None if file.isatty() else 100, soft_wrap=not file.isatty())


class _stopping:  # noqa: N801  # used as a statement
    """While entered, SIGINT and SIGTERM call `stop`; a second SIGINT interrupts."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._old: dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._old[number] = signal.signal(number, self._handle)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: object) -> None:
        self._stop()
        if number == signal.SIGINT:
            signal.signal(number, signal.default_int_handler)


def _check_writable(path: Path) -> None:
    try:
        with path.open("a"):
            pass
    except OSError as error:
        raise ConfigError(f"--report {path}: can't be written: {error.strerror}") from None


def _write_report(path: Path, report: dict[str, Any]) -> None:
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(json.dumps(report, ensure_ascii=False) + "\n", encoding="utf-8")
        new.replace(path)
    except OSError as error:
        _fail(f"--report {path}: can't be written: {error.strerror}", 3)


def _one_line(error: Any) -> str:
    return " ".join(str(error.format_message()).split())


def _fail(line: str, code: int) -> int:
    print(f"streamlin: {' '.join(line.splitlines())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
