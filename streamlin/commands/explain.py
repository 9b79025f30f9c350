"""The command `streamlin explain`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlin.commands import options
from streamlin.errors import ConfigError, ConnectorError, RecordError
from streamlin.terminal.printing import print_json, print_notice, print_tables

if TYPE_CHECKING:
    from streamlin.checkpoint.loading import LoadedModel
    from streamlin.explanation import Explanation
    from streamlin.explanation.tag_explanation import TagExplanation


def explain(
    folder: options.Folder,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Texts; '-' reads standard input.")],
    events: Annotated[bool, typer.Option("--events", help="Read TEXTs as events: JSON objects of fields.")] = False,
    learner: Annotated[
        list[str] | None, typer.Option(help="Use this learner (default: all). Repeatable.", metavar="NAME")
    ] = None,
    top: Annotated[int, typer.Option(help="Heaviest n-grams of each learner.", metavar="N", parser=options.count)] = 10,
    category: Annotated[
        list[str] | None, typer.Option(help="A category of the texts. Repeatable.", metavar="FIELD=VALUE")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the texts shaded.", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one line per text.")] = False,
    previous: options.Previous = False,
    allow_pickle: options.AllowPickle = False,
    without_external_models: options.WithoutExternalModels = False,
) -> None:
    """Explain labels and tags: what each feature adds to each score."""
    from streamlin.terminal.compile_notice import notify_when_compiling
    from streamlin.terminal.progress import PlainProgress

    notify_when_compiling(PlainProgress().notice)
    _explain_all(
        *(folder, texts, events, learner, category or (), html, top, as_json, previous),
        *(allow_pickle, not without_external_models),
    )


def _explain_all(
    folder: str,
    texts: Sequence[str],
    as_events: bool,
    learners: Sequence[str] | None,
    categories: Sequence[str],
    html: Path | None,
    top: int,
    as_json: bool,
    previous: bool,
    allow_pickle: bool,
    external_models: bool,
) -> None:
    """Print the explanations of the texts, and write them to the page `html`.

    texts : `-` reads all of standard input. as_events : they are JSON objects, in standard input one per line.
    categories : `field=value`, the same for every text.
    allow_pickle, external_models : see `load_model`.

    Raises StreamlinError.
    """
    from rich.console import Group

    from streamlin.checkpoint.loading import load_model
    from streamlin.explanation.page import page
    from streamlin.running.inputs_and_outputs import checkpoint_files
    from streamlin.streams.overlap import refuse_overlaps, source_place, standard_outputs
    from streamlin.terminal.report_file import ReportFile

    given = dict(_category(text) for text in categories)
    if given and as_events:
        raise ConfigError("--category: not with --events; expected the categories among the fields of each event")
    written = [] if html is None else ReportFile.places(html, "--html")
    read = [*checkpoint_files(folder, "DIR"), *(source_place("TEXT", text) for text in texts if text == "-")]
    refuse_overlaps(read, [*written, *standard_outputs()])
    file = None if html is None else ReportFile(html, "--html")
    loaded = load_model(folder, previous, allow_pickle, external_models)
    if loaded.config.task == "parsing":
        raise ConfigError("explain: not for task = 'parsing'; only texts and tokens are explained")
    if loaded.config.task == "topics":
        raise ConfigError("explain: not for task = 'topics'; the report and inspect show the clusters' heaviest words")
    for line in loaded.model.pop_notices():
        print_notice(line)
    contents = [_read(text) for text in texts]
    explanations = _explanations(loaded, contents, as_events, learners, given)
    if file is not None:
        file.write(page([explanation.section(top) for explanation in explanations]))
    if as_json:
        for explanation in explanations:
            print_json(explanation.to_dict(top), sys.stdout)
        return
    tables = [part for explanation in explanations for part in ("", explanation.table(top))][1:]
    print_tables(Group(*tables), sys.stdout)


def _explanations(
    loaded: "LoadedModel",
    texts: Sequence[str],
    as_events: bool,
    learners: Sequence[str] | None,
    categories: Mapping[str, str],
) -> "Sequence[Explanation | TagExplanation]":
    """The explanation of each text or event."""
    from streamlin.explanation import explain, explain_event
    from streamlin.streams.python_objects import IterableSource

    model, config = loaded.model, loaded.config
    if config.task == "classification" and not as_events:
        return [explain(model, text, learners, categories) for text in texts]
    if categories:
        raise ConfigError(f"--category: not for task = '{config.task}'; expected columns of tokens, with --events")
    rows: Sequence[Any] = [_event(line) for text in texts for line in text.splitlines()] if as_events else texts
    source = IterableSource((), config)
    try:
        return [explain_event(model, source.texts([row]), learners) for row in rows]
    except RecordError as error:
        raise ConfigError(f"TEXT: {error}") from None


def _event(line: str) -> dict[str, Any]:
    """A line of JSON as an event."""
    import msgspec

    try:
        return msgspec.json.decode(line.encode(), type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise ConfigError(f"TEXT {line!r:.60} is not a JSON object, as --events expects: {error}") from None


def _category(text: str) -> tuple[str, str]:
    field, sign, value = text.partition("=")
    if not sign:
        raise ConfigError(f"--category {text}: expected FIELD=VALUE")
    return field, value


def _read(text: str) -> str:
    """The text; for `-` standard input, without its last line end."""
    if text != "-":
        return text
    if sys.stdin is None:
        raise ConnectorError("standard input can't be read: it is closed")
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ConfigError(f"standard input is not UTF-8 (byte {error.start})") from None
