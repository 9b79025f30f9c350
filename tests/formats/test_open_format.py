"""Formats by name and by suffix."""

import subprocess
import sys

import pytest

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError
from streamlin.events import single_records
from streamlin.formats import FORMATS, format_of, open_format, option_names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.jsonl", "json"),
        ("a.ndjson", "json"),
        ("a.json", "json"),
        ("a.csv", "csv"),
        ("a.tsv", "tsv"),
        ("a.vw", "vw"),
        ("a.ft", "fasttext"),
        ("a.txt", "text"),
        ("/var/log/a.log", "text"),
        ("a.CSV.GZ", "csv"),
        ("a.jsonl.zst", "json"),
        ("a.tsv.gz", "tsv"),
        ("a.gz", "json"),
        ("a", "json"),
        ("-", "json"),
        ("csv", "json"),
        ("a.log.1", "json"),
    ],
)
def test_the_suffix_names_the_format(path, name):
    assert format_of(path) == name


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_knows_its_name_and_its_options(name):
    options = {"regex": {"pattern": "(?P<text>.*)"}}.get(name, {})
    assert open_format(name, options, FieldsConfig(), ()).name == name
    assert isinstance(option_names(name), frozenset)


def test_the_options_are_those_of_the_format():
    assert option_names("csv") == option_names("tsv") == {"delimiter", "header", "columns", "quotes"}
    assert option_names("text") == {"multiline", "multiline_lines"}
    assert option_names("regex") == option_names("text") | {"preset", "pattern", "time_format", "match_seconds"}
    assert option_names("json") == option_names("vw") == option_names("fasttext") == set()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("jsno", {}, "unknown format 'jsno'; did you mean 'json'?"),
        ("qqq", {}, "unknown format 'qqq'; choose one of json, csv, tsv, vw, fasttext, regex, text"),
        ("csv", {"delimeter": ";"}, "format csv has no option 'delimeter'; did you mean 'delimiter'?"),
        ("json", {"header": "true"}, "format json has no option 'header'; none are available"),
        ("csv", {"delimiter": ";;"}, "invalid delimiter ';;': expected one ASCII character"),
        ("csv", {"delimiter": "§"}, "invalid delimiter '§': expected one ASCII character"),
        ("csv", {"delimiter": '"'}, "invalid delimiter '\"': expected one ASCII character"),
        ("csv", {"delimiter": ""}, "invalid delimiter '': expected one ASCII character"),
        ("csv", {"header": "yes"}, "header=yes: expected true or false"),
        ("csv", {"header": "false"}, "header=false needs columns=a,b,c, the names of the columns"),
        ("csv", {"columns": "text,,b"}, "columns=text,,b has an empty name"),
        ("csv", {"columns": "text,a,a"}, "column 'a' occurs twice in columns"),
        ("csv", {"columns": "a,b"}, "no column 'text' in columns (a, b); set fields.text to one"),
        ("regex", {}, "format regex needs a pattern or a preset (apache, bgl, "),
        ("regex", {"preset": "apach"}, "unknown preset 'apach'; did you mean 'apache'?"),
        ("regex", {"preset": "bgl", "pattern": "x"}, "pattern and preset=bgl exclude each other; give one of them"),
        ("regex", {"preset": "bgl", "time_format": "%Y"}, "time_format is for a pattern; preset=bgl has its own"),
        ("regex", {"pattern": "(?P<text>"}, "pattern (?P<text> does not compile: missing ) at position"),
        ("regex", {"pattern": "(?P<txt>.*)"}, "pattern (?P<txt>.*) has no group (?P<text>…) for the text"),
        ("regex", {"pattern": "(?P<text>.)", "time_format": "%Y"}, "time_format needs a group 'time' in the pattern"),
        ("regex", {"pattern": "(?P<time>.)(?P<text>.)", "time_format": "%b %d"}, "time_format %b %d has no year"),
        ("regex", {"pattern": "(?P<time>.)(?P<text>.)", "time_format": "%Y %Q"}, "invalid time_format %Y %Q: 'Q' is a"),
    ],
)
def test_wrong_options_are_refused_on_opening(name, options, message):
    with pytest.raises(ConfigError) as caught:
        open_format(name, options, FieldsConfig(), ())
    assert str(caught.value).startswith(message)


def test_an_unknown_format_has_no_options_either():
    with pytest.raises(ConfigError, match="did you mean 'vw'"):
        option_names("vww")


def test_importing_the_package_imports_no_format():
    program = (
        "import sys, streamlin.formats as f; f.format_of('a.csv'); f.option_names('csv');"
        "print(sorted({'numpy', 'numba', 'msgspec', 'pydantic', 'csv'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package `upper_format` with a good format, and one that can't be imported."""
    about = tmp_path / "upper_format-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: upper-format\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[streamlin.formats]\nupper = upper_format:Upper\nbroken = upper_format:Lower\njson = upper_format:Upper\n"
    )
    (tmp_path / "upper_format.py").write_text(
        "from streamlin.formats.base import LineFormat\n\n\n"
        "class Upper(LineFormat):\n"
        '    name, options = "upper", frozenset({"mark"})\n\n'
        "    def __init__(self, options, fields, extra):\n"
        "        super().__init__(options, fields, extra)\n"
        '        self._mark = options.get("mark", "")\n\n'
        "    def read(self, line):\n"
        "        return line.upper() + self._mark, None, None, 1.0\n\n"
        "    def write(self, event):\n"
        "        return event.text.lower()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("upper_format", None)


@pytest.mark.usefixtures("installed")
def test_a_package_adds_a_format():
    upper = open_format("upper", {"mark": "!"}, FieldsConfig(), ())
    batch, dead = upper.decode(single_records([b"one", b"\xff"]))
    assert batch.texts == ["ONE!"]
    assert [letter.record for letter in dead] == [1]
    assert option_names("upper") == {"mark"}
    with pytest.raises(ConfigError, match="format upper has no option 'marc'; did you mean 'mark'"):
        open_format("upper", {"marc": "!"}, FieldsConfig(), ())
    with pytest.raises(ConfigError, match="unknown format 'uper'; did you mean 'upper'"):
        open_format("uper", {}, FieldsConfig(), ())
    with pytest.raises(ConfigError, match=r"the format 'broken', upper_format:Lower, can't be loaded: .*Lower"):
        option_names("broken")


@pytest.mark.usefixtures("installed")
def test_a_plugin_can_not_replace_a_built_in_format():
    assert type(open_format("json", {}, FieldsConfig(), ())).__name__ == "JsonFormat"
