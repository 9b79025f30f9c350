"""Inputs that are not the text that their names promise."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
import zstandard

from connectors.files import FileSource
from connectors.files.first_bytes import check_is_text
from streamlin.errors import ConnectorError
from tests.command_line import command_line, refused
from tests.connectors.reading import context, errors, payloads, read_file

LINES = (
    b'{"id": "1", "text": "win", "label": "spam"}\n{"id": "2", "text": "\xe4\xb8\xad\xe6\x96\x87", "label": "ham"}\n'
)
ENCODINGS = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


def encoded(encoding: str) -> bytes:
    return LINES.decode().encode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_utf_16_and_32_are_errors_that_name_iconv(encoding, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(encoded(encoding))
    with pytest.raises(ConnectorError, match=rf"is UTF-(16|32)(LE|BE)?, .* by iconv -f UTF-{encoding[4:6]}"):
        read_file(path)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_utf_16_is_found_in_a_followed_file_that_grows(encoding, tmp_path):
    path = tmp_path / "app.log"
    path.touch()
    source = FileSource(str(path), context(follow=True))

    def write_and_poll() -> None:
        for byte in encoded(encoding):
            with path.open("ab") as file:
                file.write(bytes((byte,)))
            assert source.poll(10) is not None

    with pytest.raises(ConnectorError, match="is UTF-"):
        write_and_poll()
    source.close()


def test_utf_16_ends_a_run_over_a_folder_with_exit_3(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_bytes(LINES)
    (tmp_path / "in" / "b.jsonl").write_bytes(encoded("utf-16-le"))
    done = command_line("run", tmp_path / "in", code=3)
    assert "b.jsonl is UTF-16LE, expected UTF-8" in done.err


def test_utf_16_on_standard_input_ends_a_run_with_exit_3():
    assert refused("run", "-", code=3, stdin=encoded("utf-16")).startswith("standard input is UTF-16, expected UTF-8")


def test_utf_8_text_with_some_nuls_is_text():
    for text in ["a\0b" * 9, "\0" * 99 + "text that follows a hole", "中文" * 20, "a" * 99, "", "ab\0"]:
        check_is_text(text.encode(), "a.log")


def zipped() -> bytes:
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as archive:
        archive.writestr("a.jsonl", LINES)
    return buffer.getvalue()


def tarred() -> bytes:
    with tarfile.open(fileobj=(buffer := io.BytesIO()), mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.jsonl"))
    return buffer.getvalue()


PACKED = {"bzip2": bz2.compress(LINES), "xz": lzma.compress(LINES), "zip": zipped(), "tar": tarred()}


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize("content", [LINES, b"<!DOCTYPE html>", *PACKED.values()])
def test_what_is_not_compressed_as_its_name_says_is_an_error(suffix, content, tmp_path):
    path = tmp_path / f"a.jsonl.{suffix}"
    path.write_bytes(content)
    message = refused("run", path, code=3)
    assert f"{path} is no {'gzip' if suffix == 'gz' else 'Zstandard'} file, it begins with b'" in message


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("compressed", [False, True])
def test_archives_and_unknown_compressions_are_errors(kind, compressed, tmp_path):
    path = tmp_path / ("a.gz" if compressed else "a.csv")
    path.write_bytes(gzip.compress(PACKED[kind]) if compressed else PACKED[kind])
    with pytest.raises(ConnectorError, match=f"is {kind} data where text was expected"):
        read_file(path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv"])
@pytest.mark.parametrize("compress", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_gzip_and_zstandard_are_read_under_any_name(name, compress, tmp_path):
    (tmp_path / name).write_bytes(compress(LINES))
    assert payloads(read_file(tmp_path / name)) == LINES.splitlines()


def test_a_compressed_file_that_is_followed_or_piped_is_an_error(tmp_path):
    path = tmp_path / "app.log"
    path.write_bytes(gzip.compress(LINES * 9))
    assert "is gzip data where text was expected" in refused("run", path, "--follow", code=3)
    assert refused("run", "-", code=3, stdin=path.read_bytes()).startswith("standard input is gzip data")


def test_text_behind_the_last_member_is_a_line_and_loses_no_record(tmp_path):
    path, notices = tmp_path / "a.gz", []
    path.write_bytes(gzip.compress(b"one\ntwo") + b"some text\n")
    found = read_file(path, notice=notices.append)
    assert (payloads(found), errors(found)) == ([b"one", b"two"], [])
    assert notices == [
        f"{path}: 10 bytes behind the gzip data, from byte {len(gzip.compress(b'one#two'))} on, are not read; "
        "they begin with b'some text\\n'"
    ]


def test_a_large_zstandard_window_needs_an_option(tmp_path):
    path = tmp_path / "a.zst"
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=29, enable_ldm=True)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(compressor.compress(LINES) + compressor.flush())
    with pytest.raises(
        ConnectorError, match=r"a\.zst: the Zstandard data needs a larger window; add the option long=N"
    ):
        read_file(path)
    assert payloads(read_file(path, options={"long": "29"})) == LINES.splitlines()


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.log"])
@pytest.mark.parametrize("end", [b"", b"\r"])
def test_lines_that_end_in_carriage_returns_only_are_an_error(name, end, tmp_path):
    path = tmp_path / name
    path.write_bytes(b'{"text": "win"}\r{"text": "lose"}' + end)
    with pytest.raises(ConnectorError, match=r"has 1 carriage returns and no line feed .* tr '\\r' '\\n'"):
        read_file(path)


def test_carriage_returns_are_found_in_a_followed_file_and_on_standard_input(tmp_path):
    path = tmp_path / "app.log"
    path.write_bytes(b"a line\r" * 10_000)
    source = FileSource(str(path), context(follow=True))
    with pytest.raises(ConnectorError, match="has 9,999 carriage returns and no line feed"):
        source.poll(10)
    source.close()
    assert refused("run", "-", code=3, stdin=b"a\rb\r").startswith("standard input has 1 carriage returns")


def test_carriage_returns_within_lines_are_text(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"10 %\r20 %\r30 %\nlast\rline")
    assert payloads(read_file(path)) == [b"10 %\r20 %\r30 %", b"last\rline"]
