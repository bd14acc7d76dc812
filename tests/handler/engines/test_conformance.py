"""Every predicate of the conformance suite through pyarrow, Polars and DuckDB: the rows that Spark recorded.

The rows are those of ``tests/conformance/row_truth.py``. A predicate that is refused is counted, and never gives other
rows. Each table is read with every engine at night, and a share of the predicates by day.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from evaluator.language.errors import SargoError, UnsupportedError
from handler import open_table, prune
from tests.conformance.pruned_reads import READ_HERE
from tests.conformance.stored_truth import truth_of, unpack
from tests.handler.engines.test_true_rows import rows
from tests.sampling import examples, share

ENGINES = ("batches", "dataset", "polars", "duckdb", "tasks")
KEY = "_hoodie_record_key"
CASES = [(name, engine) for name in READ_HERE for engine in ENGINES]


@pytest.mark.parametrize(("name", "engine"), share(CASES, 76, seed=20))
def test_every_predicate_gives_the_rows_that_spark_gave(tmp_path, name, engine):
    truth = truth_of(name)
    predicates = list(truth.predicates)
    chosen = random.Random(name + engine).sample(predicates, min(len(predicates), examples(7, at_night=10_000)))
    table = open_table(unpack(name, tmp_path))
    wrong, seen = {}, Counter()
    for sql in chosen:
        expected = truth.numbers(sql, "legacy")
        if expected is None:
            seen["fails in Spark"] += 1
            continue
        try:
            plan = prune(table, sql, "spark-legacy", time_zone="UTC")
            found = rows(plan.scan([KEY], by_name=True), engine).column(KEY).to_pylist()
        except UnsupportedError:
            seen["refused"] += 1
            continue
        except SargoError as error:
            wrong[sql] = repr(error)
            continue
        seen["read"] += 1
        keys = truth.keys(sql, "legacy")
        if set(found) != keys or len(found) != len(keys):
            wrong[sql] = f"more {sorted(set(found) - keys)[:3]}, fewer {sorted(keys - set(found))[:3]}"
    print(name, engine, dict(seen))
    assert wrong == {}
    assert seen["read"] >= len(chosen) // 3
