"""The command `streamlin inspect`."""

import sys
from typing import Annotated

import typer

from streamlin.commands import options
from streamlin.terminal.printing import print_json, print_notice, print_tables


def inspect(
    folder: options.Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    top: Annotated[int, typer.Option(help="Heaviest features for each label.", metavar="N", parser=options.count)] = 5,
    previous: options.Previous = False,
    allow_pickle: options.AllowPickle = False,
    without_external_models: options.WithoutExternalModels = False,
) -> None:
    """Show what a checkpoint holds: labels, weights, positions."""
    from streamlin.checkpoint.inspection import inspect as inspect_folder
    from streamlin.kernel.late import few_by_python

    with few_by_python():
        found = inspect_folder(folder, top, previous, allow_pickle, not without_external_models, print_notice)
    if as_json:
        print_json(found, sys.stdout)
    else:
        from streamlin.terminal.inspection_tables import inspection

        whole = sys.stdout is None or not sys.stdout.isatty()
        print_tables(inspection(found, whole), sys.stdout)
