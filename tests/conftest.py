"""What holds for every test.

No test writes into the user's cache of snapshots; those that are about snapshots name a folder of their own.

Property tests draw the same examples in every run and have no limit of time. Neither luck nor a loaded machine decides
whether they pass. A run of all tests (``tests/sampling.py``) draws other and more examples.
"""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from tests.sampling import ALL_CASES

for _signal, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_signal) is signal.SIG_IGN:  # a run in the background; processes that tests start inherit it
        signal.signal(_signal, _usual)

os.environ["SARGO_CACHE"] = "off"

settings.register_profile(
    "sargo",
    deadline=None,
    max_examples=100 if ALL_CASES else 10,
    database=None,
    derandomize=not ALL_CASES,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
settings.load_profile("sargo")


class OneSpark(LoadScopeScheduling):
    """Gives each process a file at a time, and one of them all tests on Spark, first: it starts Spark once."""

    def _split_scope(self, nodeid):
        return "spark" if may_start_spark(nodeid) else nodeid.partition("::")[0]


def may_start_spark(nodeid):
    path, _, test = nodeid.partition("[")[0].partition("::")
    return "handler/spark/" in path or path.endswith("test_spark_session.py") or "pyspark" in test


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return OneSpark(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One process more than processors: some tests wait for processes, sockets or clocks."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Collect 13,000 tests without looking for garbage: a fifth of the time, in each process."""
    gc.disable()


def pytest_collection_finish(session):
    """What was collected lives as long as the run: the collector need not look at it after each test."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    for item in items:
        given = item.callspec.params if hasattr(item, "callspec") else {}
        if "spark" in getattr(item, "fixturenames", ()) and "spark" not in given:
            item.add_marker(pytest.mark.spark)
            if not may_start_spark(item.nodeid):
                raise pytest.UsageError(f"{item.nodeid} starts Spark: let it stand in handler/spark")


@pytest.fixture
def no_footers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No footer is read for open slices, as where too many of them are open."""
    monkeypatch.setattr("index_store.open_slices.OPEN_LIMIT", 0)
