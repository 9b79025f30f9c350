"""Writing lines to files: fresh, appended, cut back to a checkpoint, compressed, and on full disks."""

import gzip
import os
import subprocess
import sys

import pytest
import zstandard

from connectors.files import FileSink
from streamlin.errors import ConfigError, ConnectorError
from streamlin.events import SinkContext
from tests.connectors.reading import errors, payloads, read_file


def contents(path) -> bytes:
    """The content as read by the compression's own tools."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return data


@pytest.fixture(params=["out.jsonl", "out.jsonl.gz", "out.jsonl.zst"])
def path(request, tmp_path):
    return tmp_path / request.param


def write(path, *lines: bytes, options=None, length=None) -> list[int | None]:
    """Write lines with a `sync` after each; the lengths."""
    sink = FileSink(str(path), SinkContext(options or {}, length))
    lengths = []
    for line in lines:
        sink.write(memoryview(line))
        lengths.append(sink.sync())
    sink.close()
    return lengths


def test_a_file_cut_to_a_synced_length_is_readable(path):
    lengths = write(path, b"one\n", b"two\n", b"three\n")
    assert contents(path) == b"one\ntwo\nthree\n"
    assert lengths[-1] == path.stat().st_size
    os.truncate(path, lengths[1])
    assert contents(path) == b"one\ntwo\n"


def test_lines_after_the_checkpoints_length_are_cut_off(path):
    lengths = write(path, b"one\n", b"two\n", b"three\n")
    write(path, b"new\n", length=lengths[1])
    assert contents(path) == b"one\ntwo\nnew\n"


def test_length_0_accepts_an_empty_or_new_file(path):
    for _ in range(2):
        write(path, b"one\n", length=0)
        assert contents(path) == b"one\n"


def test_a_sync_without_lines_adds_nothing(path):
    sink = FileSink(str(path), SinkContext({}, None))
    assert sink.sync() == 0
    sink.write(b"one\n")
    assert sink.sync() == sink.sync() == path.stat().st_size
    sink.close()


def test_flushed_lines_are_readable(path):
    sink = FileSink(str(path), SinkContext({}, None))
    for count in (1, 2):
        sink.write(b"a line\n")
        sink.flush()
        assert payloads(read_file(path))[:count] == [b"a line"] * count
    sink.flush()
    sink.write(b"not flushed, maybe not there\n")
    sink.close()
    assert contents(path) == b"a line\na line\nnot flushed, maybe not there\n"
    assert errors(read_file(path)) == []


def test_closing_twice_is_harmless(path):
    sink = FileSink(str(path), SinkContext({}, None))
    sink.write(b"one\n")
    sink.close()
    sink.close()
    assert contents(path) == b"one\n"


def test_a_fresh_start_refuses_a_file_with_content(path):
    write(path, b"old\n")
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=r"has content; add \?mode=append to keep it or \?mode=overwrite"):
        FileSink(str(path), SinkContext({}, None))
    assert path.read_bytes() == before


def test_a_fresh_start_accepts_an_empty_file(tmp_path):
    (tmp_path / "out").touch()
    write(tmp_path / "out", b"one\n")
    assert contents(tmp_path / "out") == b"one\n"


@pytest.mark.parametrize(("mode", "expected"), [("append", b"old\nnew\n"), ("overwrite", b"new\n")])
def test_modes(path, mode, expected):
    write(path, b"old\n")
    write(path, b"new\n", options={"mode": mode})
    assert contents(path) == expected


def test_the_checkpoints_length_overrides_the_mode(path):
    (length,) = write(path, b"old\n")
    write(path, b"new\n", options={"mode": "overwrite"}, length=length)
    assert contents(path) == b"old\nnew\n"


def test_an_incomplete_line_is_not_continued(tmp_path):
    (tmp_path / "out").write_bytes(b"whole\ntor")
    write(tmp_path / "out", b"new\n", options={"mode": "append"})
    assert contents(tmp_path / "out") == b"whole\ntor\nnew\n"


def test_a_file_shorter_than_in_the_checkpoint_is_refused(path):
    (length,) = write(path, b"one\n")
    assert length
    with pytest.raises(ConnectorError, match=f"has {length} bytes, but the checkpoint expects {length + 1}"):
        FileSink(str(path), SinkContext({}, length + 1))
    path.unlink()
    with pytest.raises(
        ConnectorError, match=f"is missing, but the checkpoint expects {length} bytes; restore the file"
    ):
        FileSink(str(path), SinkContext({}, length))
    assert not path.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [({"mod": "append"}, "no option 'mod'; did you mean 'mode'"), ({"mode": "new"}, "fresh or append or overwrite")],
)
def test_wrong_options_are_refused(tmp_path, options, said):
    with pytest.raises(ConfigError, match=said):
        FileSink(str(tmp_path / "out"), SinkContext(options, None))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "said"), [("none/out", "No such file"), (".", "Is a directory")])
def test_unwritable_paths_are_refused(tmp_path, name, said):
    with pytest.raises(ConnectorError, match=f"can't be written to: {said}"):
        FileSink(str(tmp_path / name), SinkContext({}, None))


def test_a_folder_without_permission(tmp_path):
    script = (
        "import os, sys\n"
        "from connectors.files import FileSink\n"
        "from streamlin.errors import ConnectorError\n"
        "from streamlin.events import SinkContext\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: FileSink(sys.argv[1], SinkContext({}, None))\n"
        "except ConnectorError as error: print(error)\n"
    )
    tmp_path.chmod(0o500)
    ran = subprocess.run([sys.executable, "-c", script, tmp_path / "out"], capture_output=True, text=True, check=True)
    tmp_path.chmod(0o700)
    assert ran.stdout == f"{tmp_path}/out can't be written to: Permission denied\n"


def test_a_full_disk():
    sink = FileSink("/dev/full", SinkContext({}, None))
    with pytest.raises(ConnectorError, match="/dev/full can't be written to: No space left on device"):
        sink.write(b"line\n")
    sink.close()


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_disk_that_becomes_full_fails_and_can_be_resumed(tmp_path, suffix):
    """With a limit of 100,000 bytes per file, the write that crosses it is partial, and the rest fails."""
    script = (
        "import os, resource, sys\n"
        "from connectors.files import FileSink\n"
        "from streamlin.errors import ConnectorError\n"
        "from streamlin.events import SinkContext\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sink = FileSink(sys.argv[1], SinkContext({}, None))\n"
        "sink.write(os.urandom(60_000))\n"
        "print(sink.sync())\n"
        "try:\n"
        "    sink.write(os.urandom(600_000))\n"
        "    sink.sync()\n"
        "except ConnectorError as error: print(error)\n"
        "sink.close()\n"
    )
    path = tmp_path / f"out{suffix}"
    ran = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    length, error = ran.stdout.splitlines()
    assert error == f"{path} can't be written to: File too large"
    assert path.stat().st_size == 100_000
    write(path, b"after\n", length=int(length))
    assert contents(path)[60_000:] == b"after\n"


def test_a_pipe_takes_lines_and_has_no_length(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert write(tmp_path / "pipe", b"one\n", length=100) == [None]
    assert os.read(reader, 100) == b"one\n"
    os.close(reader)
