"""The report of a run, as JSON or as a page, in a file that is replaced whole."""

import errno
import os
from pathlib import Path

from streamlin.errors import ConfigError, ConnectorError


class ReportFile:
    """A place for the report: a page where the name ends with `.html`, else JSON. A file is replaced, behind a link
    too; a pipe or device is written to.

    option : of the command line, that named it.

    Raises
    ------
    ConfigError : it can't be written.
    """

    def __init__(self, path: Path, option: str = "--report") -> None:
        self._name = f"{option} {path}"
        if str(path) == "-":
            raise ConfigError(f"{self._name}: needs the name of a file; standard output has the summary")
        self._path = path
        try:
            self._is_file = path.is_file() or not path.exists()
            self._target = Path(os.path.realpath(path)) if self._is_file else path
            self._check()
        except OSError as error:
            raise ConfigError(f"{self._name}: can't be written: {error.strerror}") from None

    @property
    def is_page(self) -> bool:
        """Whether people read it, in a browser."""
        return self._path.suffix.lower() in (".html", ".htm")

    def write(self, text: str) -> None:
        """Replace what is there. Raises ConnectorError."""
        try:
            if self._is_file:
                self._new.write_text(text, encoding="utf-8")
                self._new.replace(self._target)
            else:
                self._target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConnectorError(f"{self._name}: can't be written: {error.strerror}") from error

    @property
    def _new(self) -> Path:
        return self._target.with_name(f".{self._target.name}.new")

    def _check(self) -> None:
        if self._target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if self._target.exists() and not os.access(self._target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if self._is_file:
            self._new.touch()
            self._new.unlink()
