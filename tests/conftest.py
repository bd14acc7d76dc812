"""What holds for every test.

No test writes into the user's cache of snapshots; those that are about snapshots name a folder of their own.

Property tests draw the same examples in every run and have no limit of time. Neither luck nor a loaded machine decides
whether they pass. A run of all tests (``tests/sampling.py``) draws other examples each time.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.sampling import ALL_CASES

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


def pytest_collection_modifyitems(items):
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
