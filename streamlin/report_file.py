"""The report of a run, as JSON in a file that is replaced whole."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlin.errors import ConfigError, ConnectorError


class ReportFile:
    """A place for the report. A pipe or device is written to as it is, the target of a link is replaced.

    Raises
    ------
    ConfigError : it can't be written.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._target = path, Path(os.path.realpath(path))
        try:
            mode = self._target.stat().st_mode if self._target.exists() else stat.S_IFREG
            self._replaced = stat.S_ISREG(mode)
            if self._replaced:
                self._new.touch()
                self._new.unlink()
            if self._target.exists() and (stat.S_ISDIR(mode) or not os.access(self._target, os.W_OK)):
                raise ConfigError(f"--report {path}: is {'a folder' if stat.S_ISDIR(mode) else 'not writable'}")
        except OSError as error:
            raise ConfigError(f"--report {path}: can't be written: {error.strerror}") from None

    def write(self, report: Mapping[str, Any]) -> None:
        """Replace what is there. Raises ConnectorError."""
        text = json.dumps(report, ensure_ascii=False) + "\n"
        try:
            if self._replaced:
                self._new.write_text(text, encoding="utf-8")
                self._new.replace(self._target)
            else:
                self._target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConnectorError(f"--report {self._path}: can't be written: {error.strerror}") from error

    @property
    def _new(self) -> Path:
        return self._target.with_name(f".{self._target.name}.new")
