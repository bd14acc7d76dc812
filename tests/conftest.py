"""What holds for every test.

No test writes into the user's cache of snapshots; those that are about snapshots name a folder of their own.
"""

import os

import pytest

os.environ["SARGO_CACHE"] = "off"


def pytest_collection_modifyitems(items):
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
