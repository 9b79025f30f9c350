"""Notices that most texts are in a script without blanks, which cutting into words does not suit."""

import re
from collections.abc import Iterable, Sequence

from streamlin.config import ViewConfig

_TEXTS = 1000
_WORD = 8
"""Characters; a longer run without a blank is no single word."""
_THAI_LAO, _MYANMAR, _KHMER, _KANA = "\u0e00-\u0eff", "\u1000-\u109f", "\u1780-\u17ff", "\u3040-\u30ff"
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_THAI_LAO}{_MYANMAR}{_KHMER}{_KANA}{_HAN}]{{{_WORD + 1}}}")


class UnsegmentedTexts:
    """Looks at the first thousand texts of a run.

    views : the views that learners read; if one of them reads characters, there is nothing to notice.
    """

    def __init__(self, views: Iterable[ViewConfig]) -> None:
        tokens = {view.tokens for view in views}
        self._left = _TEXTS if tokens and "char_wb" not in tokens else 0
        self._found = 0

    def observe(self, texts: Sequence[str]) -> str | None:
        """Take a batch's texts into account; returns a line to show at the thousandth text, if at all."""
        if self._left == 0:
            return None
        texts = texts[: self._left]
        self._left -= len(texts)
        if not "".join(texts).isascii():
            self._found += sum(_RUN.search(text) is not None for text in texts)
        if self._left > 0 or self._found * 2 <= _TEXTS:
            return None
        return (
            f"{self._found:,} of the first {_TEXTS:,} texts are in a script without blanks, so that whole phrases are "
            'single words; characters suit them better: features.VIEW.tokens = "char_wb", or preset = "accurate"'
        )
