"""The memory that a process may use."""

import os
import resource
import subprocess
import sys

from streamlin.config.memory import usable_memory

_SHOW = "from streamlin.config.memory import usable_memory; print(usable_memory())"


def test_it_is_at_most_that_of_the_machine() -> None:
    assert 0 < usable_memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_a_limited_address_space_counts_half() -> None:
    limit = 3 << 30
    done = subprocess.run(
        [sys.executable, "-c", _SHOW],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert int(done.stdout) == min(limit // 2, usable_memory())
