"""The machine, and the versions of what runs on it."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

_PACKAGES = ("numpy", "numba", "streamlin")


def machine(*packages: str) -> dict[str, Any]:
    """Facts that figures depend on; `packages` are those whose versions matter besides our own.

    `load`: runnable processes before the first run, averaged over one minute.
    """
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    } | {package: version(package) for package in (*_PACKAGES, *packages)}


def sentence(found: dict[str, Any], *packages: str) -> str:
    """The facts as a sentence."""
    versions = ", ".join(f"{package} {found[package]}" for package in (*_PACKAGES, *packages))
    return (
        f"{found['cpu']}, {found['cores']} cores, {found['memory_gib']} GiB of memory, {found['system']}, "
        f"Python {found['python']}, {versions}; "
        f"load {found['load']:.1f} before the start"
    )


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()
