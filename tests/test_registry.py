"""Connectors by URL scheme, from entry points."""

import pytest

from connectors.files import FileSink, FileSource
from streamlin.errors import ConfigError, UnknownScheme, nearest
from streamlin.registry import connector, schemes
from tests.conftest import Install


def test_built_in_connectors_are_registered() -> None:
    assert connector("sources", "file") is FileSource
    assert connector("sinks", "file") is FileSink
    assert list(schemes("sources")) == sorted(schemes("sources"))
    assert {"file", "stdin", "synthetic"} <= set(schemes("sources"))
    assert {"file", "stdout", "null"} <= set(schemes("sinks"))


def test_a_third_party_package_adds_a_scheme(install: Install) -> None:
    install(
        """
        [streamlin.sources]
        carrier-pigeon = third_party:PigeonSource
        [streamlin.sinks]
        carrier-pigeon = third_party:PigeonSink
        """,
        """
        class PigeonSource: ...
        class PigeonSink: ...
        """,
    )
    point = schemes("sources")["carrier-pigeon"]
    assert point.value == "third_party:PigeonSource"
    assert point.dist is not None
    assert point.dist.name == "third-party"
    assert connector("sources", "carrier-pigeon").__name__ == "PigeonSource"
    assert connector("sinks", "carrier-pigeon").__name__ == "PigeonSink"
    with pytest.raises(UnknownScheme, match=r"'carrier-pidgeon://' among the sinks; did you mean 'carrier-pigeon'\?"):
        connector("sinks", "carrier-pidgeon")


@pytest.mark.parametrize(
    ("target", "module", "message"),
    [
        ("third_party:Missing", "", "Missing"),
        ("not_there:Source", "", "not_there"),
        ("third_party:Source", "import not_there_either", "not_there_either"),
        ("third_party:Source", "1 / 0", "division by zero"),
        ("third_party:Source", "class", "syntax"),
    ],
)
def test_a_broken_connector_differs_from_an_unknown_one(
    install: Install, target: str, module: str, message: str
) -> None:
    install(f"[streamlin.sources]\nbroken = {target}\n", module)
    with pytest.raises(
        ConfigError, match=f"the connector '{target}' for 'broken://' can't be loaded: .*{message}"
    ) as error:
        connector("sources", "broken")
    assert not isinstance(error.value, UnknownScheme)
    assert connector("sources", "file") is FileSource


def test_an_unknown_scheme_names_the_nearest() -> None:
    with pytest.raises(UnknownScheme, match=r"no connector for 'fiel://' among the sources; did you mean 'file'\?"):
        connector("sources", "fiel")
    with pytest.raises(
        UnknownScheme, match=r"no connector for 'amqp://' among the sources; choose one of .*file.*stdin"
    ) as error:
        connector("sources", "amqp")
    assert error.value.exit_code == 2


def test_nearest_suggests_close_names() -> None:
    known = ["naive_bayes", "Perceptron"]
    assert nearest("naive_bays", known) == "did you mean 'naive_bayes'?"
    assert nearest("PERCEPTON", known) == "did you mean 'Perceptron'?"
    assert nearest("xyz", known) == nearest("", known) == "choose one of naive_bayes, Perceptron"
    assert nearest("x", []) == "none are available"
