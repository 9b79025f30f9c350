"""Java, and the jars of Apache Kafka: fetched by Maven once, kept in lib/ beside this file."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from deploy.kafka.locking import exclusive

HERE = Path(__file__).resolve().parent
LIBRARIES = HERE / "lib"
POM = HERE / "pom.xml"


class BrokerError(Exception):
    """A broker could not be installed or started; the message is for users."""


def needed(program: str, package: str) -> str:
    """The path of a program. Raises BrokerError that names the Debian package if it is missing."""
    path = shutil.which(program)
    if path is None:
        raise BrokerError(f"Kafka needs {program}, which is missing (on Debian: apt-get install {package})")
    return path


def java() -> str:
    """The path of java, which must be 17 or newer."""
    return needed("java", "openjdk-17-jre-headless")


def library() -> Path:
    """The folder of the jars that pom.xml asks for. It is complete or missing, however a download ended."""
    folder = LIBRARIES / hashlib.sha256(POM.read_bytes()).hexdigest()[:12]
    if not folder.is_dir():
        with exclusive(LIBRARIES):
            if not folder.is_dir():
                _fetch_whole(folder)
    return folder


def class_archive() -> Path:
    """Where Java keeps the classes that a broker loads, once `deploy.kafka.classes` has made it."""
    return library().with_suffix(".jsa")


def _fetch_whole(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=LIBRARIES) as unfinished:
        jars = Path(unfinished) / "jars"
        _fetch(jars)
        jars.rename(folder)


def _fetch(folder: Path) -> None:
    command = [needed("mvn", "maven"), "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    done = subprocess.run([*command, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise BrokerError(f"Maven could not fetch Apache Kafka: {lines[0] if lines else f'exit {done.returncode}'}")
