"""Rows as Hudi's own reader merged them: the slice of each is kept by filters for all of its values together.

A merged row may have its columns from several versions of it (partial updates, payloads that take what is not NULL):
then keys of several columns say nothing of its slice, and keys of one column do.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator.language import expression as ex
from evaluator.language.schema import Field
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind
from index_store import Table, open_table
from index_store.own.secondary.operations import create
from index_store.own.store.locations import folder_of
from index_store.table.merge_rule import merges_whole_records
from tests.handler.spark.true_rows import true_rows, unpack
from tests.index_store.own.secondary.answers import by, local
from tests.index_store.own.secondary.test_kind import answered
from tests.sampling import share

SPARK = Semantics.named("spark", "UTC")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
#: MERGE_ON_READ tables of each way in which versions of a row become one, and some that are only copied.
TABLES = (
    "format_1.2.0_pay_partial_mor",
    "format_1.2.0_pay_nondefault_mor",
    "format_1.2.0_pay_postgres_mor",
    "format_0.15.0_pay_partial_mor",
    "format_1.2.0_order_commit_mor",
    "merging_1.2.0_partial",
    "merging_1.2.0_pay_PartialUpdateAvroPayload",
    "merging_1.2.0_types",
    "merging_0.15.0_types",
    "merging_1.2.0_delmark",
    "merging_1.2.0_ord_two",
    "merging_1.2.0_parquet_log",
    "merging_1.0.2_widen",
    "1.1.1_main_mor",
)


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


def value_form(value: Any) -> Any:
    """As the evaluator has dates and moments."""
    if isinstance(value, datetime.datetime):
        moment = value.replace(tzinfo=value.tzinfo or datetime.timezone.utc)
        return (moment - EPOCH) // datetime.timedelta(microseconds=1)
    return (value - EPOCH.date()).days if isinstance(value, datetime.date) else value


def is_it(column: Field, value: Any) -> ex.HudiExpression:
    here = ex.Column((column.name,))
    return ex.IsNull(here) if value is None else ex.Compare("=", here, ex.Literal(value_form(value), column.type))


def indexed_columns(table: Table) -> list[Field]:
    """Those of which a value is equal to itself under every engine, without the key and the partition."""
    keys = {*table.partition_fields, *table.properties.get("hoodie.table.recordkey.fields", "").split(",")}
    return [
        one
        for one in table.schema
        if not one.name.startswith("_hoodie")
        and one.name not in keys
        and "." not in one.name
        and one.type.kind not in (Kind.OTHER, Kind.FLOAT, Kind.DOUBLE, Kind.BINARY)
    ]


@pytest.mark.parametrize("name", share(TABLES, 20))
def test_no_merged_row_is_lost_to_its_own_values(name: str, tmp_path: Path) -> None:
    folder = unpack(name, tmp_path / "t")
    table = open_table(folder)
    columns = indexed_columns(table)
    assert len(columns) >= 2
    names = [one.name for one in columns]
    create(folder_of(table, "all"), table, by(*names), local)
    create(folder_of(table, "back"), table, by(*reversed(names)), local)
    rows = true_rows(name, "snapshot").to_pylist()
    slices = list(table.slices())
    skipped = matched = 0
    for row in rows[:: max(1, len(rows) // 12)]:
        group = row["_hoodie_file_name"].lstrip(".").split("_")[0]
        [place] = [
            place
            for place, one in enumerate(slices)
            if (one.partition, one.file_id) == (row["_hoodie_partition_path"], group)
        ]
        for some in (columns, columns[-2:], columns[:2], columns[:1]):
            found = answered(table, ex.And(tuple(is_it(one, row[one.name]) for one in some)), SPARK)
            assert found.keep[place], (row, [one.name for one in some])
            skipped += len(slices) - len(found.kept_rows)
            matched += len(found.matches)
    assert skipped > 0 or len(slices) == 1
    assert matched > 0 or not merges_whole_records(table.properties)
