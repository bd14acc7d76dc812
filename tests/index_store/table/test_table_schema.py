"""Columns from Avro and Arrow, merge rules, and what a footer proves.

Pitfalls P1 and P2 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyarrow import parquet

from evaluator.language.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    Kind,
    decimal_type,
)
from index_store import TableError, open_table
from index_store.formats.parquet_footers import FooterProofs, Footers, Proof, _of_row_groups
from index_store.storage.errors import FormatError
from index_store.storage.storage import Storage
from index_store.table.merge_rule import merges_to_stored_values
from index_store.table.table_schema import from_arrow, from_avro
from tests.index_store.format_tables import unpack_format_table


def avro(*fields):
    return from_avro(
        json.dumps({"type": "record", "name": "r", "fields": [{"name": name, "type": kind} for name, kind in fields]})
    )


@pytest.mark.parametrize(
    ("schema", "kind", "unit"),
    [
        ("int", INT, None),
        ("long", BIGINT, None),
        ({"type": "string", "avro.java.string": "String"}, STRING, None),
        ({"type": "int", "logicalType": "date"}, DATE, None),
        ({"type": "long", "logicalType": "timestamp-millis"}, TIMESTAMP_LTZ, "millis"),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, TIMESTAMP, "micros"),
        (
            {"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2},
            decimal_type(10, 2),
            None,
        ),
        ({"type": "bytes", "logicalType": "decimal", "precision": 5}, decimal_type(5, 0), None),
        ({"type": "fixed", "name": "f", "size": 5}, BINARY, None),
        ({"type": "string", "logicalType": "uuid"}, STRING, None),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, STRING, None),
    ],
)
def test_avro_types(schema, kind, unit):
    found = avro(("c", ["null", schema]), ("d", schema if isinstance(schema, str) else "int"))
    field = found.schema.resolve("c")
    assert (field.type, field.nullable) == (kind, True)
    assert found.schema.resolve("d").nullable  # NOT NULL is the last writer's promise, not that of every file
    assert found.units == ({"c": unit} if unit else {})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "long", "logicalType": "time-micros"},
        {"type": "array", "items": "int"},
        {"type": "map", "values": "int"},
        ["null", "int", "string"],
    ],
)
def test_types_that_are_never_compared(schema):
    assert avro(("c", schema)).schema.resolve("c").type.kind is Kind.OTHER


def test_fields_of_a_record_stand_beside_it_and_all_are_nullable():
    inner = {
        "type": "record",
        "name": "s",
        "fields": [
            {"name": "x", "type": "int"},
            {"name": "t", "type": {"type": "record", "name": "u", "fields": [{"name": "y", "type": "double"}]}},
        ],
    }
    found = avro(("st", ["null", inner]), ("again", "s")).schema
    assert [field.name for field in found] == [
        "st",
        "st.x",
        "st.t",
        "st.t.y",
        "again",
        "again.x",
        "again.t",
        "again.t.y",
    ]
    assert all(field.nullable for field in found)
    assert found.resolve("st.t.y").type == DOUBLE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"type": "int"}',
        '{"type": "record", "name": "r"}',
        '{"type": "record", "name": "r", "fields": [{"name": "c"}]}',
    ],
)
def test_schemas_that_are_none(text):
    with pytest.raises(FormatError):
        from_avro(text)


def test_arrow_types():
    found = from_arrow(
        pa.schema(
            [
                ("a", pa.int32()),
                ("b", pa.timestamp("ms", "UTC")),
                ("c", pa.timestamp("us")),
                ("d", pa.decimal128(9, 3)),
                ("e", pa.struct([("x", pa.string())])),
                ("f", pa.list_(pa.int32())),
                ("g", pa.date32()),
            ]
        )
    )
    types = {field.name: field.type for field in found.schema}
    assert (types["a"], types["b"], types["c"], types["d"]) == (INT, TIMESTAMP_LTZ, TIMESTAMP, decimal_type(9, 3))
    assert (types["e.x"], types["f"].kind, types["g"]) == (STRING, Kind.OTHER, DATE)
    assert found.units == {"b": "millis", "c": "micros"}


def test_a_schema_comes_from_a_footer_when_no_commit_tells_one(hudi_copy):
    path = hudi_copy("1.1.1_nested_cow")
    expected = {field.name: field.type for field in open_table(path).schema if field.name != "st"}
    for commit in (path / ".hoodie/timeline").glob("*_*.commit"):
        commit.write_bytes(b"")
    table = open_table(path)
    assert {field.name: field.type for field in table.schema if field.name != "st"} == expected
    for one in table.slices():
        (path / one.base_file).write_bytes(b"no parquet")
    with pytest.raises(TableError, match="no Parquet footer"):
        _ = open_table(path).schema


@pytest.mark.parametrize(
    ("operation", "columns"),
    [
        ("UPSERT", {"id"}),
        ("ALTER_SCHEMA", {"id"}),
        ("INSERT_OVERWRITE", {"id"}),
        (None, {"id"}),
        ("CLUSTER", {"id", "i"}),
        ("COMPACT", {"id", "i"}),
        ("LOG_COMPACT", {"id", "i"}),
        ("INDEX", {"id", "i"}),
    ],
)
def test_a_table_service_does_not_set_the_schema(tmp_path, operation, columns):
    table = unpack_format_table("0.15.0_failed_mor", tmp_path / "t")
    old = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}
    commit = {"partitionToWriteStats": {}, "operationType": operation, "extraMetadata": {"schema": json.dumps(old)}}
    (table / ".hoodie/30000101000000000.commit").write_text(json.dumps(commit))
    found = open_table(table)
    assert found.timeline.last.requested == "30000101000000000"
    assert {field.name for field in found.schema} & {"id", "i"} == columns


def test_the_schema_of_a_table_service_serves_where_no_other_commit_has_one(tmp_path):
    table = unpack_format_table("0.15.0_failed_mor", tmp_path / "t")
    for path in (table / ".hoodie").glob("2*.deltacommit"):
        commit = json.loads(path.read_text())
        path.write_text(json.dumps(commit | {"operationType": "COMPACT"}))
    assert open_table(table).schema.resolve("i").type == INT


def test_partition_columns_that_the_files_lack_have_the_type_of_the_created_table(hudi_copy):
    path = hudi_copy("1.1.1_nested_cow")
    properties = path / ".hoodie" / "hoodie.properties"
    text = properties.read_text().replace("hoodie.table.partition.fields=p", "hoodie.table.partition.fields=day,zone")
    day = {"name": "day", "type": {"type": "int", "logicalType": "date"}}
    created = {"type": "record", "name": "r", "fields": [day]}
    properties.write_text(f"{text}\nhoodie.table.create.schema={json.dumps(created)}\n")
    schema = open_table(path).schema
    assert schema.resolve("day").type == DATE
    assert schema.resolve("zone").type.kind is Kind.OTHER  # of unknown type: never compared


MODEL = "org.apache.hudi.common.model"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, True),
        ({"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}, True),
        ({"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}, True),
        ({"hoodie.record.merge.mode": "CUSTOM"}, False),
        ({"hoodie.compaction.payload.class": f"{MODEL}.PartialUpdateAvroPayload"}, True),
        ({"hoodie.compaction.payload.class": "com.example.Sum"}, False),
        (
            {"hoodie.record.merge.mode": "EVENT_TIME_ORDERING", "hoodie.compaction.payload.class": "com.example.Sum"},
            False,
        ),
        (
            {
                "hoodie.record.merge.mode": "CUSTOM",
                "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
                "hoodie.compaction.payload.class": f"{MODEL}.OverwriteNonDefaultsWithLatestAvroPayload",
            },
            True,
        ),
        (
            {
                "hoodie.record.merge.mode": "CUSTOM",
                "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
            },
            False,
        ),
        (
            {
                "hoodie.record.merge.mode": "CUSTOM",
                "hoodie.record.merge.strategy.id": "12345678-0000-0000-0000-000000000000",
                "hoodie.compaction.payload.class": f"{MODEL}.DefaultHoodieRecordPayload",
            },
            False,
        ),
        ({"hoodie.compaction.record.merger.strategy": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"}, True),
        ({"hoodie.record.merge.strategy.id": "1897ef5f-18bc-4557-939c-9d6a8afd1519"}, False),
        ({"hoodie.record.merge.mode": "BY_MOOD"}, False),
        (
            {"hoodie.record.merge.mode": "EVENT_TIME_ORDERING", "hoodie.table.legacy.payload.class": "example.Sum"},
            False,
        ),
        (
            {
                "hoodie.compaction.payload.class": f"{MODEL}.DefaultHoodieRecordPayload",
                "hoodie.table.legacy.payload.class": "com.example.Sum",
            },
            False,
        ),
        (
            {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING", "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"},
            True,
        ),
        (
            {
                "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
                "hoodie.table.partial.update.mode": "FILL_UNAVAILABLE",
                "hoodie.table.legacy.payload.class": f"{MODEL}.debezium.PostgresDebeziumAvroPayload",
            },
            True,
        ),
        ({"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING", "hoodie.table.partial.update.mode": "ADD_UP"}, False),
        (
            {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING", "hoodie.table.partial.update.mode": "FILL_DEFAULTS"},
            False,
        ),
    ],
)
def test_merge_rules_that_only_pick_stored_values(properties, expected):
    assert merges_to_stored_values(properties) is expected


@pytest.mark.parametrize(
    "name",
    [
        f"{MODEL}.OverwriteWithLatestAvroPayload",
        f"{MODEL}.DefaultHoodieRecordPayload",
        f"{MODEL}.EventTimeAvroPayload",
        f"{MODEL}.PartialUpdateAvroPayload",
        f"{MODEL}.OverwriteNonDefaultsWithLatestAvroPayload",
        f"{MODEL}.FirstValueAvroPayload",
        f"{MODEL}.AWSDmsAvroPayload",
        "org.apache.hudi.payload.AWSDmsAvroPayload",
        f"{MODEL}.debezium.MySqlDebeziumAvroPayload",
        f"{MODEL}.debezium.PostgresDebeziumAvroPayload",
    ],
)
def test_payloads_of_hudi_pick_stored_values_and_others_of_the_same_name_do_not_count(name):
    assert merges_to_stored_values({"hoodie.compaction.payload.class": name})
    assert not merges_to_stored_values({"hoodie.compaction.payload.class": name + "2"})
    assert not merges_to_stored_values({"hoodie.compaction.payload.class": f"example.{name.rpartition('.')[2]}"})


def group(lo=None, hi=None, nulls=0, values=100, counted=True):
    return SimpleNamespace(
        num_values=values,
        statistics=SimpleNamespace(
            has_min_max=lo is not None, min=lo, max=hi, has_null_count=counted, null_count=nulls
        ),
    )


NAN = float("nan")


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        pytest.param([group(1.0, 2.0)], Proof(bounded=True), id="one row group"),
        pytest.param([group(1.0, 2.0), group(nulls=100)], Proof(bounded=True), id="one is all null"),
        pytest.param([group(nulls=100), group(nulls=100)], Proof(all_null=True), id="nothing but nulls"),
        pytest.param([group(1.0, 2.0), group()], Proof(), id="P2: one without bounds"),
        pytest.param([group(1.0, 2.0), group(1.0, NAN)], Proof(), id="P1: one with a NaN"),
        pytest.param([group(NAN, NAN)], Proof(), id="P1: nothing but NaN"),
        pytest.param([group(nulls=100, counted=False)], Proof(), id="null count not written"),
        pytest.param([SimpleNamespace(num_values=5, statistics=None)], Proof(), id="no statistics"),
    ],
)
def test_what_row_groups_prove(groups, expected):
    assert _of_row_groups(groups) == expected


def test_footers_of_other_writers_and_missing_ones_prove_nothing(tmp_path, hudi_table):
    parquet.write_table(pa.table({"f": [1.0, 2.0]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"damage")
    proofs = FooterProofs(Footers(Storage.at(tmp_path)))
    for name in ("a.parquet", "b.parquet", "c.parquet", "d.orc"):
        assert proofs.proof(name, "f") == Proof()
    real = hudi_table("1.1.1_nested_cow")
    file = open_table(real).slices()[0].base_file
    assert FooterProofs(Footers(Storage.at(real))).proof(file, "st.x") == Proof(bounded=True)
    assert FooterProofs(Footers(Storage.at(real))).proof(file, "nowhere") == Proof()
    assert FooterProofs(Footers(Storage.at(real), limit=0)).proof(file, "st.x") == Proof()
    assert FooterProofs(Footers(Storage.at(real), seconds=0)).proof(file, "st.x") == Proof()
