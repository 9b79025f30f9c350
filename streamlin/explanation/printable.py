"""Untrusted texts made safe to print."""

_ELLIPSIS = "…"


def printable(text: str, most: int, blank: str = " ") -> str:
    """The text in one line of at most `most` characters, without control characters; `blank` replaces white space."""
    cut = text if len(text) <= most else text[: most - 1] + _ELLIPSIS
    return "".join(
        blank if character.isspace() else character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in cut
    )


def printable_ngrams(ngrams: list[str], most: int = 3) -> str:
    """A feature's n-grams; if one begins or ends with a blank, its blanks are made visible."""
    texts = []
    for ngram in ngrams[:most]:
        visible = ngram != ngram.strip()
        texts.append(printable(ngram, 40, "\N{OPEN BOX}" if visible else " "))
    return " / ".join([*texts, _ELLIPSIS] if len(ngrams) > most else texts)
