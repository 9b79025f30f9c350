"""numba's settings, which are read without importing numba, as long as nothing else has."""

import os
import sys
from pathlib import Path
from typing import Any

_OWN_FILE = ".numba_config.yaml"
"""In the working folder, settings for numba, which only numba reads."""


def interprets() -> bool:
    """Whether kernels are not to be compiled: NUMBA_DISABLE_JIT."""
    return bool(int(_setting("DISABLE_JIT") or 0))


def checks_bounds() -> bool:
    """Whether compiled kernels check each index: NUMBA_BOUNDSCHECK."""
    return bool(int(_setting("BOUNDSCHECK") or 0))


def wanted_folder() -> str:
    """The folder for compiled kernels that the user names, NUMBA_CACHE_DIR, or nothing."""
    return str(_setting("CACHE_DIR") or "")


def _setting(name: str) -> Any:
    if "numba" in sys.modules or Path(_OWN_FILE).exists():
        from numba import config

        return getattr(config, name)
    return os.environ.get(f"NUMBA_{name}")
