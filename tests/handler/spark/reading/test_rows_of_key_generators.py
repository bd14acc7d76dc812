"""Partition columns have the values that Hudi 1.x returns, in tables of every key generator."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from evaluator.language.errors import UnsupportedError
from handler.rows.slice_rows import slice_batches
from handler.rows.slice_source import SliceSource
from handler.spark import read
from handler.spark.arrow_schemas import to_arrow_schema
from handler.spark.pruning.schemas import spark_schema
from index_store import open_table
from tests.handler.key_generator_tables import READ, folder_of_release, rows_read
from tests.sampling import share
from tests.tables.key_generators import STORIES

#: Values that Hudi reads from a text of a path in ways that are not known here: the rows are refused.
REFUSED = ("timestamp_both", "timestamp_logical")
CASES = [(written, name) for written, reader, name in READ if reader == "1.2.0"]


def as_text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case datetime.datetime():
            text = value.replace(tzinfo=None).isoformat(" ")
            return text.rstrip("0") if "." in text else text
        case float():
            return str(Decimal(repr(value)).normalize())
        case _:
            return str(value)


def normal(text: str | None, kind: str) -> str | None:
    return str(Decimal(text).normalize()) if text is not None and kind == "double" else text


@pytest.mark.parametrize(("written", "name"), share(CASES, 3))
def test_partition_columns_have_the_values_that_hudi_returns(written, name):
    path = folder_of_release(written) / name
    table, names = open_table(path), ("id", *STORIES[name].names)
    schema = to_arrow_schema(spark_schema(table))
    source = SliceSource.of(table, str(path))
    if name in REFUSED:
        with pytest.raises(UnsupportedError, match="Hudi reads the path instead of the files"):
            [list(slice_batches(source, one, schema, names)) for one in table.slices()]
        return
    found = {
        row["id"]: {column: as_text(row[column]) for column in names[1:]}
        for one in table.slices()
        for batch in slice_batches(source, one, schema, names)
        for row in batch.to_pylist()
    }
    types, rows = rows_read(written, "1.2.0", name)
    expected = {key: {column: normal(text, types[column]) for column, text in row.items()} for key, row in rows.items()}
    assert found == expected


@pytest.mark.parametrize(
    ("name", "condition", "partitions"),
    [
        ("slash_text", "s = '2022/12/31'", ["2022/12/31"]),
        ("slash_text", "s = '2022-12-31'", []),
        ("text_hive", "s = '50 x' OR s IS NULL", ["s=50%20x", "s=__HIVE_DEFAULT_PARTITION__"]),
    ],
)
def test_spark_reads_what_the_path_says(spark, name, condition, partitions):
    path = str(folder_of_release("1.2.0") / name)
    _, rows = rows_read("1.2.0", "1.2.0", name)
    found = {row["id"]: row["s"] for row in read(spark, path, condition).collect()}
    assert found == {
        key: row["s"]
        for key, row in rows.items()
        if (row["s"] or "__HIVE_DEFAULT_PARTITION__")
        in {one.removeprefix("s=").replace("%20", " ") for one in partitions}
    }
