"""Other people's texts, made fit to be looked at."""

import re

SHORT, LONG = 40, 200
"""Characters that are shown of a name, and of a text."""

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def shortened(text: str, most: int = SHORT) -> str:
    """At most so many characters, those that control blanks; cut before they are looked at, however long it is.

    Marks of direction stay: the page shows each text isolated from what stands around it. Half a surrogate pair, which
    is no UTF-8, becomes a question mark.
    """
    cut = _CONTROLS.sub(" ", text[: most + 1]).encode(errors="replace").decode()
    return cut if len(text) <= most else f"{cut[: most - 1]}…"
