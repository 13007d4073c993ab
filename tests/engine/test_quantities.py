"""Lengths of time and amounts of bytes read alike everywhere, and never raise."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.quantities import DAY, GIB, HOUR, MIB, MINUTE, about, download, exact, gib


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.4, "59 s"), (724, "12 min 04 s"), (7265, "2 h 01 min"), (math.inf, "unknown")],
)
def test_that_measured_time_is_exact(seconds, words):
    assert exact(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a minute"),
        (29, "less than a minute"),
        (38 * MINUTE + 10, "about 38 min"),
        (99 * MINUTE, "about 99 min"),
        (2 * HOUR + 9 * MINUTE, "about 2 h 10 min"),
        (3 * HOUR - 40, "about 3 h"),
        (DAY, "about 1 d"),
        (DAY + 5 * HOUR + 1, "about 1 d 5 h"),
        (math.nan, "unknown"),
    ],
)
def test_that_estimated_time_is_round(seconds, words):
    assert about(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 MiB"),
        (MIB // 3, "0.3 MiB"),
        (80 * MIB, "80 MiB"),
        (GIB // 2, "0.5 GiB"),
        (3.14 * GIB, "3.1 GiB"),
    ],
)
def test_that_memory_is_in_gib(count, words):
    assert gib(count) == words


def test_that_downloads_are_in_the_units_of_shops():
    assert (download(203), download(2741)) == ("203 MB", "2.7 GB")


@given(st.floats(min_value=0, max_value=1e9))
def test_that_an_estimate_is_near_what_it_says(seconds):
    words = about(seconds).replace("about ", "").split()
    unit = {"min": MINUTE, "h": HOUR, "d": DAY}
    if words[0] != "less":
        said = sum(int(number) * unit[name] for number, name in zip(words[::2], words[1::2], strict=True))
        assert abs(said - seconds) <= max(0.05 * seconds, MINUTE)
