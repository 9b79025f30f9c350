"""Inputs that are not the text that their names promise."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from connectors.files import FileSource
from connectors.files.first_bytes import check_is_text
from streamlin.errors import ConnectorError
from tests.command_line import command_line, refused
from tests.connectors.reading import context, payloads, read_file

LINES = b'{"id": "1", "text": "win", "label": "spam"}\n{"id": "2", "text": "\xe4\xb8\xad\xe6\x96\x87", "label": "ham"}\n'
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
