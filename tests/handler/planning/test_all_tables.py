"""Every table of the corpus, of every Hudi version: it is read, and no filter of the oracle loses one of its rows.

The oracle's answers hold for Hudi 1.1.1; here the truth of each row comes from the row-level reference, so that the
tables of 0.15, 1.0 and 1.2 are held to it as well. Rows of slices with log files are not merged here: those slices are
left to ``test_conformance``.
"""

import json

import pytest

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from handler.inspection.table_report import report_table
from handler.planning.unknown_columns import unknown_columns
from handler.sql.parsing import parse
from tests.handler.conftest import DATA
from tests.handler.table_rows import rows_of
from tests.sampling import share

TABLES = sorted(path.stem for path in DATA.glob("*.zip"))
SPARK = Semantics.named("spark", "UTC")


def filters():
    found = {}
    for path in sorted(DATA.glob("oracle_*.json")):
        for one in json.loads(path.read_text(encoding="utf-8"))["filters"]:
            found[one["filter"]] = None
    return list(found)


@pytest.mark.parametrize("name", share(TABLES, 10))
def test_a_table_is_read_without_failure(unpack, name):
    report = report_table(open_table(unpack(name)))
    assert report.failures == ()
    assert report.slices.note == ""
    assert report.slices.count > 0
    assert {covered.kind for covered in report.coverage} >= {"column_stats"}


@pytest.mark.parametrize("name", share(TABLES, 10))
def test_no_filter_loses_a_row(unpack, name):
    folder = unpack(name)
    table = open_table(folder)
    rows = rows_of(folder, table.at().slices)
    schema = table.table.schema
    faults, decided = [], 0
    for text in filters():
        expression = parse(text, "spark")
        has_its_columns = not any(unknown_columns(expression, (), schema, SPARK))
        plan = prune(table, expression, "spark", time_zone="UTC", strict=has_its_columns)
        try:
            for items, wrong in ((plan.skipped, True), (plan.fully_matched, False)):
                faults += [
                    (text, row["_hoodie_record_key"], wrong)
                    for item in items
                    for row in rows.get(item.file_id, ())
                    if (value_of(expression, row, schema, SPARK) is True) is wrong
                ]
        except (UnsupportedError, SargoError, ArithmeticError, ValueError, TypeError):
            continue  # no row form: Spark's own answer is in the oracle
        decided += 1
    assert faults == []
    assert decided > 100
