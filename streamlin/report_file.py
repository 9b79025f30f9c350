"""The report of a run, as JSON in a file that is replaced whole."""

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlin.errors import ConfigError, ConnectorError


class ReportFile:
    """A place for the report. A file is replaced, behind a link too; a pipe or device is written to.

    Raises
    ------
    ConfigError : it can't be written.
    """

    def __init__(self, path: Path) -> None:
        if str(path) == "-":
            raise ConfigError("--report -: needs the name of a file; standard output has the summary")
        self._path = path
        try:
            self._is_file = path.is_file() or not path.exists()
            self._target = Path(os.path.realpath(path)) if self._is_file else path
            self._check()
        except OSError as error:
            raise ConfigError(f"--report {path}: can't be written: {error.strerror}") from None

    def write(self, report: Mapping[str, Any]) -> None:
        """Replace what is there. Raises ConnectorError."""
        text = json.dumps(report, ensure_ascii=False) + "\n"
        try:
            if self._is_file:
                self._new.write_text(text, encoding="utf-8")
                self._new.replace(self._target)
            else:
                self._target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConnectorError(f"--report {self._path}: can't be written: {error.strerror}") from error

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
