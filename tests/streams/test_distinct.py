"""Columns of texts as their distinct values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamlin.events import Distinct, LabelIndex

COLUMN = st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d", None]), st.booleans()))


@given(COLUMN, st.lists(st.sampled_from("abcde"), unique=True))
def test_codes_are_those_learned_value_by_value(column: list[tuple[str | None, bool]], known: list[str]) -> None:
    values = [value for value, _ in column]
    expected, index = LabelIndex(known), LabelIndex(known)
    distinct = Distinct.of(values)
    assert distinct.coded(index.learn(distinct.values)).tolist() == expected.learn(values).tolist()
    assert index.names == expected.names


@given(COLUMN)
def test_values_left_out_have_no_code_and_no_place(column: list[tuple[str | None, bool]]) -> None:
    kept = np.array([keep for _, keep in column], np.bool_)
    found = Distinct.of([value for value, _ in column]).only(kept)
    expected = Distinct.of([value if keep else None for value, keep in column])
    assert found.values == expected.values
    assert found.codes.tolist() == expected.codes.tolist()
