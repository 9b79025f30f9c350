"""Put measured figures into documents: `python -m benchmarks.fill REPORT.md DOCUMENT.md…`.

Each marked piece of the report replaces the piece of the same name in every document that has one.
"""

import sys
from pathlib import Path

from benchmarks.tables import MARKED


def main() -> None:
    """Fill the documents and print which pieces each one got."""
    report, *documents = map(Path, sys.argv[1:])
    pieces = {found["name"]: found[0] for found in MARKED.finditer(report.read_text(encoding="utf-8"))}
    for document in documents:
        text = document.read_text(encoding="utf-8")
        document.write_text(filled(text, pieces), encoding="utf-8")
        for name in pieces.keys() & {found["name"] for found in MARKED.finditer(text)}:
            print(f"{document}: {name}")


def filled(text: str, pieces: dict[str, str]) -> str:
    """The text with its marked pieces replaced; those that are not in `pieces` stay."""
    return MARKED.sub(lambda found: pieces.get(found["name"], found[0]), text)


if __name__ == "__main__":
    main()
