"""`.gz` and `.zst`: members and frames, damage, resuming."""

import gzip
import shutil
import subprocess
import tracemalloc

import pytest
import zstandard

import connectors.files.file_reader
from connectors.files import FileSource
from tests.connectors.reading import HeaderLines, context, errors, payloads, positions_after, read_file

LINES = [b"line %d of a text that compresses" % i for i in range(400)]
CONTENT = b"".join(line + b"\n" for line in LINES)


def compressed(suffix: str, content: bytes = CONTENT) -> bytes:
    if suffix == "gz":
        return gzip.compress(content, mtime=0)
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


@pytest.fixture(params=["gz", "zst"])
def suffix(request):
    return request.param


@pytest.fixture
def path(tmp_path, suffix):
    path = tmp_path / f"a.jsonl.{suffix}"
    path.write_bytes(compressed(suffix))
    return path


def test_records_and_offsets_are_those_of_the_content(path):
    found = read_file(path, limit=7)
    assert payloads(found) == LINES
    assert [i for records in found for i in records.offsets.tolist()][1] == len(LINES[0]) + 1


def test_several_members_and_frames_are_read(path, suffix):
    path.write_bytes(compressed(suffix, b"one\ntw") + compressed(suffix, b"") + compressed(suffix, b"o\nthree\n"))
    found = read_file(path)
    assert payloads(found) == [b"one", b"two", b"three"]
    assert errors(found) == []


def test_zeros_after_a_gzip_member_are_padding(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(compressed("gz", b"one\n") + bytes(700) + compressed("gz", b"two\n") + bytes(3))
    assert payloads(read_file(path)) == [b"one", b"two"]


def test_output_of_the_gzip_command_is_read(tmp_path):
    (tmp_path / "a.log").write_bytes(CONTENT)
    subprocess.run([shutil.which("gzip") or "gzip", "-9", tmp_path / "a.log"], check=True)
    assert payloads(read_file(tmp_path / "a.log.gz")) == LINES


def test_a_skippable_frame_is_skipped(tmp_path):
    path = tmp_path / "a.zst"
    path.write_bytes(b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + compressed("zst", b"one\n"))
    assert payloads(read_file(path)) == [b"one"]


def test_a_truncated_file_gives_good_lines_and_one_error(tmp_path, suffix):
    content = b"the first line\nthe second line\nthe third line, unfinished"
    path, whole = tmp_path / f"a.{suffix}", compressed(suffix, content)
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        found = read_file(path)
        *good, rest = payloads(found)
        assert good == content.split(b"\n")[: len(good)]
        assert content.startswith(b"".join(line + b"\n" for line in good) + rest)
        (error,) = errors(found)
        assert f"file is cut off at byte {length}," in error
        assert len(found[-1]) == 1


def test_a_file_truncated_late_loses_little(tmp_path, suffix):
    """Everything of a truncated file that can be decompressed is read: at least all but the last block."""
    path, lines = tmp_path / f"a.{suffix}", [b"%d %d" % (i, i * i) for i in range(100_000)]
    whole = compressed(suffix, b"\n".join(lines))
    path.write_bytes(whole[:-100])
    *good, _ = payloads(read_file(path))
    assert good == lines[: len(good)]
    assert len(good) > 80_000


def test_a_damaged_file_gives_good_lines_and_one_error(path, suffix):
    whole = path.read_bytes()
    for at in range(7, len(whole), 7):  # without the first bytes it is no compressed file
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        found = read_file(path)
        assert len(errors(found)) <= 1
        if errors(found):
            assert "file is damaged at byte" in errors(found)[0] or "file is cut off at byte" in errors(found)[0]
            assert 0 in found[-1].errors
        else:
            assert payloads(found) == LINES  # a bit of the header that means nothing


def test_lines_before_late_damage_are_read(tmp_path):
    """Stored blocks: the damaged byte is known, and everything before it is read."""
    path, content = tmp_path / "a.gz", b"".join(b"%06d\n" % i for i in range(3000))
    whole = bytearray(gzip.compress(content, 0, mtime=0))
    whole[-8] ^= 1
    path.write_bytes(whole)
    found = read_file(path)
    assert payloads(found) == [*content.split(b"\n")[:-1], b""]
    assert errors(found) == [
        f"the gzip file is damaged at byte {len(whole) - 5} "
        "(Error -3 while decompressing data: incorrect data check), after 21000 decompressed bytes"
    ]


def test_an_empty_file_has_no_records(path):
    path.write_bytes(b"")
    assert read_file(path) == []


def test_the_next_file_goes_on_after_a_cut_off_one(path, suffix):
    path.write_bytes(path.read_bytes()[:30])
    path.with_name(f"b.{suffix}").write_bytes(compressed(suffix, b"next\n"))
    found = read_file(path.parent)
    assert payloads(found)[-1] == b"next"
    assert len(errors(found)) == 1


@pytest.mark.parametrize("done", [0, 1, 17, 399, 400])
def test_resuming_reads_exactly_the_rest(path, done, monkeypatch):
    monkeypatch.setattr(connectors.files.file_reader, "BLOCK", 1000)
    found = read_file(path, limit=13)
    notices: list[str] = []
    rest = read_file(path, positions=positions_after(found, done), notice=notices.append)
    assert payloads(rest) == LINES[done:]
    assert notices == []


def test_the_header_is_known_after_a_stop(path):
    found = read_file(path, framing=HeaderLines())
    rest = read_file(path, framing=HeaderLines(), positions=positions_after(found, 10))
    assert payloads(rest) == LINES[11:]
    assert rest[0].header == LINES[0]


def test_other_content_is_read_from_its_beginning(path, suffix):
    positions, notices = positions_after(read_file(path), 10), []
    path.write_bytes(compressed(suffix, CONTENT.replace(b"line", b"LINE")))
    assert len(payloads(read_file(path, positions=positions, notice=notices.append))) == 400
    assert len(notices) == 1


def test_shorter_content_is_read_from_its_beginning(path, suffix):
    positions = positions_after(read_file(path), 10)
    path.write_bytes(compressed(suffix, b"short\n"))
    assert payloads(read_file(path, positions=positions)) == [b"short"]


def test_damage_is_reported_once(path):
    """A later run finds the same damage, and does not report it again."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 3 // 4])
    found = read_file(path)
    count = sum(map(len, found))
    assert payloads(read_file(path, positions=positions_after(found, count))) == []
    again = read_file(path, positions=positions_after(found, count - 1))
    assert (payloads(again), errors(again)) == (payloads(found)[-1:], errors(found))


def test_a_truncated_file_made_complete_is_resumed(path):
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 3 // 4])
    found = read_file(path)
    count = sum(map(len, found))
    path.write_bytes(whole)
    assert payloads(read_file(path, positions=positions_after(found, count))) == LINES[count - 1 :]


def test_progress_counts_compressed_bytes(path, monkeypatch):
    monkeypatch.setattr(connectors.files.file_reader, "BLOCK", 1000)
    source, seen = FileSource(str(path), context()), []
    while source.poll(1000) is not None:
        seen.append(source.progress())
    size = path.stat().st_size
    assert seen == sorted(seen)
    assert seen[-1][:3] == (size, size, sum(map(len, LINES)))
    assert seen[-1].expansion == pytest.approx((seen[-1].records + len(LINES)) / size)  # each line has an end
    source.close()


def test_a_line_of_60_megabytes_is_not_kept_in_memory(path, suffix):
    path.write_bytes(compressed(suffix, b"before\n" + b"x" * 60_000_000 + b"\nafter\n"))
    tracemalloc.start()
    found = read_file(path, longest=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [len(payload) for payload in payloads(found)] == [6, 65536, 5]
    assert peak < 20_000_000


def test_real_streams_are_read_completely(data):
    found = read_file(data / "sms-spam.jsonl.gz")
    assert payloads(found) == gzip.decompress((data / "sms-spam.jsonl.gz").read_bytes()).splitlines()
