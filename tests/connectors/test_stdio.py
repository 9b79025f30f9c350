"""Standard input and output, with pipes of real processes."""

import os
import subprocess
import sys

import pytest

from connectors.stdio import NullSink, StdinSource, StdoutSink
from streamlin.errors import ConfigError
from streamlin.events import SinkContext
from tests.connectors.reading import context, expected_lines

READ = """
import sys
from connectors.stdio import StdinSource
from streamlin.errors import ConnectorError
from tests.connectors.reading import context
source = StdinSource("-", context(positions={"-": {"offset": 9}} if "resume" in sys.argv else {}, notice=print))
try:
    while (found := source.poll(3)) is not None:
        for records in found:
            assert len(records) <= 3
            for i in range(len(records)):
                print(records.name(i), records[i], records.position(i + 1), flush=True)
    assert source.poll(3) is None
except ConnectorError as error:
    print(error)
"""

WRITE = """
import sys
from connectors.stdio import StdoutSink
from streamlin.errors import ConnectorError
from streamlin.events import SinkContext
sink = StdoutSink("-", SinkContext({}, 100))
try:
    for _ in range(100):
        sink.write(b"x" * 9_999 + bytes([10]))
    sink.flush()
    assert sink.sync() is None
except ConnectorError as error:
    print(error, file=sys.stderr)
sink.close()
"""


def run(script: str, *arguments: str, **kwargs) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, **kwargs)


def test_lines_up_to_the_end():
    data = b"one\ntwo\r\n\nthr\xff\xe9\n" * 9 + b"last"
    out, _ = run(READ, stdin=subprocess.PIPE).communicate(data)
    lines = out.decode().splitlines()
    assert [line.split(" ", 1)[1].rsplit(" {", 1)[0] for line in lines] == [repr(line) for line in expected_lines(data)]
    assert lines[0] == "-:0 b'one' {'offset': 4}"
    assert lines[2] == "-:10 b'thr\\xff\\xe9' {'offset': 16}"


def test_a_line_is_returned_as_soon_as_it_is_complete():
    process = run(READ, stdin=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    for text, offset in ((b"one\n", 0), (b"two\n", 4)):
        process.stdin.write(text)
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"-:%d " % offset)
    process.stdin.write(b"unfinished")
    assert process.communicate()[0].startswith(b"-:8 b'unfinished'")


def test_a_file_as_standard_input(tmp_path):
    (tmp_path / "a.log").write_bytes(b"one\n" * 1000)
    with (tmp_path / "a.log").open("rb") as file:
        assert len(run(READ, stdin=file).communicate()[0].splitlines()) == 1000


def test_no_input_at_all():
    assert run(READ, stdin=subprocess.DEVNULL).communicate()[0] == b""


def test_resuming_standard_input_gives_a_notice():
    out, _ = run(READ, "resume", stdin=subprocess.PIPE).communicate(b"one\n")
    notice, line = out.decode().splitlines()
    assert notice == "standard input can't be rewound; reading goes on from its current position"
    assert line.startswith("-:0 b'one'")


def test_a_closed_standard_input():
    process = run(READ, preexec_fn=lambda: os.close(0))
    assert process.communicate()[0] == b"standard input can't be read: Bad file descriptor\n"


def test_lines_to_standard_output():
    out, err = run(WRITE, stderr=subprocess.PIPE).communicate()
    assert (len(out), err) == (1_000_000, b"")


def test_a_closed_reader_of_standard_output_is_an_error():
    process = run(WRITE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b"standard output can't be written to: Broken pipe\n"
    process.stderr.close()
    assert process.wait() == 0


def test_a_full_disk_behind_standard_output():
    with open("/dev/full", "wb") as full:
        process = subprocess.run([sys.executable, "-c", WRITE], stdout=full, stderr=subprocess.PIPE)
    assert process.stderr == b"standard output can't be written to: No space left on device\n"


def test_writing_to_a_non_blocking_pipe_waits():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    process = subprocess.Popen([sys.executable, "-c", WRITE], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert len(pipe.read()) == 1_000_000
    assert process.communicate()[1] == b""


def test_null_sink_discards_everything():
    sink = NullSink("", SinkContext({}, None))
    sink.write(b"line\n")
    sink.flush()
    assert sink.sync() is None
    sink.close()


@pytest.mark.parametrize("sink", [StdoutSink, NullSink])
def test_sinks_that_can_only_append(sink):
    sink("", SinkContext({"mode": "append"}))
    with pytest.raises(ConfigError, match="mode=overwrite needs to be append"):
        sink("", SinkContext({"mode": "overwrite"}))
    with pytest.raises(ConfigError, match="no option 'mdoe'; did you mean 'mode'"):
        sink("", SinkContext({"mdoe": "append"}))


def test_standard_input_has_no_options():
    with pytest.raises(ConfigError, match="stdin source: no option 'start'; none are available"):
        StdinSource("-", context(options={"start": "end"}))
