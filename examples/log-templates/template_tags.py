"""Tags for the tokens of log messages, from the messages' templates: `constant` or `variable`.

    python template_tags.py FILE [--content FIELD] [--template FIELD] [--by-id] [--as FIELD] > tagged.jsonl

FILE has a message and its template in each record: JSON lines (.jsonl, also .jsonl.gz), or a table with a header
(.csv), such as the structured files of loghub and logparser (--content Content --template EventTemplate). The output is
for `streamlin run tagged.jsonl --preset log-template`: each message with its id, if it has one, and a tag for each
piece between blanks. Messages that do not fit their template have no tags. --as names its field there.

In a template, `<*>` stands for any text; inside a token also for none. A token is variable if any of it is, or may be,
in the place of a `<*>`.
With --by-id, templates are only names of kinds of messages: a token is variable if it differs among the messages of
one kind with as many tokens. If there is only one such message, it has no tags.
"""

import argparse
import csv
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

NAMES = ("constant", "variable")
Record = dict[str, str]
Variable = Sequence[bool]
"""Of each token of a message, whether it is variable."""


def by_template(template: str, content: str) -> Variable | None:
    """From the text of the template; None if the message does not fit it. Blanks count as one, however many."""
    tokens = content.split()
    places = wildcards(" ".join(template.split()), " ".join(tokens))
    if places is None:
        return None
    found, begin = [], 0
    for token in tokens:
        end = begin + len(token)
        found.append(any(first <= end and begin <= last for first, last in places))
        begin = end + 1
    return found


def wildcards(template: str, content: str) -> list[tuple[int, int]] | None:
    """Where each `<*>` begins and ends in the content, each as short as may be; None if the content does not fit."""
    first, *rest = template.split("<*>")
    if not content.startswith(first) or (not rest and content != first):
        return None
    places, at = [], len(first)
    for i, text in enumerate(rest):
        is_last = i == len(rest) - 1
        found = len(content) - len(text) if is_last else content.find(text, at)
        if found < at or not content.startswith(text, found):
            return None
        places.append((at, found))
        at = found + len(text)
    return places


def by_id(records: Sequence[tuple[str, str]]) -> list[Variable | None]:
    """From the other messages of the same kind, for messages given as kind and content."""
    kinds: dict[tuple[str, int], list[list[str]]] = defaultdict(list)
    for kind, content in records:
        tokens = content.split()
        kinds[kind, len(tokens)].append(tokens)
    differing = {
        key: [any(a != b for a, b in pairwise(column)) for column in zip(*messages, strict=True)]
        for key, messages in kinds.items()
        if len(messages) > 1
    }
    return [differing.get((kind, len(content.split()))) for kind, content in records]


def read(path: Path) -> Iterator[Record]:
    """The records of a file."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as table:
            yield from csv.DictReader(table)
    else:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as lines:
            yield from map(json.loads, lines)


def main() -> None:
    """Write the tagged messages, and to standard error how many have tags."""
    parser = argparse.ArgumentParser(description="Tags for the tokens of log messages, from the messages' templates.")
    parser.add_argument("file", type=Path, help="JSON lines (.jsonl, .jsonl.gz) or a table with a header (.csv)")
    parser.add_argument("--content", default="content", help="the field of the message")
    parser.add_argument("--template", default="template", help="the field of the template")
    parser.add_argument("--by-id", action="store_true", help="templates are names; compare the messages of each")
    parser.add_argument("--as", default="text", dest="text", help="the field of the message in the output")
    given = parser.parse_args()
    records = list(read(given.file))
    pairs = [(record[given.template], record[given.content]) for record in records]
    tags = by_id(pairs) if given.by_id else [by_template(template, content) for template, content in pairs]
    for record, own in zip(records, tags, strict=True):
        event: dict[str, object] = {"id": record["id"]} if "id" in record else {}
        event[given.text] = record[given.content]
        if own is not None:
            event["tags"] = [NAMES[variable] for variable in own]
        print(json.dumps(event, ensure_ascii=False))
    derived = sum(own is not None for own in tags)
    print(f"{derived:,} of {len(tags):,} messages have tags", file=sys.stderr)


if __name__ == "__main__":
    main()
