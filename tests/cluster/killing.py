"""Killing a run exactly where it saves, without touching its code: by what Python tells of its system calls."""

from pathlib import Path

_PROGRAM = """
import os, signal, sys

def kill(event, arguments, left=[{count}]):
    if event == {event!r} and {name!r} in str(arguments[0]):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
"""
PLACES = {
    "before a checkpoint is begun": ("open", "checkpoint.new"),
    "before the last one becomes the previous one": ("os.link", "checkpoint.safetensors"),
    "before the new one is renamed": ("os.rename", "checkpoint.new"),
    "before plans are dropped": ("open", "plans.new"),
    "before the rest of them is renamed": ("os.rename", "plans.new"),
}
"""Where a run saves: the event of the interpreter, and the file."""


def killed_at(folder: Path, place: str, count: int) -> dict[str, str]:
    """The environment of a run that is killed when it comes to a place for the count-th time."""
    event, name = PLACES[place]
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_PROGRAM.format(count=count, event=event, name=name))
    return {"PYTHONPATH": str(folder)}
