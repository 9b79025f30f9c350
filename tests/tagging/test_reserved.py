"""Tables of taggers reserve memory that is not in use, unless that is limited."""

import resource
import subprocess
import sys

import pytest

from tests.locations import ROOT

GROW = "from streamlin.tagging.crf import CRF; c = CRF(); c.grow(20_000, 0, 44); print(c.weights.shape[0])"


@pytest.mark.parametrize("limit", [resource.RLIM_INFINITY, 8 << 30])
def test_tables_reserve_rows_where_addresses_are_free(limit):
    done = subprocess.run(
        [sys.executable, "-c", GROW],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(done.stdout) == ((1 << 28) // (48 * 4) if limit == resource.RLIM_INFINITY else 20_000)
