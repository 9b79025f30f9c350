"""Explaining texts with a checkpoint, for the command line."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Group

from streamlin.checkpoint import load
from streamlin.errors import ConfigError
from streamlin.explanation import explain
from streamlin.explanation.page import page
from streamlin.predictor import config_of, model_of
from streamlin.printing import print_result, rendered
from streamlin.report_file import ReportFile


def explain_all(
    folder: str,
    texts: Sequence[str],
    learners: Sequence[str] | None,
    categories: Sequence[str],
    html: Path | None,
    top: int,
    as_json: bool,
    previous: bool,
    allow_pickle: bool = False,
) -> None:
    """Print, and write to `html`, why a checkpoint labels texts as it does.

    texts : `-` is all that standard input holds. categories : `field=value`, those of each text.
    allow_pickle : guests in the checkpoint may be unpickled.

    Raises StreamlinError.
    """
    given = dict(_category(text) for text in categories)
    file = None if html is None else ReportFile(html, "--html")
    arrays, state = load(folder, previous)
    model = model_of(config_of(state), arrays, state, allow_pickle)
    explanations = [explain(model, _read(text), learners, given) for text in texts]
    if file is not None:
        file.write(page(explanations, top))
    if as_json:
        for explanation in explanations:
            print_result(json.dumps(explanation.to_dict(top), ensure_ascii=False), sys.stdout)
        return
    tables = [part for explanation in explanations for part in ("", explanation.table(top))][1:]
    print_result(rendered(Group(*tables), sys.stdout), sys.stdout)


def _category(text: str) -> tuple[str, str]:
    field, sign, value = text.partition("=")
    if not sign:
        raise ConfigError(f"--category {text}: it takes FIELD=VALUE")
    return field, value


def _read(text: str) -> str:
    """The text, or standard input, its last line end left out."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ConfigError(f"standard input is not UTF-8 (byte {error.start})") from None
