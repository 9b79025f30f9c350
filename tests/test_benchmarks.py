"""What the benchmarks promise of themselves."""

import subprocess
import sys


def test_the_process_that_measures_memory_imports_nothing_large() -> None:
    """The peak memory of a child process is at least that of its parent at the fork."""
    code = "import sys, benchmarks.peers; print({'numpy', 'numba', 'pydantic', 'msgspec', 'sklearn'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
