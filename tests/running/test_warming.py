"""Compiled code that is loaded before a service answers."""

import json
import subprocess
import sys

import pytest

from tests.locations import ROOT

OTHERS = {
    "classification": ("streamlin.tagging.", "streamlin.asking."),
    "asking": ("streamlin.tagging.",),
    "tagging": ("streamlin.learners.", "streamlin.features.hashing."),
}
SHARED = (
    "streamlin.learners.step.",
    "streamlin.learners.linear.adagrad_step ",
    "streamlin.features.hashing.hash_ranges ",
)


def kernels(case: str) -> list[list[str]]:
    """What `tests.running.warmed` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.running.warmed", case], cwd=ROOT, check=True, capture_output=True, text=True
    )
    printed: list[list[str]] = json.loads(done.stdout)
    return printed


@pytest.mark.parametrize("case", ["classification", "asking", "tagging"])
def test_no_event_loads_a_kernel_after_warming(case: str) -> None:
    """And warming loads none of the other task, but for those that both use."""
    warm, after, _ = kernels(case)
    assert len(warm) > 10
    assert after == []
    foreign = [kernel for kernel in warm if kernel.startswith(OTHERS[case]) and not kernel.startswith(SHARED)]
    assert foreign == []


@pytest.mark.parametrize("case", ["classification", "accurate", "tagging"])
def test_the_second_compiler_needs_no_kernel_that_a_run_does_not(case: str) -> None:
    assert kernels(case)[2] == []
