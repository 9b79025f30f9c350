"""Untrusted texts, made safe and short enough to be shown."""

import re

SHORT, LONG = 40, 200
"""Characters shown of a name, and of a text."""

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def shortened(text: str, most: int = SHORT) -> str:
    """At most `most` characters; control characters become blanks.

    Directional marks stay, since the page isolates each text from its surroundings. A lone surrogate, which UTF-8
    cannot encode, becomes a question mark. The text is cut first, so its length does not matter.
    """
    cut = _CONTROLS.sub(" ", text[: most + 1]).encode(errors="replace").decode()
    return cut if len(text) <= most else f"{cut[: most - 1]}…"
