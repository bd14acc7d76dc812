"""Faults of a store: what is tried again, what is final, and what a deadline ends."""

from __future__ import annotations

import errno
import threading

import pytest

from index_store import TableError
from index_store.storage.retries import Patience, is_transient
from index_store.storage.storage import Entry
from tests.index_store.recording_store import RecordingStore
from tests.index_store.storage.failing_stores import Failing, quick


class HttpError(Exception):
    def __init__(self, status):
        super().__init__(f"the server said {status}")
        self.status_code = status


TRANSIENT = [
    ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
    TimeoutError("timed out"),
    ConnectionRefusedError("refused"),
    BrokenPipeError(),
    OSError(errno.EHOSTUNREACH, "No route to host"),
    OSError(errno.ESTALE, "Stale file handle"),
    HttpError(500),
    HttpError(503),
    HttpError(429),
    HttpError("502"),
    OSError("When reading key 'x': AWS Error SLOW_DOWN during GetObject operation: Please reduce your request rate."),
    OSError("AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 56, Failure when receiving data"),
    OSError("AWS Error UNKNOWN (HTTP status 503) during GetObject operation: No response body."),
    OSError("AWS Error INTERNAL_FAILURE during GetObject operation"),
    OSError("google: Too Many Requests"),
    OSError("the server is busy: ServerBusy"),
    OSError("Service Unavailable"),
    OSError("google::cloud::Status(UNAVAILABLE: Retry policy exhausted)"),
    OSError("Azure Error: [] 503 Server Busy."),
    OSError("google::cloud::Status(RESOURCE_EXHAUSTED: quota)"),
    OSError("Azure Error: [OperationTimedOut] 500 x"),
    OSError("When reading 'f-0_0-404-403_2026.parquet': connection was closed"),
]
FINAL = [
    FileNotFoundError("gone"),
    PermissionError(errno.EACCES, "Permission denied"),
    HttpError(403),
    HttpError(404),
    OSError("AWS Error ACCESS_DENIED during HeadObject operation: No response body."),
    IsADirectoryError("d"),
    OSError("AWS Error UNKNOWN (HTTP status 403) during GetObject operation"),
    NotADirectoryError("d"),
    OSError("AWS Error NO_SUCH_BUCKET during ListObjectsV2 operation: The bucket does not exist (request timeout 3)"),
    OSError("AWS Error INVALID_ACCESS_KEY_ID"),
    OSError(errno.EIO, "Input/output error"),
    ValueError("nonsense"),
    OSError("AWS Error UNKNOWN: ExpiredToken"),
    NotImplementedError(),
    OSError("f-0_0-500-503_2026.parquet: odd"),
    OSError("GetProperties failed. Azure Error: [AuthorizationFailure] 403 Server failed to authenticate the request."),
    OSError("google::cloud::Status(PERMISSION_DENIED: the caller has no storage.objects.get access; code: 403)"),
]


@pytest.mark.parametrize("error", TRANSIENT, ids=repr)
@pytest.mark.parametrize("what", ["open", "read"])
def test_what_is_transient_is_tried_again(folder, error, what):
    assert is_transient(error)
    store = RecordingStore(Failing(error, error, what=(what,)))
    assert quick(store, folder).read("d/03") == bytes([3]) * 100
    assert len(store.of("open")) == 3


@pytest.mark.parametrize("error", FINAL, ids=repr)
def test_what_is_final_is_raised_at_once(folder, error):
    assert not is_transient(error)
    store = RecordingStore(Failing(error, what=("open",)))
    with pytest.raises(TableError, match="d/03"):
        quick(store, folder).read("d/03")
    assert len(store.of("open")) == 1


def test_listings_and_look_ups_are_tried_again(folder):
    store = RecordingStore(Failing(ConnectionResetError("reset"), what=("list",)))
    assert quick(store, folder).below("d").files()[0] == Entry("00", 100)
    store = RecordingStore(Failing(ConnectionResetError("reset"), what=("info",)))
    assert quick(store, folder).exists("d/00")
    assert not quick(RecordingStore(), folder).exists("nothing")


def test_ranges_of_a_large_file_are_tried_again_on_a_new_stream(large):
    path, _ = large
    data = (path / "large.hfile").read_bytes()
    store = RecordingStore()
    with quick(store, path).open("large.hfile") as source:
        store.fault = Failing(ConnectionResetError("reset"), ConnectionResetError("reset"), what=("read",))
        assert source.read_at(5_000_000, 10) == data[5_000_000:5_000_010]
    assert len(store.of("open")) == 3


def test_tries_end(folder):
    store = RecordingStore(Failing(*[TimeoutError("slow")] * 99, what=("open",)))
    with pytest.raises(TableError, match=r"d/03: cannot be read: slow"):
        quick(store, folder, tries=4).read("d/03")
    assert len(store.of("open")) == 4


def test_pauses_grow_and_are_drawn():
    def fail():
        raise TimeoutError("slow")

    slept = []
    for _ in range(20):
        patience = Patience(tries=7, first_pause=0.1, longest_pause=1.0, sleep=slept.append)
        with pytest.raises(TimeoutError):
            patience.run(fail)
    for attempt, most in enumerate((0.1, 0.2, 0.4, 0.8, 1.0, 1.0)):
        drawn = slept[attempt::6]
        assert all(most / 2 <= pause <= most for pause in drawn)
        assert len(set(drawn)) > 10


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def test_an_operation_ends_with_its_deadline():
    clock, asked = Clock(), []
    patience = Patience(tries=1000, deadline=10.0, sleep=clock.sleep, clock=clock)

    def fail():
        asked.append(clock.now)
        clock.now += 0.5
        raise TimeoutError("slow")

    with pytest.raises(TimeoutError, match="slow"):
        patience.run(fail)
    assert 5 < asked[-1] <= 10 < clock.now + patience.longest_pause


def test_a_store_that_is_down_costs_one_deadline_and_rests_as_long():
    clock, asked = Clock(), []
    patience = Patience(tries=5, deadline=10.0, sleep=clock.sleep, clock=clock)

    def fail():
        asked.append(clock.now)
        clock.now += 3.0
        raise TimeoutError("slow")

    for _ in range(1000):
        with pytest.raises(TimeoutError):
            patience.run(fail)
    assert clock.now < 25
    with pytest.raises(TimeoutError, match=r"not tried: nothing could be read for 1\d seconds"):
        patience.run(fail)
    clock.now += 11
    assert patience.run(lambda: "up again") == "up again"
    assert patience.run(lambda: "and it stays") == "and it stays"


def test_what_hangs_is_left_behind(folder):
    released = threading.Event()
    store = RecordingStore(lambda call: call.what == "open" and released.wait(30))
    with pytest.raises(TableError, match="no answer within"):
        quick(store, folder, deadline=0.05).read("d/00")
    released.set()
