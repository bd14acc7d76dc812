"""What holds for every test.

No test writes into the user's cache of snapshots; those that are about snapshots name a folder of their own.
With ``pytest -n`` a file stays in one process, and so does all that uses Spark, which is begun first: it takes longest.
"""

import os

import pytest

os.environ["SARGO_CACHE"] = "off"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    def uses_spark(item):
        return "spark" in getattr(item, "fixturenames", ())

    items.sort(key=lambda item: not uses_spark(item))
    for item in items:
        item.add_marker(pytest.mark.xdist_group("spark" if uses_spark(item) else item.nodeid.partition("::")[0]))
