"""Avro bytes whose counts, sizes and depths lie: refused before memory is taken, and without a long walk."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import fastavro
import pytest

from index_store.formats.avro_record import RecordReader
from index_store.formats.bounded.avro_schema import check_schema
from index_store.formats.bounded.avro_values import MAX_VALUES, MOST_VALUES, VALUE_BYTES, decode_value
from index_store.formats.bounded.json_text import MAX_COMMIT, MAX_DEPTH
from index_store.storage.errors import FormatError
from tests.index_store.memory import MIB, at_most, refused, varint


def record(*types: Any, name: str = "r") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": f"f{i}", "type": one} for i, one in enumerate(types)]}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def nested(levels: int, kind: Any = "int") -> Any:
    for level in range(levels):
        kind = record(kind, name=f"r{level}")
    return kind


def doubling(levels: int) -> Any:
    """A schema of a few lines whose one value would have 2 ** levels parts."""
    kind = record("null", name="r0")
    for level in range(1, levels):
        kind = record(kind, f"r{level - 1}", name=f"r{level}")
    return kind


EMPTY = {"type": "fixed", "name": "none", "size": 0}


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (array("null"), "null outside of a union"),
        (array(record(name="empty")), "record without fields"),
        (array(EMPTY), "fixed type of 0 bytes"),
        ({"type": "map", "values": "null"}, "null outside of a union"),
        (array(record("null", name="of_null")), "null outside of a union"),
        (doubling(40), "null outside of a union"),
        (record(["null", "r"], name="inner"), "holds itself"),
        ([], "union without branches"),
        ("nowhere", "nowhere"),
        ({"type": "fixed", "name": "f", "size": -1}, "fixed"),
        ({"type": "fixed", "name": "f", "size": "9"}, "fixed"),
        (nested(MAX_DEPTH), f"more than {MAX_DEPTH} levels"),
        (17, "understood"),
        ({"type": {}}, "understood"),
    ],
)
def test_a_schema_whose_values_take_no_bytes_is_refused(kind: Any, why: str) -> None:
    assert why in refused(lambda: RecordReader(record(kind)), FormatError)


@pytest.mark.parametrize("count", [1 << 24, 1 << 31, 1 << 62, -(1 << 24), -(1 << 63)])
@pytest.mark.parametrize("items", ["boolean", "string", ["null", "int"], array("int"), record("int", name="i")])
def test_a_count_beyond_the_bytes_takes_no_memory(items: Any, count: int) -> None:
    size = varint(8) if count < 0 else b""
    for kind in (array(items), {"type": "map", "values": items}):
        refused(lambda kind=kind: RecordReader(record(kind)).read(varint(count) + size + bytes(50)), FormatError)


@pytest.mark.parametrize("length", [-1, -(1 << 62), 1 << 31, 1 << 62])
def test_a_length_beyond_the_bytes_takes_no_memory(length: int) -> None:
    for kind in ("string", "bytes"):
        refused(lambda kind=kind: RecordReader(record(kind)).read(varint(length) + b"text"), FormatError)


@pytest.mark.parametrize(
    ("items", "item"),
    [
        (array("int"), b"\0"),
        (nested(30, "boolean"), b"\0"),
        (record(array("int"), array("int"), name="two"), b"\0\0"),
        (["null", "int"], b"\0"),
        ("boolean", b"\1"),
        ({"type": "map", "values": "int"}, b"\0"),
    ],
)
def test_many_tiny_values_are_refused_by_their_number(items: Any, item: bytes) -> None:
    count = 3 * MAX_VALUES // len(item)
    reader, value = RecordReader(record(array(items))), varint(count) + item * count + b"\0"
    with pytest.raises(FormatError, match="too many values"):
        reader.read(value)


def test_a_value_never_has_more_parts_than_the_largest_commit() -> None:
    """They are counted one by one, and each takes memory, however many bytes there are."""
    head = varint(MOST_VALUES + 1)
    value = head + bytes(VALUE_BYTES * (MOST_VALUES + 1))
    assert len(value) <= MAX_COMMIT
    with pytest.raises(FormatError, match="too many values"):
        decode_value(value, check_schema(array("long")))


def test_blocks_of_items_are_counted_together() -> None:
    reader = RecordReader(record(array(array("int"))))
    value = (varint(1000) + bytes(1000)) * 3000 + b"\0"
    with pytest.raises(FormatError, match="too many values"):
        reader.read(value)


def test_a_large_record_of_real_sizes_is_read() -> None:
    stat = record("string", "long", ["null", "string"], name="stat")
    schema = record({"type": "map", "values": array(stat)})
    stats = [{"f0": f"{i:040x}", "f1": i, "f2": f"partition={i % 100:020}"} for i in range(200_000)]
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), {"f0": {"p": stats}})
    checked = check_schema(schema)
    assert len(out.getvalue()) * checked.shape.density > MAX_VALUES  # so it was walked over
    assert decode_value(out.getvalue(), checked) == {"f0": {"p": stats}}


def test_the_bound_on_values_holds_whatever_the_schema() -> None:
    """Random schemas and bytes: what is decoded has no more values than the bound."""
    dice = random.Random(16)

    def kind(depth: int, name: str) -> Any:
        match dice.randrange(7 if depth else 3):
            case 0 | 1 | 2:
                return dice.choice(["int", "string", "boolean", "double", ["null", "long"]])
            case 3:
                return array(kind(depth - 1, name + "a"))
            case 4:
                return {"type": "map", "values": kind(depth - 1, name + "m")}
            case 5:
                return ["null", record(kind(depth - 1, name + "u"), name=name)]
            case _:
                return record(*(kind(depth - 1, name + str(i)) for i in range(3)), name=name)

    decoded = 0
    for turn in range(300):
        schema = check_schema(record(kind(4, f"n{turn}"), name=f"top{turn}"))
        data = bytes(dice.choices((0, 1, 2, 3, 4, 200), k=dice.randrange(400)))
        try:
            value = decode_value(data, schema, whole=False)
        except FormatError:
            continue
        decoded += 1
        assert count(value) <= len(data) * schema.shape.density + 1
    assert decoded > 30


def count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(count, value.values()))
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


def test_bytes_decide_no_recursion() -> None:
    """fastavro follows a schema that holds itself until the stack ends, and the process with it."""
    node = {"type": "record", "name": "n", "fields": [{"name": "next", "type": ["null", "n"]}]}
    assert "holds itself" in refused(lambda: RecordReader(node), FormatError)
    refused(lambda: RecordReader(json.loads('{"type":"array","items":' * 900 + '"int"' + "}" * 900)), FormatError)
    deep = record(*[_nested_array(40)])
    assert RecordReader(deep).read(b"\2" * 40 + b"\2" + bytes(40))


def _nested_array(levels: int) -> Any:
    return "int" if not levels else array(_nested_array(levels - 1))


def test_values_are_as_they_are_stored() -> None:
    """Logical types cost time without bound: a decimal of a megabyte took minutes."""
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2}
    date = {"type": "int", "logicalType": "date"}
    out = varint(MIB) + b"x" * MIB + varint(-(1 << 31))
    with at_most(16):
        assert RecordReader(record(decimal, date)).read(out) == {"f0": b"x" * MIB, "f1": -(1 << 31)}


def test_the_bound_grows_with_the_bytes() -> None:
    count = 2 * MAX_VALUES
    assert VALUE_BYTES < 9  # bytes of a value in real metadata
    found = RecordReader(record(array("string"))).read(varint(count) + b"\x08text" * count + b"\0")
    assert len(found["f0"]) == count
