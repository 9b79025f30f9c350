"""Raw values to columns."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.errors import RecordError
from streamlin.formats.values import checked_weights, is_number, names, number, rfc_3339, unix_times


def test_names_of_texts_and_numbers():
    assert names(["a", "", None, 42, 1.5, -0.0, 10**30, 1e300]) == [
        "a",
        None,
        None,
        "42",
        "1.5",
        "0",
        "1" + "0" * 30,
        str(int(1e300)),
    ]
    assert names([]) == []


def test_a_missing_weight_is_1():
    assert checked_weights([None, 0, 2.5, 1e9]).tolist() == [1.0, 0.0, 2.5, 1e9]
    assert checked_weights([None, None]).tolist() == [1.0, 1.0]
    assert checked_weights([]).dtype == np.float64


@pytest.mark.parametrize("bad", [-1.0, -1e-300, 1.0000001e9, 1.7e308, np.nan, np.inf, -np.inf])
def test_a_weight_is_from_0_to_1e9(bad):
    with pytest.raises(RecordError, match=r"weight is .* expected a number from 0 to 1e\+09"):
        checked_weights([1.0, None, bad])


def test_times_are_seconds_or_rfc_3339():
    given_times = [None, "", 5, 2.5, "1970-01-02", "1970-01-01T00:00:01.25Z", 10**25, "5", "-2.5e3"]
    expected = [np.nan, np.nan, 5.0, 2.5, 86400.0, 1.25, 1e25, 5.0, -2500.0]
    np.testing.assert_array_equal(unix_times(given_times), expected)
    in_milliseconds = [np.nan, np.nan, 0.005, 0.0025, 86400.0, 1.25, 1e22, 0.005, -2.5]
    np.testing.assert_array_equal(unix_times(given_times, 1000.0), in_milliseconds)
    assert np.isnan(unix_times([None, None])).all()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2005-06-03T22:42:50Z", 1117838570.0),
        ("2005-06-03 22:42:50", 1117838570.0),
        ("2005-06-03t22:42:50z", 1117838570.0),
        ("2005-06-04T00:42:50+02:00", 1117838570.0),
        ("2005-06-03T15:12:50-07:30", 1117838570.0),
        ("2005-06-03T22:42:50.5Z", 1117838570.5),
        ("2005-06-03T22:42:50.123456789123Z", 1117838570.123456789),
        ("1969-12-31T23:59:59.75Z", -0.25),
        ("2016-12-31T23:59:60Z", 1483228800.0),
        ("2005-06-03", 1117756800.0),
    ],
)
def test_rfc_3339(text, seconds):
    assert rfc_3339(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2005-06-03T22:42",
        "1117838570 s",
        "0x10",
        "nan",
        "2005-13-03",
        "2005-02-30T00:00:00Z",
        "0000-01-01",
        "2005-06-03T24:00:00Z",
        "2005-06-03T22:42:61Z",
        "2005-06-03T22:42:50+25:00",
        "2005-06-03Z",
        " 2005-06-03",
        "２００５-06-03",
        "2005-06-03\n",
    ],
)
def test_other_texts_are_not_times(text):
    with pytest.raises(RecordError, match="time is"):
        unix_times([text])


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 10**400, "1e400"])
def test_a_time_is_finite(value):
    with pytest.raises(RecordError, match="time is out of range"):
        unix_times([1, value])


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)))
def test_numbers_written_by_python_are_read(moment):
    assert rfc_3339(moment.isoformat()) == pytest.approx(moment.timestamp(), abs=1e-5)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**40), 10**40))
def test_valid_numbers_are_recognized(value):
    assert is_number(str(value))
    assert number(str(value), "weight") == float(value)


@pytest.mark.parametrize("text", ["", " 1", "1 ", "nan", "inf", "1_000", "٣", "0x1", "1e", ".", "1,5", "--1", "1\n"])
def test_other_texts_are_not_numbers(text):
    with pytest.raises(RecordError, match=r"weight is .* expected a number"):
        number(text, "weight")
