"""Exponentials of many numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.learners.exponentials import exponentials
from tests.naive_mixture import power


@given(st.lists(st.floats(-1e6, 0.0), min_size=1, max_size=40), st.floats(-1e3, 1e3))
def test_they_equal_the_twin_and_nearly_the_library(values, top):
    numbers, powers = np.array(values) + top, np.empty((2, len(values) + 1))
    total = exponentials(numbers, len(values), top, powers)
    found = powers[0, : len(values)]
    differences = (numbers - top).tolist()
    assert_array_equal(found, [power(x) for x in differences])
    assert_allclose(found, np.exp(np.maximum(differences, -700)), rtol=1e-14)
    total_of_found = 0.0
    for one in found.tolist():
        total_of_found += one
    assert total == total_of_found
