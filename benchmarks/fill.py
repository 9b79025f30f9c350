"""Put measured figures into documents: `python -m benchmarks.fill REPORT.md DOCUMENT.md…`.

Each piece of the report, with its marks, replaces the piece of that name in every document that has one.
"""

import sys
from pathlib import Path

from benchmarks.tables import MARKED


def main() -> None:
    """Say what was put where."""
    report, *documents = map(Path, sys.argv[1:])
    pieces = {found["name"]: found[0] for found in MARKED.finditer(report.read_text(encoding="utf-8"))}
    for document in documents:
        text = document.read_text(encoding="utf-8")
        document.write_text(filled(text, pieces), encoding="utf-8")
        for name in pieces.keys() & {found["name"] for found in MARKED.finditer(text)}:
            print(f"{document}: {name}")


def filled(text: str, pieces: dict[str, str]) -> str:
    """The text with new figures in place of those that it has; what is not in `pieces` stays."""
    return MARKED.sub(lambda found: pieces.get(found["name"], found[0]), text)


if __name__ == "__main__":
    main()
