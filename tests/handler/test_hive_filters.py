"""Real Hive filters against the rows of the table for which they were made.

The truth of every row comes from the SQL text by the row-level reference; the plan comes from Hive's bytes. So a fault
in the decoder, in the translation, in binding or in a rule shows as a lost row.
"""

import datetime
from decimal import Decimal

import pyarrow.parquet as pq
import pytest

from evaluator.errors import UnsupportedError
from evaluator.reference import value_of
from evaluator.semantics import Semantics
from handler import open_table, prune
from handler.sql import parse
from tests.handler.conftest import hive_filters

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

#: Conditions that the row-level reference has no form for: their truth is written out here.
BY_HAND = {
    "i > 1000 and s rlike '^g'": lambda row: (row["i"] or 0) > 1000 and (row["s"] or "").startswith("g"),
    "st.x = 31": lambda row: row["st.x"] == 31,
}


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


@pytest.fixture(scope="module")
def rows(main_cow, table):
    """The rows of each slice, in the value form of ``evaluator.types``."""
    return {item.file_id: [value_form(row) for row in pq.read_table(main_cow / item.base_file).to_pylist()]
            for item in table.at().slices}


def value_form(row):
    flat = {}
    for name, value in row.items():
        match value:
            case dict():
                flat |= {f"{name}.{field}": inner for field, inner in value.items()}
                flat[name] = value
            case datetime.datetime():
                flat[name] = (value - EPOCH) // datetime.timedelta(microseconds=1)
            case datetime.date():
                flat[name] = (value - EPOCH.date()).days
            case Decimal() | _:
                flat[name] = value
    return flat


def matches(sql, row, schema):
    if sql in BY_HAND:
        return BY_HAND[sql](row)
    return value_of(parse(sql, "hive"), row, schema, Semantics.named("hive", "UTC")) is True


@pytest.mark.parametrize("one", hive_filters(), ids=lambda one: f"Hive {one['hive']}: {one['sql']}")
def test_no_row_is_lost(table, rows, one):
    plan = prune(table, one["filter"], time_zone="UTC", strict=True)
    try:
        lost = [row["id"] for item in plan.skipped for row in rows[item.file_id]
                if matches(one["sql"], row, table.table.schema)]
        missed = [row["id"] for item in plan.fully_matched for row in rows[item.file_id]
                  if not matches(one["sql"], row, table.table.schema)]
    except UnsupportedError as error:
        raise AssertionError(f"no row form: write the truth of {one['sql']} into BY_HAND ({error})") from error
    assert lost == []
    assert missed == []


@pytest.mark.parametrize("one", [one for one in hive_filters() if one["hive"] == "4.0.1"], ids=lambda one: one["sql"])
def test_what_hive_4_simplifies_never_keeps_more_than_what_hive_3_pushes_down(table, one):
    other = next(o for o in hive_filters() if o["hive"] == "3.1.3" and o["sql"] == one["sql"])
    kept = [{item.file_id for item in prune(table, text, "hive", time_zone="UTC").kept}
            for text in (one["filter"], other["filter"])]
    assert kept[0] <= kept[1]
