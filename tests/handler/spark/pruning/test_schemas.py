"""The columns that Spark is told, against those that Hudi's own Spark reader gives (Hudi 1.2.0, Spark 3.5.5)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql.types import IntegerType, StringType, StructType

from handler.spark.catalyst.analysis import schema_text
from handler.spark.pruning.schemas import spark_schema
from index_store import open_table
from index_store.storage.errors import TableError
from tests.handler.spark.real_tables import unpack

HUDI = json.loads((Path(__file__).parents[1] / "data" / "hudi_schemas.json").read_text(encoding="utf-8"))
#: table@instant -> the data columns and their types, at every instant that changed them
AS_OF = json.loads((Path(__file__).parents[1] / "data" / "hudi_schemas_as_of.json").read_text(encoding="utf-8"))


def columns(schema):
    return [[field["name"], field["type"], field["nullable"]] for field in json.loads(schema.json())["fields"]]


@pytest.mark.parametrize("name", HUDI)
def test_every_column_is_what_hudi_gives(name, tmp_path):
    table = open_table(unpack(name, tmp_path / name))
    partitions = table.partition_fields
    expected = [[column, of, nullable or column in partitions] for column, of, nullable in HUDI[name]]
    assert columns(spark_schema(table)) == expected


@pytest.mark.parametrize("name", dict.fromkeys(key.partition("@")[0] for key in AS_OF))
def test_an_older_instant_has_the_columns_of_its_time(name, tmp_path):
    table = open_table(unpack(name, tmp_path / name))
    for key, expected in AS_OF.items():
        of, _, instant = key.partition("@")
        if of == name:
            found = [column[:2] for column in columns(spark_schema(table, instant))]
            found = [column for column in found if not column[0].startswith("_hoodie")]
            assert (key, found) == (key, expected)


def test_a_schema_that_spark_cannot_have_is_an_error(tmp_path):
    table = open_table(unpack("1.1.1_main_cow", tmp_path / "main"))
    several = '{"type": "record", "fields": [{"name": "a", "type": ["int", "string"]}]}'
    for text in ("[]", several, "{", '{"type": "int"}'):
        table._schema_texts.__dict__["latest"] = text, "a commit"
        with pytest.raises(TableError, match="the table's schema cannot be read"):
            spark_schema(table)


def test_hudis_columns_are_left_out_where_nobody_fills_them(tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "main")
    properties = folder / ".hoodie" / "hoodie.properties"
    text = properties.read_text().replace("hoodie.populate.meta.fields=true", "hoodie.populate.meta.fields=false")
    properties.write_text(text)
    assert not any(name.startswith("_hoodie") for name in spark_schema(open_table(folder)).names)


def test_the_schema_of_a_table_is_made_once(tmp_path):
    """Of a wide table it takes milliseconds, and every plan asks for it."""
    folder = unpack("1.1.1_main_cow", tmp_path / "main")
    first = spark_schema(open_table(folder))
    assert spark_schema(open_table(folder)) is first
    assert schema_text(first) is schema_text(spark_schema(open_table(folder)))
    assert schema_text(first) == first.json()


def test_the_text_of_another_schema_is_made_each_time():
    """Who made it may change it, in its number of columns or in one of them."""
    schema = StructType().add("i", IntegerType())
    assert schema_text(schema) == schema.json()
    assert schema_text(schema.add("s", StringType())) == schema.json()
    schema.fields[0].dataType = StringType()
    assert schema_text(schema) == schema.json()
