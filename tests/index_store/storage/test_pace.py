"""Whether a file is read whole follows from the time that earlier requests took, and changes no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store.formats.hfile import HFile
from index_store.storage.pace import MAX_GAP, MAX_WHOLE, MIN_GAP, MIN_WHOLE, Pace
from index_store.storage.storage import Storage
from tests.index_store.synthetic import NONE, hfile
from tests.s3.store import running

MEGABYTE = 1 << 20


def seen(round_trip, rate, small=8, large=4):
    """A pace that has seen so many reads."""
    pace = Pace()
    for _ in range(small):
        pace.note(100, round_trip)
    for _ in range(large):
        pace.note(4 * MEGABYTE, round_trip + 4 * MEGABYTE / rate)
    return pace


def test_before_anything_was_read_about_four_megabytes_are_read_whole():
    assert 3 * MEGABYTE < Pace().whole < 4 * MEGABYTE


@pytest.mark.parametrize(
    ("round_trip", "rate", "least", "most"),
    [
        (0.005, 35e6, 1.0, 1.1),  # of these, a look-up takes the same time both ways, in MB: 0.6,
        (0.005, 100e6, 1.0, 1.1),  # 1,
        (0.03, 35e6, 1.3, 1.7),  # 1.5,
        (0.03, 100e6, 3.3, 4.0),  # 3.7,
        (0.1, 35e6, 3.5, 4.2),  # 3.5,
        (0.1, 100e6, 8.0, 8.5),  # 10
    ],
)
def test_the_limit_is_where_the_bench_measured_it(round_trip, rate, least, most):
    assert least * 1e6 <= seen(round_trip, rate).whole <= most * 1e6


def test_a_hiccup_changes_nothing():
    pace = seen(0.03, 100e6)
    before = pace.whole, pace.gap
    for _ in range(5):
        pace.note(100, 30.0)
        pace.note(100, 0.0)  # out of memory, without a request
    pace.note(8 * MEGABYTE, 60.0)
    assert (pace.whole, pace.gap) == pytest.approx(before, rel=0.01)


def test_a_change_that_stays_is_learned():
    pace = seen(0.005, 100e6)
    for _ in range(40):
        pace.note(1000, 0.1)
    assert pace.round_trip == 0.1
    assert pace.whole == MAX_WHOLE


def test_a_failure_is_no_measurement():
    times = iter((0.0, 5.0, 10.0, 10.5))
    pace = Pace(clock=lambda: next(times))
    with pytest.raises(ZeroDivisionError):
        pace.timed(lambda: [1 // 0])
    next(times)
    assert Pace().round_trip == pace.round_trip


def test_what_is_read_is_timed_by_the_clock():
    times = iter((1.0, 1.25))
    pace = Pace(clock=lambda: next(times))
    assert pace.timed(lambda: b"abc") == b"abc"
    assert pace.round_trip == 0.25


@given(st.lists(st.tuples(st.integers(0, 1 << 40), st.floats(-1, 1e9, allow_nan=False))))
def test_limits_hold_whatever_a_clock_shows(reads):
    pace = Pace()
    for nbytes, seconds in reads:
        pace.note(nbytes, seconds)
    assert MIN_WHOLE <= pace.whole <= MAX_WHOLE
    assert MIN_GAP <= pace.gap <= MAX_GAP


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        records = [(b"%06d" % i, bytes([i % 251]) * 1000) for i in range(2_500)]
        (found.bucket / "middle.hfile").write_bytes(hfile(records, codec=NONE))
        yield found


@pytest.mark.parametrize(("round_trip", "requests"), [(0.002, 2), (0.1, 1)])
def test_a_file_is_read_whole_or_by_ranges_as_the_pace_says(store, round_trip, requests):
    storage = Storage.at(store.uri(""), None, store.options)
    storage.files()
    for _ in range(40):
        storage._location.patience.pace.note(1, round_trip)
    store.take()
    with storage.open("middle.hfile") as source:
        [block] = HFile.open(source).blocks([b"001234"])
    asked = store.take()
    assert b"001234" in block
    assert len(asked) == requests
    assert (sum(one["sent"] for one in asked) > 2_500_000) == (requests == 1)


def test_a_table_learns_the_pace_of_its_store(store):
    storage = Storage.at(store.uri(""), None, store.options)
    with store.answering(latency=0.2):
        for _ in range(2):
            storage.afresh().read("middle.hfile")
        (store.bucket / "small").write_bytes(b"s")
        storage.read("small")
    assert storage._location.patience.pace.round_trip >= 0.2
    assert storage._location.patience.pace.rate != Pace().rate
