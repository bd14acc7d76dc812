"""Queries of the matrix in containers of YARN: the rows of the unpruned query, and the files that are kept.

The jar comes by hive.aux.jars.path alone; tables and sidecar are on HDFS, which the sidecar reads without Java.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.compare import compare, kinds
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.hive.cases import CASES, MERGED_CASES, Case
from tests.hive.server import HIVE_4

pytestmark = pytest.mark.cluster

#: A job of MapReduce starts a JVM for each task, so a few cases stand for all.
ON_MAPREDUCE = frozenset({"aggregates", "partition and data"})
QUICK = frozenset(case.name for case in (*CASES, *MERGED_CASES) if case.quick)


def matrix() -> Iterator[Any]:
    for engine, listing, chosen in (("tez", "hudi", None), ("tez", "sidecar", QUICK), ("mr", "sidecar", ON_MAPREDUCE)):
        for case in (*CASES, *MERGED_CASES):
            if chosen is None or case.name in chosen:
                for kind in kinds(case, HIVE_4):
                    yield pytest.param(engine, listing, case, kind, id=f"{engine}-{listing}-{kind}-{case.name}")


@pytest.mark.parametrize(("engine", "listing", "case", "kind"), list(matrix()))
@pytest.mark.timeout(600)
def test_rows_are_those_without_skipping_and_files_those_the_evaluator_keeps(
    engine: str, listing: str, case: Case, kind: str, hive: HiveOnYarn
) -> None:
    cursor = hive.session(engine, {"hive.execution.engine": engine}).cursor()
    cursor.execute(f"set sargo.listing={listing}")
    compare(hive, cursor, engine, case, kind)
