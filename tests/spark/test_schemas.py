"""The columns that Spark is told, against those that Hudi's own Spark reader gives (Hudi 1.2.0, Spark 3.5.5)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handler.spark.schemas import spark_schema
from index_store import open_table
from tests.spark.real_tables import unpack

HUDI = json.loads((Path(__file__).parent / "data" / "hudi_schemas.json").read_text(encoding="utf-8"))


def columns(schema):
    return [[field["name"], field["type"], field["nullable"]] for field in json.loads(schema.json())["fields"]]


@pytest.mark.parametrize("name", HUDI)
def test_every_column_is_what_hudi_gives(name, tmp_path):
    table = open_table(unpack(name, tmp_path / name))
    partitions = table.partition_fields
    expected = [[column, of, nullable or column in partitions] for column, of, nullable in HUDI[name]]
    assert columns(spark_schema(table)) == expected
