"""Where the tokens of a text are, across the blocks that are looked at together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import Tokens, ViewConfig
from streamlin.features.characters import ascii_ranges, token_characters
from streamlin.features.tokens import write_tokens
from streamlin.kernel.blocks import BLOCK, write_block
from streamlin.kernel.byte_buffers import encode_texts
from tests import naive_features

CUT: list[Tokens] = ["words", "scikit-learn", "whitespace"]
LONG = st.text(st.sampled_from("aBz09_ \t-\x00\x7f"), min_size=BLOCK - 2, max_size=2 * BLOCK + 2)
MIXED = LONG | st.text(st.sampled_from("aB \té世\u0301\u200d"), max_size=BLOCK)


def cut(texts: list[str], tokens: Tokens, lowercase: bool) -> list[list[str]]:
    """The tokens of each text by the kernel."""
    lowered = [text if text.isascii() or not lowercase else text.lower() for text in texts]
    tables = ascii_ranges(tokens, lowercase), token_characters(tokens)
    octets, starts, ends = write_tokens(*encode_texts(lowered), *tables, 2 if tokens == "scikit-learn" else 1)
    found = [octets[starts[j] : starts[j + 1] - 1].tobytes().decode() for j in range(ends[-1] if texts else 0)]
    return [found[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("tokens", CUT)
@given(texts=st.lists(MIXED, max_size=4))
def test_tokens_of_long_texts_equal_the_twin(texts: list[str], tokens: Tokens, lowercase: bool) -> None:
    view = ViewConfig(tokens=tokens, lowercase=lowercase)
    assert cut(texts, tokens, lowercase) == [naive_features.tokens(text, view) for text in texts]


@pytest.mark.parametrize("size", range(BLOCK - 1, BLOCK + 2))
def test_a_token_ends_at_the_end_of_a_block(size: int) -> None:
    assert cut(["x" * size, "y"], "words", True) == [["x" * size], ["y"]]
    assert cut(["x" * (size - 1) + " y"], "words", True) == [["x" * (size - 1), "y"]]


@given(st.binary(min_size=BLOCK, max_size=BLOCK).filter(bytes.isascii))
def test_a_block_byte_by_byte(block: bytes) -> None:
    """As it is written where indices are checked."""
    out = np.zeros(BLOCK, np.uint8)
    data, ranges = np.frombuffer(block, np.uint8), ascii_ranges("words", True)
    bits = int(write_block.py_func(data, np.uint64(0), ranges, out, np.uint64(0)))
    assert [bool(bits >> j & 1) for j in range(BLOCK)] == [chr(byte).isalnum() or byte == ord("_") for byte in block]
    assert out.tobytes() == block.lower()
