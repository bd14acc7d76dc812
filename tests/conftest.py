"""What holds for every test.

No test writes into the user's cache of snapshots; those that are about snapshots name a folder of their own.

Property tests draw the same examples in every run and have no limit of time. Neither luck nor a loaded machine decides
whether they pass. A run of all tests (``tests/sampling.py``) draws other examples each time.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.sampling import ALL_CASES

for _signal, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_signal) is signal.SIG_IGN:  # a run in the background; processes that tests start inherit it
        signal.signal(_signal, _usual)

os.environ["SARGO_CACHE"] = "off"

settings.register_profile(
    "sargo",
    deadline=None,
    database=None,
    derandomize=not ALL_CASES,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
settings.load_profile("sargo")


def pytest_xdist_auto_num_workers(config):
    """One process more than processors: some tests wait for processes, sockets or clocks."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items):
    """Mark what starts Spark. One process runs all of that, and first; the other files go to whichever is free."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        group = "spark" if item.get_closest_marker("spark") else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
