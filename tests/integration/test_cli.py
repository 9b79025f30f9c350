"""Arguments, exit codes and messages of the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from streamlin import __version__ as streamlin_version
from tests.command_line import command_line, refused
from tests.integration.processes import MODULE, refused_by_process, streamlin
from tests.integration.streams import write_lines

VERBS = ("run", "demo", "predict", "inspect", "connectors")

USAGE = {
    "rn": "'rn'|run",
    "run --limt 3": "--limt|--limit",
    "run --limit": "--limit|argument",
    "run two.jsonl --limit -1": "--limit|whole number|-1",
    "run two.jsonl --limit few": "--limit|whole number|few",
    "run two.jsonl another.jsonl": "another.jsonl",
    "run two.jsonl -?format=csv": "two sources|two.jsonl|-?format=csv",
    "run two.jsonl --set features.bits=18 --bogus": "--bogus",
    "predict": "DIR",
    "inspect": "DIR",
    "inspect state --top x": "--top|x",
    "demo two.jsonl": "two.jsonl",
    "connectors all": "all",
}
CONFIGURATION = {
    "run": "source|path|URL",
    "run two.jsonl --set x": "--set x|KEY=VALUE",
    "run two.jsonl --set featurs.bits=18": "featurs|did you mean 'features'",
    "run two.jsonl --set features.bit=18": "features.bit|did you mean 'bits'",
    "run two.jsonl --set features.bits=99": "features.bits|31|99",
    "run two.jsonl --set features.bits=few": "features.bits|integer|'few'",
    "run two.jsonl --set features.words.tokens=word": "features.words.tokens|'words'|'word'",
    "run two.jsonl --set evaluation.lead=nobody": "evaluation.lead|nobody|perceptron",
    "run two.jsonl --set learners.passive_agressive.C=1": "no learner 'passive_agressive'|'passive_aggressive'",
    "run two.jsonl --set learners.passive_aggressive.C=-1": "learners.passive_aggressive.C|greater than 0|-1",
    "run two.jsonl --set learners.perceptron.C=1": "learners.perceptron.C|unknown key",
    "run two.jsonl --learner perceptrn": "perceptrn|did you mean 'perceptron'",
    "run two.jsonl --learner perceptron --learner perceptron": "learners|two|'perceptron'",
    "run two.jsonl --config none.toml": "none.toml|No such file",
    "run two.jsonl --config broken.toml": "broken.toml|not TOML|line 1",
    "run two.jsonl --config wrong.toml": "features.bit|'bits'",
    "run two.jsonl --checkpoint=": "checkpoint.path",
}
PLACES = {
    "run fil://two.jsonl": "fil://|did you mean 'file'",
    "run two.jsonl --dead-letters stdot://": "stdot://|did you mean 'stdout'",
    "run two.jsonl?format=jsn": "jsn|did you mean 'json'",
    "run two.jsonl?fromat=json": "fromat|did you mean 'format'",
    "run two.jsonl?preset=bgl": "no option 'preset'|'preset' is an option of format=regex",
    "run file:///two%00.jsonl": "NUL",
    "run two.jsonl --predictions out.jsonl --dead-letters out.jsonl": "sinks.dead_letters|out.jsonl|another",
    "run two.jsonl --dead-letters two.jsonl": "sinks.dead_letters|two.jsonl|another",
    "run two.jsonl --report none/report.json": "--report|none/report.json|No such file",
    "run two.jsonl --report -": "--report -|file",
    "run two.jsonl --previous": "--previous|--checkpoint",
}
UNREADABLE = {
    "run none.jsonl": (3, "none.jsonl|No such file"),
    "run none*.jsonl": (3, "no file matches none*.jsonl"),
    "run two.jsonl --predictions none/out.jsonl": (3, "none/out.jsonl|No such file"),
    "run two.jsonl --checkpoint file": (3, "file|checkpoint"),
    "predict none two.jsonl": (4, "no checkpoint in none"),
    "run two.jsonl --checkpoint fresh --previous": (4, "no checkpoint in fresh"),
}
ENVIRONMENT = {
    "STREAMLIN_FEATURES__BIT=18": "features.bit|'bits'",
    "STREAMLIN_FEATURES__BITS=many": "features.bits|'many'",
    "STREAMLIN_LEARNERS=perceptron": "STREAMLIN_LEARNERS|file or by flags",
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a stream of two events, empty files, an empty folder, and broken configurations."""
    write_lines(tmp_path / "two.jsonl", [{"text": "a b", "label": "x"}, {"text": "a c", "label": "y"}])
    for name in ("empty.jsonl", "file"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken.toml").write_text("[features\n")
    (tmp_path / "wrong.toml").write_text("[features]\nbit = 18\n")
    return tmp_path


def assert_says(line: str, words: str) -> None:
    """All words, which `|` separates, are in the line."""
    assert all(word in line for word in words.split("|")), line


def test_help_names_every_command() -> None:
    script = Path(sys.executable).with_name("streamlin")
    out = subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f"\n  {verb} " in out for verb in VERBS)


def test_version_by_script_option_and_module() -> None:
    assert streamlin("--version", fresh=True).out == f"streamlin {streamlin_version}\n"
    assert command_line("-h").out == command_line("--help").out
    module = [sys.executable, "-W", "error", "-m", "streamlin", "--version"]
    assert subprocess.check_output(module, text=True) == f"streamlin {streamlin_version}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_command_shows_its_usage(verb: str) -> None:
    done = command_line(verb, "--help")
    assert done.out.startswith("Usage: ")
    assert f" {verb} " in done.out.splitlines()[0]
    assert done.err == ""


@pytest.mark.parametrize("option", ["--help", "--bogus"])
def test_help_and_a_wrong_option_import_nothing_heavy(option: str) -> None:
    """Both answer at once."""
    command = [sys.executable, "-X", "importtime", "-m", "streamlin.cli", "run", option]
    lines = subprocess.run(command, capture_output=True, text=True).stderr.splitlines()
    modules = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    assert "streamlin.terminal.printing" in modules
    assert not {"numba", "numpy", "msgspec", "zstandard", "rich.console", "streamlin.config"} & set(modules)


def test_without_a_command_all_are_named() -> None:
    line = refused()
    assert all(verb in line for verb in VERBS)


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_is_explained(here: Path, case: str) -> None:
    """The line says what is wrong, and what would be right where that can be told."""
    assert_says(refused(*case.split(), cwd=here), USAGE[case])


@pytest.mark.parametrize("case", CONFIGURATION)
def test_a_wrong_configuration_is_explained(here: Path, case: str) -> None:
    """The line names the key, the value, and what would be right."""
    assert_says(refused(*case.split(), cwd=here), CONFIGURATION[case])


@pytest.mark.parametrize("case", PLACES)
def test_wrong_places_are_explained_and_nothing_is_written(here: Path, case: str) -> None:
    """The error is found once connectors are asked, still before the first event."""
    before = sorted(here.iterdir())
    assert_says(refused(*case.split(), cwd=here), PLACES[case])
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_or_written_is_named(here: Path, case: str) -> None:
    """Exit code 3: the error of a connector. 4: of a checkpoint."""
    code, says = UNREADABLE[case]
    assert_says(refused(*case.split(), code=code, cwd=here), says)


@pytest.mark.parametrize(
    ("case", "code"), [("rn", 2), ("run none.jsonl", 3), ("run two.jsonl --checkpoint fresh --previous", 4)]
)
def test_a_process_ends_with_the_same_line_and_exit_code(here: Path, case: str, code: int) -> None:
    """All other errors of the command line are tried in the process of the tests."""
    line = refused(*case.split(), code=code, cwd=here)
    assert refused_by_process(*case.split(), code=code, cwd=here, fresh=True) == line


@pytest.mark.parametrize("setting", ENVIRONMENT)
def test_the_environment_is_checked_too(here: Path, setting: str) -> None:
    name, value = setting.split("=")
    assert_says(refused("run", "two.jsonl", cwd=here, env={name: value}), ENVIRONMENT[setting])


def test_connectors_lists_every_scheme_and_its_provider() -> None:
    lines = [line.split() for line in command_line("connectors").out.splitlines()]
    listed = {(kind, scheme) for kind, scheme, *_ in lines}
    assert {("source", f"{scheme}://") for scheme in ("file", "stdin", "synthetic")} <= listed
    assert {("sink", f"{scheme}://") for scheme in ("file", "stdout", "null")} <= listed
    assert all(entry.startswith("connectors.") and provider == "(streamlin)" for _, _, entry, provider in lines)


def test_results_that_cannot_be_written_end_with_an_error() -> None:
    """A full disk under standard output is an error of a sink; a closed pipe ends the command without a word."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*MODULE, "connectors"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        3,
        "streamlin: standard output can't be written to: No space left on device\n",
    )
    gone = f"{' '.join(MODULE)} connectors | true; echo ${{PIPESTATUS[0]}}"
    shown = subprocess.run(["bash", "-c", f"sleep 0; {gone}"], capture_output=True, text=True)
    assert shown.stdout.strip() in ("0", "3")
    assert shown.stderr == ""
