"""Make a stream ready for all alike: `python -m benchmarks.peer_stream SOURCE TARGET RAW TOKENS`.

The texts are lower-cased and cut as streamlin does, by its plain twin, and their tokens joined by one blank: whoever
splits at blanks has the same tokens. `:` and `|` within tokens, which mean something to VW, become `：` and `｜`.
RAW gets the same events with their texts as they are.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from typing import Any

from streamlin.config import ViewConfig
from tests.naive_features import tokens

_PLAIN = str.maketrans(":|", "：｜")


def main() -> None:
    source, target, raw, kind = sys.argv[1:]
    view = ViewConfig.model_validate({"tokens": kind})
    events, labels = 0, set()
    with open(target, "w", encoding="utf-8") as cut, open(raw, "w", encoding="utf-8") as whole:
        for event in _events(source):
            kept = {key: event[key] for key in ("id", "text", "label", "split") if key in event}
            whole.write(_line(kept))
            cut.write(_line(kept | {"text": " ".join(tokens(event["text"], view)).translate(_PLAIN)}))
            labels.add(event["label"])
            events += 1
    print(json.dumps({"events": events, "labels": len(labels)}))


def _line(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False) + "\n"


def _events(path: str) -> Iterator[dict[str, Any]]:
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    main()
