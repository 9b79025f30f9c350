"""Masks by table, and properties over all addresses and UUIDs."""

import ipaddress
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import ViewConfig
from streamlin.features import View
from streamlin.features.masks import masked
from tests import naive_features as naive

ALL = ("number", "hex", "ip", "uuid")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("took 12 s", "took __number__ s"),
        ("-1.5e-3, +7 and 1,234,567.89!", "__number__, __number__ and __number__!"),
        ("version 2.10.1 of 2015-07-29", "version __number__ of __number__-__number__-__number__"),
        ("port=5005 (20%) .5", "port=__number__ (__number__%) .__number__"),
        ("log2 5ms 1.5ms 1e5x x_7 a-5", "log2 5ms 1.5ms 1e5x x_7 a-__number__"),
        ("٣٤ and 5.", "__number__ and __number__."),
        ("0x1F 0xdeadBEEF", "__hex__ __hex__"),
        ("deadbeef 12345678 dead1234 DEAD1234 dead123", "deadbeef __number__ __hex__ __hex__ dead123"),
        ("blk_38865049064139660 id-0f0f0f0f", "blk_38865049064139660 id-__hex__"),
        ("/10.250.19.102:54106 to 10.0.0.1.", "/__ip__ to __ip__."),
        ("rhost=218.188.2.4 999.1.1.1 1.2.3.4.5", "rhost=__ip__ __number__ __number__"),
        ("::1 fe80::1%eth0 2001:db8::8a2e:370:7334", "__ip__ __ip__ __ip__"),
        ("[::1]:80 [2001:db8::1] ::ffff:10.0.0.1", "__ip__ [__ip__] __ip__"),
        ("1:2:3:4:5:6:7:8 at 12:34:56", "__ip__ at __number__:__number__:__number__"),
        ("std::vector dead::beef a::b ::", "std::vector dead::beef a::b ::"),
        ("[550e8400-e29b-41d4-a716-446655440000]", "[__uuid__]"),
        ("", ""),
    ],
)
def test_masked_texts_by_hand(text: str, expected: str) -> None:
    assert masked([text], ALL) == [expected]


@pytest.mark.parametrize(
    ("masks", "expected"),
    [
        ([], "0x1f 5 1.2.3.4"),
        (["number"], "0x1f __number__ __number__"),
        (["hex"], "__hex__ 5 1.2.3.4"),
        (["ip"], "0x1f 5 __ip__"),
    ],
)
def test_only_the_configured_masks_apply(masks: list[str], expected: str) -> None:
    assert masked(["0x1f 5 1.2.3.4"], masks) == [expected]


@given(st.ip_addresses() | st.ip_addresses(v=6, network="2001:db8::/96"), st.none() | st.integers(0, 65535))
def test_every_ip_address_is_masked_as_one_word(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int | None
) -> None:
    text = str(address)
    if port is not None:
        text = f"[{text}]:{port}" if address.version == 6 else f"{text}:{port}"
    has_digit = any(character.isdigit() for character in str(address))
    assert masked([f"from {text}, ok"], ["ip"]) == ["from __ip__, ok" if has_digit else f"from {text}, ok"]


@given(st.uuids())
def test_every_uuid_is_masked_as_one_word(value: uuid.UUID) -> None:
    assert masked([f"{value} {str(value).upper()}"], ALL) == ["__uuid__ __uuid__"]


@pytest.mark.parametrize("tokens", ["words", "scikit-learn", "whitespace"])
def test_a_mask_is_one_token_of_every_tokeniser(tokens: str) -> None:
    view = View(ViewConfig(tokens=tokens, ngrams=(1, 1), masks=ALL))
    text = "7 0xFF 10.0.0.1:80 550E8400-E29B-41D4-A716-446655440000"
    expected = [naive.bucket(f"__{mask}__", 20) for mask in ("number", "hex", "ip", "uuid")]
    assert view.of_texts([text]).buckets.tolist() == expected


def test_texts_are_lower_cased_before_they_are_masked() -> None:
    """İ is a word character, but its lower case ends in a combining dot, which is not for scikit-learn."""
    lower, as_it_is = (
        View(ViewConfig(tokens="scikit-learn", ngrams=(1, 1), masks=["number"], lowercase=lowercase))
        .of_texts(["aİ5"])
        .buckets.tolist()
        for lowercase in (True, False)
    )
    assert lower == [naive.bucket("ai", 20), naive.bucket("__number__", 20)]
    assert as_it_is == [naive.bucket("aİ5", 20)]


def test_numbers_next_to_marks_are_parts_of_words() -> None:
    """With `words` a mark belongs to the word; with other tokens it separates, as it does for `\\w`."""
    text = "का5 5\ufe0f\u20e3 5"
    assert masked([text], ["number"], "words") == ["का5 5\ufe0f\u20e3 __number__"]
    assert masked([text], ["number"], "whitespace") == ["का__number__ __number__\ufe0f\u20e3 __number__"]
