"""The queries of TPC-DS in Spark's dialect: those that Spark tests its plans with, from the jar of its tests.

One column has the name that the generator, as later versions of the specification, gives it. A LIMIT at the end is left
out: where rows are alike in what they are ordered by, it takes some of them at random.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping

from tests.tables.maven import SPARK_TESTS, fetched

__all__ = ["queries"]

_FILE = re.compile(r"tpcds(-v2\.7\.0)?/(q(\d+)\w*)\.sql")
_RENAMED = re.compile(r"\bc_last_review_date\b")
_LIMIT = re.compile(r"\blimit\s+\d+\s*;?\s*$", re.IGNORECASE)


def queries() -> Mapping[str, str]:
    """Name -> SQL, in the order of their numbers: ``q14a``, and ``q14a-2.7`` as a later version has it."""
    found = {}
    with zipfile.ZipFile(fetched(*SPARK_TESTS)) as jar:
        for file in jar.namelist():
            match = _FILE.fullmatch(file)
            if match:
                later, name, number = match.groups()
                text = _RENAMED.sub("c_last_review_date_sk", jar.read(file).decode("utf-8")).rstrip().rstrip(";")
                found[bool(later), int(number), name] = _LIMIT.sub("", text)
    return {name + ("-2.7" if later else ""): found[later, number, name] for later, number, name in sorted(found)}
