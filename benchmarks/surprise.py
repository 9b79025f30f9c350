"""How fast the language model is, and whether it tells the first line of a new kind.

`python -m benchmarks.surprise FOLDER` reads `SHORT` streams and `LOGS` from a folder, as NAME.jsonl.gz. It prints texts
learned in a second of processor time by the model alone, the best of `TIMES`; and of each log the area under the ROC
curve (AUC) of the bits of a token, where lines are `content` and the first line of each `template` is to be told from
all others.
"""

import gzip
import json
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig, SurpriseConfig, ViewConfig
from streamlin.evaluation.surprise import Surprise
from streamlin.events import single_records
from streamlin.features.token_hashes import TokenHashes
from streamlin.features.view import View
from streamlin.streams.json_lines import json_lines

SHORT = ("tweet-emoji", "clickbait", "sms-spam", "clinc150", "rt-polarity", "trec-6")
LOGS = ("log-bgl-2k", "log-thunderbird-2k")
BATCH, TIMES = 1000, 5


def tokens_of(path: Path, view: View, field: str = "text") -> TokenHashes:
    """The words of all texts."""
    config = RunConfig(fields={"text": field})  # type: ignore[arg-type]
    batch, _ = json_lines(config).decode(single_records(gzip.decompress(path.read_bytes()).splitlines()))
    return view.buckets_and_tokens(batch)[1]


def bits_of(tokens: TokenHashes, surprise: Surprise) -> tuple[NDArray[np.float64], float]:
    """The bits a word of each text, in batches, and the seconds of processor time."""
    n, found, begun = tokens.indptr.size - 1, [], time.thread_time()
    for begin in range(0, n, BATCH):
        indptr = tokens.indptr[begin : begin + BATCH + 1]
        hashes = tokens.hashes[indptr[0] : indptr[-1]]
        found.append(surprise.update(indptr - indptr[0], hashes, np.ones(indptr.size - 1)))
    return np.concatenate(found), time.thread_time() - begun


def auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """The probability that a positive has the higher score; half of it for ties."""
    negative = np.sort(scores[~positive])
    below = (np.searchsorted(negative, scores[positive], side) for side in ("left", "right"))  # type: ignore[call-overload]
    return float(sum(counts.sum() for counts in below) / (2 * negative.size * positive.sum()))


def main(folder: Path) -> None:
    for name in SHORT:
        tokens = tokens_of(folder / f"{name}.jsonl.gz", View())
        n = tokens.indptr.size - 1
        for model in ("kneser_ney", "witten_bell"):
            surprises = [Surprise(SurpriseConfig(model=model), BATCH) for _ in range(TIMES)]  # type: ignore[arg-type]
            seconds = min(bits_of(tokens, surprise)[1] for surprise in surprises)
            bits = surprises[0].to_json([])["bits"]
            print(f"{name}, {tokens.hashes.size / n:.1f} words: {model} {n / seconds:,.0f} texts/s, {bits:.2f} bits")
    for name in LOGS:
        path = folder / f"{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            templates = [json.loads(line)["template"] for line in lines]
        first = np.zeros(len(templates), np.bool_)
        first[np.unique(templates, return_index=True)[1]] = True
        for masks in ((), ("ip", "hex", "number")):
            view = View(ViewConfig(masks=masks))
            for model in ("kneser_ney", "witten_bell"):
                surprise = Surprise(SurpriseConfig(model=model), BATCH)  # type: ignore[arg-type]
                bits, _ = bits_of(tokens_of(path, view, "content"), surprise)
                known = ~np.isnan(bits)
                print(f"{name}, masks {masks}, {model}: AUC {auc(bits[known], first[known]):.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
