"""Foreign texts, made safe to display."""

import re

SHORT, LONG = 40, 200
"""Characters shown of a name, and of a text."""

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def shortened(text: str, most: int = SHORT) -> str:
    """At most `most` characters, with control characters as blanks; cut first, so that a long text costs no more.

    Direction marks stay: the page isolates each text from its surroundings. Half a surrogate pair, which is not valid
    in UTF-8, becomes a question mark.
    """
    cut = _CONTROLS.sub(" ", text[: most + 1]).encode(errors="replace").decode()
    return cut if len(text) <= most else f"{cut[: most - 1]}…"
