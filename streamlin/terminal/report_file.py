"""The file for the report of a run, as JSON or as a page; it is replaced atomically."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from streamlin.errors import ConfigError, ConnectorError
from streamlin.streams.overlap import Place, file_place


class ReportFile:
    """The file for a report: a page if the name ends with `.html`, otherwise JSON.

    A regular file is replaced, also behind a link; a pipe or device is written to.

    option : the command-line option that names the file.

    Raises
    ------
    ConfigError : the file can't be written.
    """

    def __init__(self, path: Path, option: str = "--report") -> None:
        self._name = f"{option} {path}"
        if str(path) == "-":
            raise ConfigError(f"{self._name}: expected the name of a file; standard output is for the summary")
        self._path = path
        try:
            self._is_file = path.is_file() or not path.exists()
            self._target = Path(os.path.realpath(path)) if self._is_file else path
            self._check()
        except OSError as error:
            raise ConfigError(f"{self._name}: can't be written: {error.strerror}") from None

    @property
    def is_page(self) -> bool:
        """Whether the report is a page for a browser."""
        return self._path.suffix.lower() in (".html", ".htm")

    @staticmethod
    def places(path: Path, option: str = "--report") -> list[Place]:
        """The files that are written: the report's, and the new one that replaces it."""
        return [file_place(option, path), file_place(option, _new(Path(os.path.realpath(path))))]

    def write(self, text: str) -> None:
        """Replace the contents. Raises ConnectorError."""
        try:
            if self._is_file:
                self._replace(text)
            else:
                self._target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConnectorError(f"{self._name}: can't be written: {error.strerror}") from error

    def _replace(self, text: str) -> None:
        try:
            with open(self._create(), "w", encoding="utf-8") as file:
                file.write(text)
            self._new.replace(self._target)
        except OSError:
            with suppress(OSError):
                self._new.unlink(missing_ok=True)
            raise

    def _create(self) -> int:
        """The new file's descriptor; one that a kill has left, or a link that somebody has planted, is removed."""
        self._new.unlink(missing_ok=True)
        return os.open(self._new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    @property
    def _new(self) -> Path:
        return _new(self._target)

    def _check(self) -> None:
        if self._target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if self._target.exists() and not os.access(self._target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if self._is_file:
            os.close(self._create())
            self._new.unlink()


def _new(target: Path) -> Path:
    """Where a report is written before it replaces the file at `target`."""
    return target.with_name(f".{target.name}.new")
