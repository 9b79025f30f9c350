"""Our connectors pass the public contract checks; those of Kafka are checked with a broker."""

import gzip
import zlib

import pytest
import zstandard

from connectors.files import FileSink, FileSource
from connectors.synthetic.source import SyntheticSource
from streamlin.events import SinkContext
from streamlin.testing import check_sink, check_source
from tests.connectors.reading import context, polled

LINES = [b"line %d" % i for i in range(2500)]
CONTENT = b"\n".join(LINES)


@pytest.mark.parametrize(
    ("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".zst", zstandard.ZstdCompressor().compress)]
)
def test_file_source(tmp_path, suffix, compress):
    path = tmp_path / f"a.log{suffix}"
    path.write_bytes(compress(CONTENT))
    check_source(lambda positions: FileSource(str(path), context(positions=positions)), LINES)


def test_synthetic_source():
    options = {"events": "300", "words": "3", "drift_at": "100"}

    def make(positions):
        return SyntheticSource("", context(options=options, positions=positions))

    check_source(make, [records[i] for records in polled(make({})) for i in range(len(records))])


def gunzipped(data: bytes) -> bytes:
    """All lines that can be decompressed, also from an incomplete member."""
    found = b""
    while data:
        decoder = zlib.decompressobj(31)
        found += decoder.decompress(data)
        data = decoder.unused_data
    return found


@pytest.mark.parametrize(("suffix", "decompress"), [("", bytes), (".gz", gunzipped)])
def test_file_sink(tmp_path, suffix, decompress):
    path = tmp_path / f"out{suffix}"
    check_sink(lambda length: FileSink(str(path), SinkContext({}, length)), lambda: decompress(path.read_bytes()))
