"""CSV, TSV and labels as other programs write them."""

import pytest

from connectors.files.record_cutter import RecordCutter
from connectors.records import Origin
from streamlin.errors import RecordError
from streamlin.events import Event
from tests.command_line import command_line, refused
from tests.connectors.reading import payloads, read_file
from tests.formats.reading import events, opened


def test_a_quote_in_tsv_is_text():
    data = b'text\tlabel\n"half open\tpos\n' + b"row\tneg\n" * 3 + b'other open"\tpos\n'
    assert [event.text for event in events(opened("tsv"), data)] == ['"half open', "row", "row", "row", 'other open"']
    quoted = events(opened("tsv", options={"quotes": "true"}), b'text\tlabel\n"a\tb\nc"\tpos\n')
    assert [event.text for event in quoted] == ["a\tb\nc"]
    assert [event.text for event in events(opened("csv", options={"quotes": "false"}), b'text,label\n"a,b\n')] == ['"a']


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\r"])
def test_tsv_refuses_texts_that_need_quotes(text):
    with pytest.raises(RecordError):
        opened("tsv", options={"columns": "label,text"}).encode(Event(text, "spam"))


def test_a_header_that_comes_again_is_read_over_and_counted(tmp_path):
    path, notices = tmp_path / "a.csv", []
    content = b"text,label\na,b\n"
    path.write_bytes(content + (b"\xef\xbb\xbf" + content) * 2)
    found = read_file(path, framing=opened("csv").framing, notice=notices.append)
    assert payloads(found) == [b"a,b"] * 3
    assert notices == [f"{path}: 2 rows that are the header again were read over"]


def test_a_repeated_header_is_read_over_in_any_blocks():
    cutter = RecordCutter(Origin("-", "-"), opened("csv").framing, 1000)
    data = b"text,label\na,b\ntext,label\nc,d\n"
    found = [records for i in range(len(data)) for records in cutter.feed(data[i : i + 1])] + cutter.finish()
    assert payloads(found) == [b"a,b", b"c,d"]


def test_the_line_sep_of_excel_is_no_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfsep=;\r\ntext;label\r\nwin;spam\r\n")
    done = command_line("run", f"{path}?delimiter=;")
    assert done.out.startswith("1 event")
    assert "add the option delimiter=;" in refused("run", path)


@pytest.mark.parametrize(("delimiter", "named"), [(";", ";"), ("\t", "tab"), ("|", "|")])
def test_another_delimiter_is_named(delimiter, named, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"text{delimiter}label\nwin{delimiter}spam\n")
    assert refused("run", path).endswith(f"add the option delimiter={named}")


def test_json_numbers_of_one_value_are_one_name():
    values = [b'"label": 1, "id": 2.0', b'"label": 1.0, "id": 2', b'"label": 1e0, "id": 2e0']
    lines = b"".join(b'{"text": "", ' + value + b"}\n" for value in values)
    assert {(event.label, event.id) for event in events(opened("json"), lines)} == {("1", "2")}
    assert [event.label for event in events(opened("json"), b'{"text": "", "label": 1.5}')] == ["1.5"]
