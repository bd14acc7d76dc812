"""Values in the files of slices with log files: every kind of block, what is unknown, limits, and what is read."""

from __future__ import annotations

import io
import json
import shutil
import struct
from datetime import date, timedelta
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from pyarrow import parquet

from evaluator.language.epoch import DAY, REBASED_DAYS
from evaluator.language.schema import Field
from evaluator.language.types import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP_LTZ, Kind, Type
from evaluator.statistics.distrust import ANCIENT_DAY, ANCIENT_MICROS
from index_store import TableError, open_table
from index_store.kinds.record_keys.stored_values import Held, StoredValues
from tests.index_store.recording_store import RecordingStore
from tests.index_store.synthetic import delete_content
from tests.index_store.table.test_file_rows import block

S, N, DT, T = Field("s", STRING), Field("i", INT), Field("dt", DATE), Field("t", TIMESTAMP_LTZ)
KEY = Field("_hoodie_record_key", STRING)
NAME = ".f0-0_20260101000000000.log.1_0-1-0"
BASE = "f0-0_0-1-1_20250101000000000.parquet"
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
TYPES = {KEY.name: "string", "s": "string", "i": "int", "dt": {"type": "int", "logicalType": "date"}, "t": MICROS}


def avro(*rows, types=TYPES, partial="false", kind=3):
    """A block of records that have the columns of the first one."""
    fields = [{"name": name, "type": ["null", types[name]], "default": None} for name in rows[0]]
    schema = {"type": "record", "name": "r", "fields": fields}
    content = struct.pack(">ii", 3, len(rows))
    for row in rows:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), row)
        content += struct.pack(">i", len(out.getvalue())) + out.getvalue()
    return block(kind, {0: "20260101000000000", 2: json.dumps(schema), 7: partial}, content)


def parquet_bytes(columns):
    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def plain(kind, content=b""):
    header = {0: "20260101000000000"} | ({1: "20250101000000000", 3: "0"} if kind == 0 else {})
    return block(kind, header, content)


@pytest.fixture(scope="module")
def path(hudi_table, tmp_path_factory):
    """A copy of a table with the columns s, i, dt and t."""
    return shutil.copytree(hudi_table("1.1.1_sec_mor"), tmp_path_factory.mktemp("values") / "table")


@pytest.fixture
def table(path):
    """The table, with room for files of the test's own."""
    before = set(path.iterdir())
    yield open_table(path)
    for file in set(path.iterdir()) - before:
        file.unlink()


def written(table, *blocks, base=None):
    with open(f"{table.path}/{NAME}", "wb") as log:
        log.write(b"".join(blocks))
    if base is not None:
        with open(f"{table.path}/{BASE}", "wb") as file:
            file.write(base)
    return {0: [BASE, NAME] if base is not None else [NAME]}


#: The first values that no reader takes for others.
LEAST_DAY = ANCIENT_DAY + REBASED_DAYS
LEAST_MICROS = ANCIENT_MICROS + REBASED_DAYS * DAY
EPOCH = date(1970, 1, 1)
ROW = {KEY.name: "k1", "s": "x$y", "i": 7}


@pytest.mark.parametrize(
    ("blocks", "column", "held", "other"),
    [
        ([avro(ROW)], S, "x$y", "x"),
        ([avro(ROW), avro({**ROW, "s": "later"})], S, "x$y", "y"),
        ([avro(ROW), avro({**ROW, "s": "later"})], S, "later", "y"),
        ([avro({"dt": date(2020, 1, 2)})], DT, 18263, 18264),
        ([avro({"t": 1_600_000_000_000_001})], T, 1_600_000_000_000_001, 1_600_000_000_000_000),
        ([plain(5, parquet_bytes({"s": ["p", None]}))], S, "p", "x"),
        ([avro({"i": 9, KEY.name: "k1"}, partial="true")], N, 9, 8),
        ([avro(ROW), plain(1, delete_content(["k1"]))], S, "x$y", "k1"),
        ([avro(ROW), plain(0)], S, "x$y", "x"),
        ([avro(ROW), plain(6, b"anything")], S, "x$y", "x"),
        ([avro(ROW, types={**TYPES, "i": "long"})], Field("i", BIGINT), 7, 8),
        ([avro(ROW)], Field("i", BIGINT), 7, 8),
        ([avro({**ROW, "i": -(1 << 31)})], N, -(1 << 31), -1),
        ([avro({"dt": EPOCH + timedelta(LEAST_DAY)})], DT, LEAST_DAY, LEAST_DAY + 1),
        ([avro({"t": LEAST_MICROS})], T, LEAST_MICROS, LEAST_MICROS + 1),
        ([avro(ROW)], KEY, "k1", "k2"),
    ],
    ids=[
        "avro",
        "stale",
        "update",
        "date",
        "timestamp",
        "parquet",
        "partial",
        "deleted",
        "rolled back",
        "changes",
        "long",
        "widened",
        "negative",
        "least date",
        "least timestamp",
        "key",
    ],
)
def test_a_value_of_any_block_is_held_and_no_other(table, blocks, column, held, other):
    values = StoredValues(table)
    files = written(table, *blocks)
    assert values.look_up(column, [held], files) == Held(frozenset({0}))
    assert values.look_up(column, [other], files) == Held(frozenset())
    assert values.look_up(column, [other, held], files).slices == {0}


@pytest.mark.parametrize(
    "block",
    [
        plain(1, delete_content(["x$y"])),
        plain(0),
        avro({KEY.name: "x$y", "i": 1}),
        avro({KEY.name: "x$y", "i": 1}, partial="true"),
        avro({**ROW, "s": None}),
    ],
    ids=["deletions", "rollback", "without the column", "partial update of another column", "null"],
)
def test_what_has_no_value_of_the_column_adds_none(table, block):
    files = written(table, block, base=parquet_bytes({"s": ["old", None]}))
    assert StoredValues(table).look_up(S, ["old"], files).slices == {0}
    assert not StoredValues(table).look_up(S, ["x$y"], files).slices


@pytest.mark.parametrize(
    ("block", "column", "why"),
    [
        (plain(4, b"hfile"), S, "block of type 4"),
        (plain(2), S, "corrupt"),
        (avro(ROW, types={**TYPES, "i": "long"}), N, "of type bigint"),
        (avro({"i": "7"}, types={"i": "string"}), N, "string"),
        (avro({"t": 5}, types={"t": {"type": "long", "logicalType": "timestamp-millis"}}), T, "millis"),
        (avro({"t": 5}, types={"t": {"type": "long", "logicalType": "local-timestamp-micros"}}), T, "of type"),
        (avro({"S": "a"}, types={"S": "string"}), S, "other letters"),
        (avro(ROW)[:-9], S, "log block"),
        (b"", S, "empty"),
        (plain(5, b"PAR1 no"), S, "Parquet"),
        (avro({"i": 1}), KEY, "not there"),
        (avro({KEY.name: None}), KEY, "without a record key"),
    ],
)
def test_a_file_whose_values_a_reader_may_see_otherwise_is_unknown(table, block, column, why):
    files = written(table, avro(ROW), block) if block else written(table, block)
    found = StoredValues(table).look_up(column, ["none"] if column in (S, KEY) else [10**15], files)
    assert found.slices == {0}
    assert why in found.why
    assert NAME in found.why


@pytest.mark.parametrize(
    ("base", "why"),
    [
        (parquet_bytes({"s": [b"\xff"]}), "s"),
        (parquet_bytes({"s": [1]}), "of type bigint"),
        (parquet_bytes({"S": ["a"]}), "other letters"),
    ],
    ids=["no UTF-8", "number", "other letters"],
)
def test_a_base_file_of_other_values_is_unknown(table, base, why):
    found = StoredValues(table).look_up(S, ["none"], written(table, avro(ROW), base=base))
    assert found.slices == {0}
    assert why in found.why


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (Field("t", Type(Kind.CHAR, 4)), "none"),
        (Field("d", DOUBLE), 1.5),
        (Field("s", STRING), 5),
        (Field("i", INT), "5"),
        (Field("i", INT), True),
        (Field("i", BIGINT), 2**70),
        (DT, LEAST_DAY - 1),
        (T, LEAST_MICROS - 1),
        (Field("_hoodie_commit_time", STRING), "none"),
        (S, "\ud800"),
    ],
)
def test_what_has_no_certain_form_is_held_everywhere(table, column, value):
    found = StoredValues(table).look_up(column, [value], written(table, avro(ROW)))
    assert found.slices == {0}
    assert found.why


def test_a_column_that_readers_fill_is_held_where_a_block_lacks_it(table, monkeypatch):
    """Its default would be a value that no file holds."""
    files = written(table, avro({KEY.name: "k1", "i": 1}))
    assert not StoredValues(table).look_up(S, ["default"], files).slices
    monkeypatch.setattr("index_store.kinds.record_keys.stored_values.reads_as_null", lambda *_: False)
    assert StoredValues(table).look_up(S, ["default"], files).slices == {0}


@pytest.mark.parametrize("names", [[(0, "old"), (0, "s")], [(0, "s"), (1, "s")]], ids=["renamed", "two columns"])
def test_a_name_that_meant_another_column_is_held_everywhere(hudi_copy, names):
    path = hudi_copy("1.1.1_sec_mor")
    folder = path / ".hoodie" / ".schema"
    folder.mkdir(exist_ok=True)
    schemas = [
        {"max_column_id": 1, "version_id": n, "type": "record", "fields": [{"id": i, "name": name, "type": "string"}]}
        for n, (i, name) in enumerate(names)
    ]
    (folder / "20990101000000000.schemacommit").write_text(json.dumps({"schemas": schemas}))
    again = open_table(path)
    assert StoredValues(again).look_up(S, ["none"], written(again, avro(ROW))).slices == {0}


def test_an_empty_base_file_is_unknown(table):
    files = written(table, avro(ROW), base=parquet_bytes({"s": pa.array([], pa.string())}))
    assert StoredValues(table).look_up(S, ["none"], files).slices == {0}


def test_of_several_unknown_files_the_first_is_a_reason(table):
    written(table, plain(4, b"hfile"))
    (Path(table.path) / f"{NAME}9").write_bytes(b"")
    found = StoredValues(table).look_up(S, ["none"], {0: [NAME], 1: [f"{NAME}9"]})
    assert found.slices == {0, 1}
    assert NAME in found.why
    assert f"{NAME}9" not in found.why


def test_without_a_file_there_is_no_reason(table):
    assert StoredValues(table).look_up(S, [5], {}) == Held(frozenset())


def test_a_file_that_is_gone_is_an_error(table):
    with pytest.raises(TableError):
        StoredValues(table).look_up(S, ["none"], {0: [".gone-0_1.log.1_0-1-0"]})


def test_each_file_is_read_once_and_no_base_file_of_a_slice_that_is_kept_anyway(hudi_copy):
    path = hudi_copy("1.1.1_sec_mor")
    store = RecordingStore()
    table = open_table(str(path), filesystem=store.filesystem)
    files = written(open_table(path), avro(ROW), base=parquet_bytes({"s": ["old"]}))
    values = StoredValues(table)

    def read():
        return {call.path.rpartition("/")[2] for call in store.of("read") + store.of("open")}

    store.calls.clear()
    assert values.look_up(S, ["x$y"], files).slices == {0}
    assert NAME in read()
    assert BASE not in read()
    assert not values.look_up(S, ["none"], files).slices
    assert BASE in read()
    store.calls.clear()
    assert values.look_up(S, ["old"], files).slices == {0}
    assert not store.calls
    assert values.look_up(S, ["none"], {}).slices == frozenset()
