"""The command `streamlin explain`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from streamlin.commands import options
from streamlin.errors import ConfigError, ConnectorError
from streamlin.terminal.printing import print_json, print_notice, print_tables


def explain(
    folder: options.Folder,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Texts; '-' reads standard input.")],
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
    """Explain labels: what each n-gram adds to each label's score."""
    from streamlin.terminal.compile_notice import notify_when_compiling
    from streamlin.terminal.progress import PlainProgress

    notify_when_compiling(PlainProgress().notice)
    _explain_all(
        *(folder, texts, learner, category or (), html, top, as_json, previous),
        *(allow_pickle, not without_external_models),
    )


def _explain_all(
    folder: str,
    texts: Sequence[str],
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

    texts : `-` reads all of standard input. categories : `field=value`, the same for every text.
    allow_pickle, external_models : see `load_model`.

    Raises StreamlinError.
    """
    from rich.console import Group

    from streamlin.checkpoint.loading import load_model
    from streamlin.explanation import explain as explain_text
    from streamlin.explanation.page import page
    from streamlin.running.inputs_and_outputs import checkpoint_files
    from streamlin.streams.overlap import refuse_overlaps, source_place, standard_outputs
    from streamlin.terminal.report_file import ReportFile

    given = dict(_category(text) for text in categories)
    written = [] if html is None else ReportFile.places(html, "--html")
    read = [*checkpoint_files(folder, "DIR"), *(source_place("TEXT", text) for text in texts if text == "-")]
    refuse_overlaps(read, [*written, *standard_outputs()])
    file = None if html is None else ReportFile(html, "--html")
    model = load_model(folder, previous, allow_pickle, external_models).model
    for line in model.pop_notices():
        print_notice(line)
    explanations = [explain_text(model, _read(text), learners, given) for text in texts]
    if file is not None:
        file.write(page([(found.text, found.learners) for found in explanations], top))
    if as_json:
        for explanation in explanations:
            print_json(explanation.to_dict(top), sys.stdout)
        return
    tables = [part for explanation in explanations for part in ("", explanation.table(top))][1:]
    print_tables(Group(*tables), sys.stdout)


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
