"""Kernels from the disk: what loading them leaves out is there once another kernel needs it."""

import os
import subprocess
import sys

from tests.locations import ROOT

KERNELS = """
import sys
import numpy as np
from streamlin.kernel import kernel

@kernel
def doubled(x):
    return 2.0 * x.copy()

@kernel
def summed(x):
    return doubled(x).sum()

x = np.arange(4.0)
for name in sys.argv[1:]:
    print(globals()[name](x), sum(doubled.stats.cache_hits.values()))
    print([module for module in ("numba.np.arrayobj", "numba.cpython.unicode") if module in sys.modules])
"""


def test_a_loaded_kernel_can_be_called_and_becomes_part_of_others(tmp_path):
    """Calling it imports nothing of the compiler; the kernel that calls it is compiled with it, and kept."""
    (tmp_path / "own.py").write_text(KERNELS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": str(ROOT)}

    def output(*names):
        command = [sys.executable, str(tmp_path / "own.py"), *names]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()

    assert output("doubled")[0] == "[0. 2. 4. 6.] 0"
    calls = output("doubled", "summed")
    assert calls[:3] == ["[0. 2. 4. 6.] 1", "[]", "12.0 1"]
    assert output("summed")[0] == "12.0 0", "the second process has kept it"
