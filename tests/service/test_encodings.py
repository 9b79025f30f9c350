"""Compressed bodies, and byte order marks."""

import gzip
import json
import zlib
from collections.abc import Callable

import pytest
import zstandard

from streamlin.service.encodings import decoded
from streamlin.service.problems import Refused
from tests.service.served import JSON, Served

BODY = json.dumps({"text": "a prize " * 100}).encode()


def raw_deflate(data: bytes) -> bytes:
    """Without the header of zlib, as some clients send it."""
    encoder = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return encoder.compress(data) + encoder.flush()


def in_two(compress: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Two members or frames."""
    return lambda data: compress(data[:10]) + compress(data[10:])


WAYS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    ("GZip", in_two(gzip.compress)),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("zstd", zstandard.compress),
    ("zstd", in_two(zstandard.compress)),
    ("identity", bytes),
    ("", bytes),
]


@pytest.mark.parametrize(("name", "compress"), WAYS)
def test_compressed_bodies_are_decoded(service: Served, name: str, compress: Callable[[bytes], bytes]) -> None:
    answer = service.ask("POST", "/predict", compress(BODY), JSON | {"Content-Encoding": name})
    assert answer.status == 200
    assert answer.value == service.ask("POST", "/predict", BODY, JSON).value


@pytest.mark.parametrize("name", ["br", "compress", "gzip, gzip", "utf-8"])
def test_other_encodings_get_415_with_their_name(service: Served, name: str) -> None:
    answer = service.ask("POST", "/learn", BODY, JSON | {"Content-Encoding": name})
    assert answer.status == 415
    assert answer.error == f"Content-Encoding: expected one of gzip, deflate, zstd, got '{name}'"
    assert answer.headers["accept-encoding"] == "gzip, deflate, zstd"


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
def test_bodies_in_another_encoding_get_400(service: Served, name: str) -> None:
    answer = service.ask("POST", "/learn", BODY, JSON | {"Content-Encoding": name})
    assert answer.status == 400
    assert answer.error == f"the body is not {name}, as its header Content-Encoding says, or not all of it"


@pytest.mark.parametrize(("name", "compress"), WAYS[:7])
def test_bodies_without_their_end_get_400(service: Served, name: str, compress: Callable[[bytes], bytes]) -> None:
    answer = service.ask("POST", "/learn", compress(BODY)[:-12], JSON | {"Content-Encoding": name})
    assert answer.status == 400


@pytest.mark.parametrize(("name", "compress"), [WAYS[0], WAYS[3], WAYS[4], WAYS[5]])
def test_bombs_get_413(service: Served, name: str, compress: Callable[[bytes], bytes]) -> None:
    """A few kilobytes that would be 100 MB."""
    bomb = compress(bytes(100_000_000))
    assert len(bomb) < 200_000
    answer = service.ask("POST", "/learn", bomb, JSON | {"Content-Encoding": name})
    assert answer.status == 413
    assert answer.error == "the decoded body is over serve.max_body_bytes = 4,000,000"


def test_a_large_window_is_refused() -> None:
    """Else a body of some bytes would need 128 MB to be decoded."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=0)
    frame = zstandard.ZstdCompressor(compression_params=parameters).compressobj().compress(b"x" * 1000)
    with pytest.raises(Refused, match="not zstd"):
        decoded(frame or b"\x28\xb5\x2f\xfd\x00\x88", "zstd", 10_000)


def test_a_byte_order_mark_is_read_over(service: Served) -> None:
    assert service.ask("POST", "/predict", b"\xef\xbb\xbf" + BODY, JSON).status == 200
    assert service.ask("POST", "/predict", b"\xef\xbb\xbf[" + BODY + b"]", JSON).status == 200


@pytest.mark.parametrize("name", ["UTF-16", "UTF-32"])
def test_bodies_that_are_not_utf_8_get_415(service: Served, name: str) -> None:
    answer = service.ask("POST", "/predict", BODY.decode().encode(name), JSON)
    assert answer.status == 415
    assert answer.error == f"the body is {name}: expected UTF-8"
