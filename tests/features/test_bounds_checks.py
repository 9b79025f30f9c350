"""The kernels with every index checked."""

import os
import subprocess
import sys
from pathlib import Path

import streamlin

CANARY = """
import numpy as np
from streamlin.features.murmur3 import murmur3_32
try:
    murmur3_32(np.zeros(4, np.uint8), 0, 4)
except IndexError:
    print("checked")
"""


def test_no_kernel_reads_or_writes_out_of_bounds(tmp_path: Path) -> None:
    """Without bounds checks the canary, which lacks the padding, would not raise."""
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    root = Path(streamlin.__file__).parents[1]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], env=environment, cwd=root, capture_output=True, text=True, check=False
        )

    assert run("-c", CANARY).stdout == "checked\n"
    tests = run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__).with_name("test_view.py")))
    assert tests.returncode == 0, tests.stdout
