"""Matrices as features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from streamlin.features import View
from streamlin.features.sparse import bits_for, entries
from tests.features.batches import listed

VALUES = st.sampled_from([0.0, 0.0, 1.0, -2.0, 0.5])


@pytest.mark.parametrize("kind", [csr_matrix, csr_array])
@given(st.integers(1, 6).flatmap(lambda width: st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=1)))
def test_non_zero_cells_are_entries_of_their_columns(kind, rows):
    found = entries(kind(np.array(rows)))
    assert listed(found) == [[(column, value) for column, value in enumerate(row) if value] for row in rows]
    assert [array.dtype for array in found] == [np.int64, np.int32, np.float32]


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), VALUES), max_size=8), min_size=1, max_size=5))
def test_entries_of_a_column_are_summed_and_zeros_left_out(rows):
    """The matrix has repeated entries in any order, and explicit zeros."""
    columns = np.array([column for row in rows for column, _ in row], np.int64)
    values = np.array([value for row in rows for _, value in row])
    indptr = np.cumsum([0, *map(len, rows)])
    matrix = csr_matrix((values, columns, indptr), shape=(len(rows), 5))
    before = values.copy(), columns.copy(), indptr.copy()
    found = [dict(row) for row in listed(entries(matrix))]
    for row, own in zip(rows, found, strict=True):
        expected = {column: sum(v for c, v in row if c == column) for column, value in row if value}
        assert own == expected
    for array, was in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
        assert array.tolist() == was.tolist()


def test_read_only_arrays_are_copied():
    matrix = csr_matrix(np.eye(3))
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    assert all(array.flags.writeable for array in entries(matrix))


def test_bits_needed_for_columns():
    assert [bits_for(n) for n in (1, 2, 3, 4, 5, 1 << 20, (1 << 20) + 1)] == [1, 1, 2, 2, 3, 20, 21]


NAMES = ["a", "b", "c d", "é", ""]


@given(st.lists(st.lists(VALUES, min_size=5, max_size=5), min_size=1, max_size=4), st.integers(1, 31))
def test_named_columns_equal_mappings(rows, bits):
    """With few bits several columns share a bucket and are summed."""
    view = View(bits=bits)
    found = view.of_columns(NAMES, entries(csr_matrix(np.array(rows))))
    assert listed(found) == listed(view.of_mappings([dict(zip(NAMES, row, strict=True)) for row in rows]))
