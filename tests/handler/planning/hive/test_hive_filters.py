"""Real Hive filters against the rows of the table for which they were made.

The truth of every row comes from the SQL text by the row-level reference; the plan comes from Hive's bytes. So a fault
in the decoder, in the translation, in binding or in a rule shows as a lost row.
"""

import pytest

from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from handler.sql.parsing import parse
from tests.handler.conftest import hive_filters
from tests.handler.table_rows import rows_of

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
    return rows_of(main_cow, table.at().slices)


def matches(sql, row, schema):
    if sql in BY_HAND:
        return BY_HAND[sql](row)
    return value_of(parse(sql, "hive"), row, schema, Semantics.named("hive", "UTC")) is True


@pytest.mark.parametrize("one", hive_filters(), ids=lambda one: f"Hive {one['hive']}: {one['sql']}")
def test_no_row_is_lost(table, rows, one):
    plan = prune(table, one["filter"], time_zone="UTC", strict=True)
    try:
        lost = [
            row["id"]
            for item in plan.skipped
            for row in rows[item.file_id]
            if matches(one["sql"], row, table.table.schema)
        ]
        missed = [
            row["id"]
            for item in plan.fully_matched
            for row in rows[item.file_id]
            if not matches(one["sql"], row, table.table.schema)
        ]
    except UnsupportedError as error:
        raise AssertionError(f"no row form: write the truth of {one['sql']} into BY_HAND ({error})") from error
    assert lost == []
    assert missed == []


@pytest.mark.parametrize("one", [one for one in hive_filters() if one["hive"] == "4.0.1"], ids=lambda one: one["sql"])
def test_what_hive_4_simplifies_never_keeps_more_than_what_hive_3_pushes_down(table, one):
    other = next(o for o in hive_filters() if o["hive"] == "3.1.3" and o["sql"] == one["sql"])
    kept = [
        {item.file_id for item in prune(table, text, "hive", time_zone="UTC").kept}
        for text in (one["filter"], other["filter"])
    ]
    assert kept[0] <= kept[1]
