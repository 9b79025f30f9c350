"""Agreement of clusters with labels, and speed.

`python -m benchmarks.topics STREAM...` runs each clusterer over files such as `clinc150.jsonl.gz`. The normalized
mutual information is that of scikit-learn, of the numbers of clusters that the texts were given.
"""

import gzip
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.metrics import normalized_mutual_info_score

from streamlin import Pipeline

_CHARACTERS = {"words": {"tokens": "char_wb", "ngrams": [2, 2]}}
CONFIGURATIONS: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("leader", {"kind": "leader"}),
    ("leader, similarity 0.15", {"kind": "leader", "similarity": 0.15}),
    ("k_means, 64", {"kind": "k_means"}),
    ("soft_k_means, 64", {"kind": "soft_k_means"}),
    ("soft_k_means, 20", {"kind": "soft_k_means", "clusters": 20}),
)


def measured(texts: Sequence[str], labels: Sequence[str], learner: Mapping[str, Any], **tables: Any) -> str:
    """NMI, the share of new texts, clusters, texts a second."""
    warm = Pipeline(task="topics", learners=[learner], **tables)
    list(warm.run([{"text": text} for text in texts[:100]]))
    pipeline = Pipeline(task="topics", learners=[learner], **tables)
    begin = time.perf_counter()
    clusters = pipeline.run([{"text": text} for text in texts]).columns()["predicted"]
    rate = len(texts) / (time.perf_counter() - begin)
    nmi = normalized_mutual_info_score(labels, [-1 if number is None else number for number in clusters])
    row = next(iter(pipeline.metrics["learners"].values()))
    return f"NMI {nmi:.3f}  new {100 * row['new']:5.1f} %  {rate:9,.0f} texts/s"


def main(paths: Sequence[Path]) -> None:
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            events = [json.loads(line) for line in lines]
        texts, labels = ([event[key] for event in events] for key in ("text", "label"))
        tables = {"features": _CHARACTERS} if path.name.endswith("zh.jsonl.gz") else {}
        for title, learner in CONFIGURATIONS:
            print(f"{path.name:<32} {title:<24} {measured(texts, labels, learner, **tables)}", flush=True)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
