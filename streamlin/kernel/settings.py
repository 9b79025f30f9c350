"""numba's settings, which are read without importing numba, as long as nothing else has."""

import os
import sys
from pathlib import Path
from threading import RLock
from typing import Any

_OWN_FILE = ".numba_config.yaml"
"""In the working folder, settings for numba, which only numba reads."""
lock = RLock()
"""For making numba's object of a kernel, while which the setting of a folder is another one."""


def interprets() -> bool:
    """Whether kernels are not to be compiled: NUMBA_DISABLE_JIT."""
    return _is_on("DISABLE_JIT")


def checks_bounds() -> bool:
    """Whether compiled kernels check each index: NUMBA_BOUNDSCHECK."""
    return _is_on("BOUNDSCHECK")


def wanted_folder() -> str:
    """The folder for compiled kernels that the user names, NUMBA_CACHE_DIR, or nothing."""
    with lock:
        return str(_setting("CACHE_DIR") or "")


def _is_on(name: str) -> bool:
    """What is no number is as good as 0; numba says so when it is imported."""
    try:
        return bool(int(_setting(name) or 0))
    except ValueError:
        return False


def _setting(name: str) -> Any:
    if "numba" in sys.modules or Path(_OWN_FILE).exists():
        from numba import config

        return getattr(config, name)
    return os.environ.get(f"NUMBA_{name}")
