"""Names of features in plain Python."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from streamlin.config import ViewConfig
from tests.naive_features import features, murmur3_32, ngrams

Content = tuple[Sequence[str], Mapping[str, str | None]]


def names(events: Iterable[Content], config: ViewConfig, bits: int, limit: int) -> dict[int, str]:
    """Hash -> n-gram, in order of learning. Each event is its pieces of text and its categories."""
    sightings: Counter[int] = Counter()
    named: dict[int, str] = {}
    for pieces, categories in events:
        sightings.update(features(pieces, config, bits, categories).keys())
        found = [ngram for piece in pieces for ngram in ngrams(piece, config)]
        found += [f"{field}={value}" for field, value in categories.items() if value is not None]
        for ngram in found:
            hashed = murmur3_32(ngram.encode("utf-8", "surrogatepass"))
            if sightings[abs(hashed) % 2**bits] >= config.min_count and len(named) < limit:
                named.setdefault(hashed, shortened(ngram))
    return named


def shortened(ngram: str) -> str:
    """At most 64 bytes."""
    if len(ngram.encode("utf-8", "surrogatepass")) <= 64:
        return ngram
    while len(ngram.encode("utf-8", "surrogatepass")) > 61:
        ngram = ngram[:-1]
    return ngram + "…"
