"""Arguments, exit codes and messages of the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from streamlin import __version__ as streamlin_version
from tests.integration.processes import MODULE, refused, streamlin, together
from tests.integration.streams import write_lines

VERBS = ("run", "demo", "predict", "inspect", "connectors")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stream of two events, an empty one, and a broken configuration."""
    folder = tmp_path_factory.mktemp("cli")
    write_lines(folder / "two.jsonl", [{"text": "a b", "label": "x"}, {"text": "a c", "label": "y"}])
    (folder / "empty.jsonl").touch()
    (folder / "broken.toml").write_text("[features\n")
    (folder / "wrong.toml").write_text("[features]\nbit = 18\n")
    return folder


def test_help_names_every_command() -> None:
    script = Path(sys.executable).with_name("streamlin")
    out = subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f"\n  {verb} " in out for verb in VERBS)


def test_version() -> None:
    assert streamlin("--version").out == f"streamlin {streamlin_version}\n"
    assert streamlin("-h").out == streamlin("--help").out
    module = [sys.executable, "-W", "error", "-m", "streamlin", "--version"]
    assert subprocess.check_output(module, text=True) == f"streamlin {streamlin_version}\n"


def test_help_of_every_command() -> None:
    for verb, done in zip(
        VERBS, together(*(lambda verb=verb: streamlin(verb, "--help") for verb in VERBS)), strict=True
    ):
        assert done.out.startswith("Usage: ")
        assert f" {verb} " in done.out.splitlines()[0]
        assert done.err == ""


def test_help_imports_nothing_heavy() -> None:
    """Nor does a wrong option: both answer at once."""
    for option in ("--help", "--bogus"):
        command = [sys.executable, "-X", "importtime", "-m", "streamlin.cli", "run", option]
        lines = subprocess.run(command, capture_output=True, text=True).stderr.splitlines()
        modules = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
        assert "streamlin.terminal.printing" in modules
        assert not {"numba", "numpy", "msgspec", "zstandard", "rich.console", "streamlin.config"} & set(modules)


def test_no_command_names_them_all() -> None:
    line = refused()
    assert all(verb in line for verb in VERBS)


def test_usage(here: Path) -> None:
    """The line says what is wrong, and what would be right where that can be told."""
    cases = {
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
    lines = together(*(lambda case=case: refused(*case.split(), cwd=here) for case in cases))
    for (case, says), line in zip(cases.items(), lines, strict=True):
        assert all(word in line for word in says.split("|")), (case, line)


def test_bad_configuration(here: Path) -> None:
    """The line names the key, the value, and what would be right."""
    cases = {
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
    lines = together(*(lambda case=case: refused(*case.split(), cwd=here) for case in cases))
    for (case, says), line in zip(cases.items(), lines, strict=True):
        assert all(word in line for word in says.split("|")), (case, line)


def test_bad_places(here: Path) -> None:
    """What is found once connectors are asked, still before the first event."""
    cases = {
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
    before = sorted(here.iterdir())
    lines = together(*(lambda case=case: refused(*case.split(), cwd=here) for case in cases))
    for (case, says), line in zip(cases.items(), lines, strict=True):
        assert all(word in line for word in says.split("|")), (case, line)
    assert sorted(here.iterdir()) == before


def test_what_cannot_be_read_or_written(here: Path) -> None:
    """Exit code 3: of a connector. 4: of a checkpoint."""
    (here / "folder").mkdir()
    (here / "file").touch()
    cases = {
        "run none.jsonl": (3, "none.jsonl|No such file"),
        "run none*.jsonl": (3, "no file matches none*.jsonl"),
        "run two.jsonl --predictions none/out.jsonl": (3, "none/out.jsonl|No such file"),
        "run two.jsonl --checkpoint file": (3, "file|checkpoint"),
        "predict none two.jsonl": (4, "no checkpoint in none"),
        "run two.jsonl --checkpoint fresh --previous": (4, "no checkpoint in fresh"),
    }
    calls = (
        lambda case=case, code=code: refused(*case.split(), code=code, cwd=here) for case, (code, _) in cases.items()
    )
    for (case, (_, says)), line in zip(cases.items(), together(*calls), strict=True):
        assert all(word in line for word in says.split("|")), (case, line)


def test_environment_is_checked_too(here: Path) -> None:
    for name, value, says in (
        ("STREAMLIN_FEATURES__BIT", "18", "features.bit|'bits'"),
        ("STREAMLIN_FEATURES__BITS", "many", "features.bits|'many'"),
        ("STREAMLIN_LEARNERS", "perceptron", "STREAMLIN_LEARNERS|file or from flags"),
    ):
        line = refused("run", "two.jsonl", cwd=here, env={name: value})
        assert all(word in line for word in says.split("|"))


def test_connectors_lists_every_scheme_and_who_provides_it() -> None:
    lines = [line.split() for line in streamlin("connectors").out.splitlines()]
    listed = {(kind, scheme) for kind, scheme, *_ in lines}
    assert {("source", f"{scheme}://") for scheme in ("file", "stdin", "synthetic")} <= listed
    assert {("sink", f"{scheme}://") for scheme in ("file", "stdout", "null")} <= listed
    assert all(entry.startswith("connectors.") and who == "(streamlin)" for _, _, entry, who in lines)


def test_results_need_someone_to_read_them() -> None:
    """A full disk under standard output is an error of a sink; a reader who has gone is no news."""
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
