"""Every kind of wrong result that real Hudi gave: the same filters on the same tables lose no row here.

Real Hudi 1.1.1 and 1.2.0 returned fewer rows than match when all files are read, or failed. Here the rows are read with
pyarrow and matched by the row-level reference.

Facts: docs/facts/hudi-data-skipping.md#wrong-results.
"""

from __future__ import annotations

import pytest

from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from handler.sql.parsing import parse
from tests.handler.table_rows import rows_of

SPARK = Semantics.named("spark", "UTC")
MAIN, NAN, LONG, EVOLVED, EXPRESSIONS = (
    "1.1.1_main_cow",
    "1.1.1_nan_cow",
    "1.1.1_longstr_cow",
    "1.1.1_evol_cow",
    "1.1.1_expr_cow",
)
#: (report, table, filter, rows that match, rows that Hudi returned: None where it failed or was not counted)
LOST = [
    ("hudi#18791 LIKE 'p%' as equality", MAIN, "s like 'apple%'", 24, 16),
    ("hudi#18791 LIKE 'p%' as equality", MAIN, "s like 'b%'", 23, 16),
    ("hudi#18791 LIKE 'p%' as equality", MAIN, "s like 'Ch%'", 25, 18),
    ("hudi#18791 LIKE 'p%' as equality", MAIN, "startswith(s, 'dat')", 23, 7),
    ("hudi#18791 LIKE 'p%' as equality", MAIN, "upper(s) like 'CH%'", 25, 18),
    ("hudi#18791 LIKE 'p%' as equality", MAIN, "lower(s) like 'cherry%'", 25, 18),
    ("hudi#18791 LIKE 'p%' as equality", MAIN, "i < 0 and s like 'a%'", 22, 14),
    ("hudi#18754 NaN leaves 0.0 .. 0.0", NAN, "f = 5.0", 1, 0),
    ("hudi#18754 NaN leaves 0.0 .. 0.0", NAN, "f > 6", 8, 4),
    ("hudi#18754 NaN leaves 0.0 .. 0.0", NAN, "f between 4 and 8", 3, 1),
    ("hudi#18754 NaN leaves 0.0 .. 0.0", NAN, "d <> 0.0", 13, 6),
    ("hudi#18754 NaN leaves 0.0 .. 0.0", NAN, "d >= 8", 9, 4),
    ("hudi#18755 long text counts as null", LONG, "s is not null", 9, 6),
    ("hudi#18755 long text counts as null", LONG, "s <> 'b'", 8, 5),
    ("hudi#18755 long text counts as null", LONG, "s >= 'm'", 6, 3),
    ("hudi#18755 long text counts as null", LONG, "length(s) > 2000", 4, 1),
    ("hudi#18755 long text counts as null", LONG, f"s = '{'m' * 2500}1'", 1, 0),
    ("hudi#19645 IS NULL of an added column", EVOLVED, "extra is null", 33, 33),
    ("hudi#19645 IS NULL of an added column", EVOLVED, "extra is null and i < 0", 26, 7),
    ("hudi#19645 IS NULL of an added column", EVOLVED, "extra is null or i > 100", 79, 59),
    ("hudi#19645 IS NULL of an added column", EVOLVED, "extra is null and s is null", 2, 0),
    ("hudi#19445 a function that breaks the order", MAIN, "i * -1 > 250", 4, 0),
    ("hudi#19445 a function that breaks the order", MAIN, "i / -10 > 25", 4, 0),
    ("hudi#19445 a function that breaks the order", MAIN, "dec * -1 > 30", 3, 0),
    ("hudi#19445 a function that breaks the order", MAIN, "l * -1 < -1000000000000", 49, None),
    ("hudi#19445 a function that breaks the order", MAIN, "cast(i as tinyint) = 4", 3, 0),
    ("hudi#19445 a function that breaks the order", MAIN, "cast(l as int) > 2000000000", 8, 0),
    ("hudi#19445 a function that breaks the order", MAIN, "i + 2147483000 > 0", 86, 0),
    ("date_format taken for ordered", MAIN, "date_format(dt, 'MM/dd/yyyy') < '01/10/2020'", 5, 0),
    ("date_format taken for ordered", MAIN, "date_format(dt, 'dd') = '04'", 5, 2),
    ("date_format taken for ordered", MAIN, "date_format(t, 'HH') = '07'", 8, 5),
    ("datediff falls in its second argument", MAIN, "datediff(date'2020-01-01', dt) < -600", 30, 0),
    ("stale partition_stats", MAIN, "u > 190", 19, 12),
    ("the index of another function", EXPRESSIONS, "month(dt) = 1", 6, None),
    ("the index of another function", EXPRESSIONS, "day(dt) = 14", 3, None),
    ("the index of another function", EXPRESSIONS, "quarter(dt) = 1", 18, None),
    ("the index of another function", EXPRESSIONS, "upper(id) = 'K0003'", 1, 0),
    ("lower and upper taken for ordered", EXPRESSIONS, "lower(s) > 'd'", 23, 22),
    ("lower and upper taken for ordered", EXPRESSIONS, "lower(s) like 'c%'", 16, 0),
    ("BINARY bounds fail", MAIN, "bin = X'62303331'", 2, None),
    ("BINARY bounds fail", MAIN, "bin > X'62303331'", 144, None),
]


@pytest.fixture(scope="module")
def opened(unpack):
    tables = {}

    def opened_table(name):
        if name not in tables:
            table = open_table(unpack(name))
            tables[name] = table, rows_of(unpack(name), table.at().slices)
        return tables[name]

    return opened_table


@pytest.mark.parametrize(
    ("report", "name", "text", "rows", "hudi"), [pytest.param(*one, id=f"{one[0]}: {one[2][:50]}") for one in LOST]
)
def test_no_row_is_lost_that_hudi_lost(opened, report, name, text, rows, hudi):
    table, stored = opened(name)
    expression = parse(text, "spark")
    matching = {
        file_id: sum(value_of(expression, row, table.table.schema, SPARK) is True for row in found)
        for file_id, found in stored.items()
    }
    assert sum(matching.values()) == rows, f"{report}: {hudi}"
    plan = prune(table, expression, "spark", time_zone="UTC", strict=True)
    assert {file_id for file_id, count in matching.items() if count} <= {item.file_id for item in plan.kept}


def test_every_kind_of_wrong_result_is_there():
    assert len({report for report, *_ in LOST}) == 11
