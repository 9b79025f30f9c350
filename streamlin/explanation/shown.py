"""Texts of strangers, made fit to be looked at."""

_ELLIPSIS = "…"


def shown(text: str, most: int, blank: str = " ") -> str:
    """In one line of at most `most` characters, without what would steer a terminal; `blank` stands for a blank."""
    cut = text if len(text) <= most else text[: most - 1] + _ELLIPSIS
    return "".join(
        blank if character.isspace() else character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in cut
    )


def ngrams_shown(ngrams: list[str], most: int = 3) -> str:
    """Those of a feature; a blank at an end, which is part of some, is made visible."""
    texts = []
    for ngram in ngrams[:most]:
        visible = ngram != ngram.strip()
        texts.append(shown(ngram, 40, "\N{OPEN BOX}" if visible else " "))
    return " / ".join([*texts, _ELLIPSIS] if len(ngrams) > most else texts)
