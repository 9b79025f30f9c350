"""Drain in plain Python: templates as lists of tokens."""

from collections.abc import Iterable, Sequence

VARIABLE = "<*>"


class NaiveDrain:
    """Tokens with digits vary; of the templates of a line's length and first token the most similar one has it."""

    def __init__(self, similarity: float = 0.7, most: int = 10_000) -> None:
        self.similarity, self.most = similarity, most
        self.templates: list[list[str]] = []

    def learn(self, pieces: Sequence[str]) -> tuple[int | None, str, bool]:
        """The number of a line's template, from 1, its text, and whether it is new."""
        line = tokens(pieces)
        best, number = -1.0, None
        for i, template in enumerate(self.templates):
            if len(template) == len(line) and template[:1] == line[:1]:
                similarity = sum(map(str.__eq__, template, line)) / len(line) if line else 1.0
                if similarity > best:
                    best, number = similarity, i
        if number is not None and best >= self.similarity:
            pairs = zip(self.templates[number], line, strict=True)
            self.templates[number] = [own if own == other else VARIABLE for own, other in pairs]
            return number + 1, " ".join(self.templates[number]), False
        if len(self.templates) == self.most:
            return None, " ".join(line), True
        self.templates.append(line)
        return len(self.templates), " ".join(line), True


def tokens(pieces: Iterable[str]) -> list[str]:
    """The first hundred, cut at ASCII white space."""
    found = [token for piece in pieces for token in piece.encode("utf-8", "surrogatepass").split()][:100]
    varies = [len(token) > 100 or any(byte in b"0123456789" for byte in token) for token in found]
    return [
        VARIABLE if variable else token.decode("utf-8", "surrogatepass")
        for variable, token in zip(varies, found, strict=True)
    ]


def grouping_accuracy(found: Sequence[object], true: Sequence[object]) -> float:
    """The share of lines whose group consists of the same lines as their true group; Zhu et al., ICSE-SEIP 2019."""
    groups, true_groups = _groups(found), _groups(true)
    return sum(len(lines) for lines in groups if lines in true_groups) / len(found)


def _groups(names: Sequence[object]) -> set[frozenset[int]]:
    lines: dict[object, set[int]] = {}
    for line, name in enumerate(names):
        lines.setdefault(name, set()).add(line)
    return set(map(frozenset, lines.values()))
