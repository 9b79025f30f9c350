"""Vowpal Wabbit in its own process.

`convert STREAM FILE codes|signs` writes its format, labels as 1, 2, … or as -1 and 1; `drive FILE PREDICTIONS OPTIONS`
lets its C++ driver read that, and write predictions unless PREDICTIONS is `-`; `score STREAM FILE OPTIONS` predicts,
then learns, one by one from Python, and counts correct predictions.
"""

import json
import sys
import time
from typing import Any

import msgspec
from vowpalwabbit import Workspace

from benchmarks.peer_events import counted, read


class _Event(msgspec.Struct):
    text: str
    label: str


def main() -> None:
    command, *arguments = sys.argv[1:]
    print(json.dumps({"convert": convert, "drive": drive, "score": score}[command](*arguments)))


def convert(stream: str, path: str, style: str) -> dict[str, float]:
    """Seconds that the conversion of JSON lines takes."""
    begin = time.perf_counter()
    decoder = msgspec.json.Decoder(_Event)
    codes: dict[str, int] = {}
    first, step = {"codes": (1, 1), "signs": (-1, 2)}[style]
    with open(stream, "rb") as source, open(path, "w", encoding="utf-8") as target:
        for line in source:
            event = decoder.decode(line)
            code = codes.setdefault(event.label, first + step * len(codes))
            target.write(f"{code} | {event.text}\n")
    return {"seconds": time.perf_counter() - begin}


def drive(path: str, predictions: str, *options: str) -> dict[str, float]:
    """Seconds from before the start of the driver until everything is written."""
    written = () if predictions == "-" else ("-p", predictions)
    begin = time.perf_counter()
    workspace = Workspace(arg_list=[*options, "-d", path, *written, "--quiet"])
    workspace.finish()
    return {"seconds": time.perf_counter() - begin}


def score(stream: str, path: str, *options: str) -> dict[str, Any]:
    """Correct predictions of all events and on the test slice."""
    workspace = Workspace(arg_list=[*options, "--quiet"])
    with open(path, encoding="utf-8") as file:
        right = [_right(workspace, line) for line in file]
    workspace.finish()
    return counted(read(stream), right)


def _right(workspace: Workspace, line: str) -> bool:
    """Predict, then learn."""
    example = workspace.parse(line.rstrip("\n"))
    predicted = int(workspace.predict(example))
    workspace.learn(example)
    workspace.finish_example(example)
    return predicted == int(line.partition(" ")[0])


if __name__ == "__main__":
    main()
