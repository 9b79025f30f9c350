"""The kernels with bounds checks, as interpreted Python, and from the cache on disk."""

import copy
import inspect
import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.kernel import kernel
from streamlin.kernel.folders import cache_folder
from streamlin.learners.linear import best_other
from tests.kernel_run import outcome
from tests.locations import ROOT

CHECKED = {"NUMBA_BOUNDSCHECK": "1"}
"""Kernels with bounds checks have a cache on disk too: the tests below, and later runs, compile them once."""
READ_BYTES = (
    "features/test_view.py",
    "features/test_single.py",
    "features/test_names.py",
    "formats/test_csv_format.py",
)
"""Tests of kernels that read or write bytes."""


def flipped(data):
    """The bytes with one bit changed, in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]


def outcome_in_a_process(folder, n, *options, **environment):
    """`tests.kernel_run.outcome` of a process with other settings of numba."""
    saved = folder / "outcome.npz"
    subprocess.run(
        [sys.executable, *options, "-m", "tests.kernel_run", str(saved), str(n)],
        env=os.environ | environment,
        cwd=ROOT,
        check=True,
    )
    with np.load(saved) as arrays:
        return dict(arrays)


def test_no_kernel_leaves_its_arrays(tmp_path):
    """300 events, up to 40 labels, tables that grow: no index is out of bounds, and the outcome is the same."""
    checked = outcome_in_a_process(tmp_path, 300, **CHECKED)
    assert checked.pop("checked")
    expected = outcome(300)
    assert checked.keys() == expected.keys()
    for name, array in expected.items():
        assert_array_equal(checked[name], array, err_msg=name, strict=True)


def test_no_kernel_that_reads_bytes_leaves_them():
    """The tests of tokens, single events, names and CSV pass with bounds checks too."""
    files = [str(ROOT / "tests" / name) for name in READ_BYTES]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *files]
    subprocess.run(command, env=os.environ | CHECKED, cwd=ROOT, check=True)


def test_compiled_kernels_do_what_their_source_says(tmp_path):
    """Interpreted, `exp` is numpy's, which may differ in the last bit; everything but floats is the same."""
    interpreted = outcome_in_a_process(tmp_path, 100, "-W", "ignore:overflow", NUMBA_DISABLE_JIT="1")
    interpreted.pop("checked")
    expected = outcome(100)
    assert interpreted.keys() == expected.keys()
    for name, array in expected.items():
        assert interpreted[name].dtype == array.dtype
        if array.dtype.kind == "f":
            assert_allclose(interpreted[name], array, rtol=1e-6 if array.itemsize == 4 else 1e-12, err_msg=name)
        else:
            assert_array_equal(interpreted[name], array, err_msg=name)


def test_cached_kernels_load_without_importing_the_compiler():
    """The second process at the latest finds them on disk."""
    program = (
        "import sys; from streamlin.learners import Perceptron; "
        "print(Perceptron().learn_one('a b', 'x').learn_one('b c', 'y').predict_one('b c')); "
        "print([name for name in ('scipy.linalg', 'numba.np.linalg') if name in sys.modules])"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert outputs[1] == "y\n[]\n"


LOOKUP = (
    "import numpy as np; from streamlin.features.key_rows import find_row, first_place, place_row; "
    "from streamlin.learners.linear import best_other; "
    "buckets, places = np.array([7], np.int32), np.full(4, -1, np.int32); place_row(0, 0, 2, buckets, places); "
    "print(first_place(np.int64(0), 2), find_row(7, 0, 2, buckets, places), find_row(8, 0, 2, buckets, places), "
    "best_other(np.array([0.5, 2.0, 1.0]), 1))"
)
"""Small kernels, which compile fast: the first place of bucket 0, the rows of 7, which is there, and of 8, and the best
label other than 1."""
FOUND = "0 0 -1 2\n"
DAMAGES = (lambda _: b"", lambda data: data[: len(data) // 2], lambda data: bytes(len(data)), flipped)
SOMEBODY = [
    "setpriv",
    "--reuid=54321",
    "--clear-groups",
    *(f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")),
]
TOLD = (
    "from streamlin.kernel.folders import tell_when_not_kept; import sys; "
    "tell_when_not_kept(lambda line: print(line, file=sys.stderr)); "
)


@pytest.fixture(scope="module")
def kept_kernels(tmp_path_factory):
    """A cache with the kernels that `LOOKUP` needs."""
    folder = tmp_path_factory.mktemp("kernels")
    assert looked_up_with(folder) == (FOUND, "")
    return folder


def looked_up_with(folder, **how):
    """The output and errors of `LOOKUP`, where compiled kernels are kept in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", TOLD + LOOKUP],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        **how,
    )
    return done.stdout, done.stderr


def test_kernels_that_cannot_be_kept_are_compiled_and_run():
    """Under /proc no folder can be made, even by root."""
    out, err = looked_up_with("/proc/kernels")
    assert out == FOUND
    assert re.fullmatch(r"/proc/kernels\S* can't be written to: .*, so every start compiles .*\n", err)


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_files_of_kernels_are_replaced(kept_kernels, tmp_path, suffix):
    """Emptied, halved, zeroed, and with a flipped bit: compiled again, and whole at the next start."""
    folder = tmp_path / "kernels"
    shutil.copytree(kept_kernels, folder)
    files = sorted(folder.rglob(f"*.{suffix}"))
    assert len(files) >= len(DAMAGES)
    for number, file in enumerate(files):
        file.write_bytes(DAMAGES[number % len(DAMAGES)](file.read_bytes()))
    damaged = [file.read_bytes() for file in files]
    assert looked_up_with(folder) == (FOUND, "")
    whole = [file.read_bytes() for file in files]
    assert all(len(new) > len(old) or new != old for new, old in zip(whole, damaged, strict=True))
    times = [file.stat().st_mtime_ns for file in files]
    assert looked_up_with(folder) == (FOUND, "")
    assert [file.stat().st_mtime_ns for file in files] == times, "they were loaded"


def test_a_full_disk_under_kernels_is_a_line(tmp_path):
    """No file may grow beyond 4 KiB, as if the disk were full there: each kernel is compiled, none is kept."""
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (4096, 4096))
    out, err = looked_up_with(tmp_path, preexec_fn=limit)
    assert out == FOUND
    assert re.fullmatch(rf"{tmp_path}\S* can't be written to: File too large, so every start compiles .*\n", err)
    assert not list(tmp_path.rglob("*.tmp.*"))


def test_a_user_without_a_home_folder_is_told(tmp_path):
    """A user id that has no account and may read everything, write nothing; and no HOME."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user, by setpriv")
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "streamlin", checkout / "streamlin", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [*SOMEBODY, sys.executable, "-c", TOLD + LOOKUP],
        env=environment,
        cwd=checkout,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == FOUND
    assert done.stderr == (
        "there is no home folder to keep compiled kernels in, so every start compiles kernels again; "
        "NUMBA_CACHE_DIR names another folder\n"
    )


def learned_by(checkout, tmp_path):
    """The biases that a copy of the perceptron's kernel learns, in a process that imports no other one."""
    program = (
        "import numpy as np; from streamlin.learners.perceptron import learn_batch; "
        "integers, codes = np.arange(3), np.arange(2, dtype=np.int32); bias = np.zeros(2, np.float32); "
        "learn_batch(integers, 0 * codes, np.ones(2, np.float32), integers[1:], codes, integers[:2], np.ones(2), "
        "np.zeros((1, 2), np.float32), bias, np.zeros((2, 2))); print(*bias)"
    )
    return subprocess.run(
        [sys.executable, "-c", program], cwd=checkout, env=os.environ | {"HOME": str(tmp_path)}, check=True,
        capture_output=True, text=True,
    ).stdout  # fmt: skip


def test_an_edited_kernel_is_compiled_again(tmp_path):
    """The edit is in `add_scaled`, which the perceptron's kernel calls from another file; numba alone would miss it."""
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "streamlin", checkout / "streamlin", ignore=shutil.ignore_patterns("__pycache__"))
    assert learned_by(checkout, tmp_path) == learned_by(checkout, tmp_path) == "-1.0 1.0\n"
    source = checkout / "streamlin/learners/linear.py"
    edited = source.read_text().replace("    bias[k] += step\n", "    bias[k] += 3 * step\n")
    assert edited != source.read_text()
    source.write_text(edited)
    assert learned_by(checkout, tmp_path) == "-3.0 3.0\n"


def test_a_kernel_is_pickled_and_copied_as_a_function_is():
    """By its name; it has the signature of its function, and takes keywords."""
    assert pickle.loads(pickle.dumps(best_other)) is best_other
    assert copy.deepcopy(best_other) is best_other
    assert [*inspect.signature(best_other).parameters] == ["scores", "y"]
    assert best_other(scores=np.array([0.5, 2.0, 1.0]), y=1) == 2


@pytest.mark.parametrize(("value", "read"), [("yes", False), ("", False), ("0", False), ("1", True)])
def test_settings_are_read_as_numba_reads_them(value, read):
    program = "from streamlin.kernel.settings import interprets; before = interprets(); import numba; "
    program += "print(before, interprets(), bool(numba.config.DISABLE_JIT))"
    command = [sys.executable, "-W", "ignore", "-c", program]
    environment = os.environ | {"NUMBA_DISABLE_JIT": value}
    done = subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.split() == 3 * [str(read)]


def test_the_folder_is_the_same_while_kernels_are_made():
    """In another thread."""
    expected, found, stop = cache_folder(), set(), threading.Event()

    def look():
        while not stop.is_set():
            found.add(cache_folder())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(200):
            assert kernel(flipped).dispatcher is not None
    finally:
        stop.set()
        thread.join()
    assert found == {expected}
