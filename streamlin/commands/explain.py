"""The command `streamlin explain`."""

from pathlib import Path
from typing import Annotated

import typer

from streamlin.commands import options


def explain(
    folder: options.Folder,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Texts; '-' is what standard input holds.")],
    learner: Annotated[list[str] | None, typer.Option(help="Repeatable; all by default.", metavar="NAME")] = None,
    top: Annotated[int, typer.Option(help="Heaviest n-grams of each learner.", metavar="N", parser=options.count)] = 10,
    category: Annotated[
        list[str] | None, typer.Option(help="One of the text's fields.categories. Repeatable.", metavar="FIELD=VALUE")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="A page with the texts shaded.", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, a line a text.")] = False,
    previous: options.Previous = False,
    allow_pickle: options.AllowPickle = False,
) -> None:
    """Why a checkpoint labels texts as it does: what each n-gram adds to each label's score."""
    from streamlin.compiling import tell_if_compiling
    from streamlin.explaining import explain_all
    from streamlin.progress import PlainProgress

    tell_if_compiling(PlainProgress().notice)
    explain_all(folder, texts, learner, category or (), html, top, as_json, previous, allow_pickle)
