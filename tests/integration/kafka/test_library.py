"""The jars of Apache Kafka: fetched completely and once, with a clear error if that fails."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.kafka.broker import _java
from deploy.kafka.library import HERE, java, library
from tests.integration.processes import together

SCRIPT = "from deploy.kafka.library import library; print(library())"


@pytest.fixture
def checkout(tmp_path: Path, kafka_library: Path) -> Path:
    """A checkout without fetched files."""
    shutil.copytree(HERE, tmp_path / "deploy" / "kafka", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    return tmp_path


def start(checkout: Path, path: str, code: int) -> str:
    """Start a broker with other programs on the path; it must end with this exit code."""
    command = [sys.executable, "-m", "deploy.kafka.command", "start"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=checkout, env=os.environ | {"PATH": path})
    assert (done.returncode, done.stdout) == (code, "")
    return done.stderr


def test_java_is_missing(checkout: Path) -> None:
    """One line that says what to install."""
    said = start(checkout, path="", code=1)
    assert said == "Kafka needs java, which is missing (on Debian: apt-get install openjdk-17-jre-headless)\n"


def test_maven_is_missing(checkout: Path) -> None:
    """One line that says what to install."""
    programs = checkout / "programs"
    programs.mkdir()
    (programs / "java").symlink_to(java())
    said = start(checkout, path=str(programs), code=1)
    assert said == "Kafka needs mvn, which is missing (on Debian: apt-get install maven)\n"


def test_two_fetch_at_once(checkout: Path) -> None:
    """Both get the same complete folder; no other file is left."""

    def fetch() -> bytes:
        return subprocess.run([sys.executable, "-c", SCRIPT], cwd=checkout, check=True, capture_output=True).stdout

    first, second = together(fetch, fetch)
    assert first == second
    folder = Path(first.decode().strip())
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in library().iterdir())
    assert list(folder.parent.iterdir()) == [folder]


def test_brokers_load_their_classes_from_the_archive(kafka_library: Path) -> None:
    program, *arguments = _java("kafka.tools.StorageTool", "random-uuid")
    done = subprocess.run([program, "-Xlog:class+load", *arguments], check=True, capture_output=True, text=True)
    assert re.search(r"org\.apache\.kafka\.\S+ source: shared objects file \(top\)", done.stdout)


def test_one_version() -> None:
    """Docker's image is the version that the jars are."""
    image = re.findall(r"apache/kafka:(\S+)", (HERE.parent / "compose.yaml").read_text())
    jars = re.findall(
        r"<artifactId>kafka.*</artifactId>\s*<version>([\d.]+\d)</version>", (HERE / "pom.xml").read_text()
    )
    assert len(image) == 1
    assert len(jars) == 2
    assert set(image) == set(jars)
