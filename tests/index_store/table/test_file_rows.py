"""What is read of a file: the types that writers use, what says nothing, and log files as they are."""

from __future__ import annotations

import datetime
import io
import json
import struct
from decimal import Decimal

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluator.language.types import DOUBLE, FLOAT, decimal_type
from index_store import TableError
from index_store.own.builders.sketching import SketchPlan, sketch_file
from index_store.own.sketches.values import bytes_of, decoded, value_bytes
from index_store.storage.storage import Storage
from index_store.table import file_rows
from index_store.table.file_rows import BYTES_PER_BATCH, read_rows
from index_store.table.file_types import ABSENT

UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2024, 2, 29, 12, 0, 0, 123456, UTC)
MICROS = 1_709_208_000_123_456


def columns_of(tmp_path, table, *names, **options):
    pq.write_table(table, tmp_path / "a.parquet", **options)
    [batch] = read_rows(Storage.at(tmp_path), "a.parquet", names)
    return [batch.columns[name] for name in names]


@pytest.mark.parametrize(("unit", "micros"), [("ms", MICROS // 1000 * 1000), ("us", MICROS), ("ns", MICROS)])
def test_timestamps_of_any_unit_are_read_as_microseconds(tmp_path, unit, micros):
    moments = pa.array([MICROS], pa.int64()).cast(pa.timestamp("us", "UTC")).cast(pa.timestamp(unit, "UTC"), safe=False)
    [found] = columns_of(tmp_path, pa.table({"t": moments}), "t", version="2.6")
    assert found.type.text.startswith("timestamp with local time zone@")
    assert found.type.unit == {"ms": "millis", "us": "micros", "ns": "nanos"}[unit]
    assert found.values.to_pylist() == [micros]


def test_nanoseconds_are_bounded_outward_and_in_no_list(tmp_path):
    pq.write_table(pa.table({"t": pa.array([1, 1999], pa.timestamp("ns"))}), tmp_path / "a.parquet", version="2.6")
    row = sketch_file(
        Storage.at(tmp_path), "a.parquet", SketchPlan.of([("t", "min_max"), ("t", "value_list"), ("t", "bloom_filter")])
    )
    assert [int.from_bytes(row[f"t:min_max:{end}"], "little") for end in ("lo", "hi")] == [0, 2]
    assert row["t:value_list:values"] is row["t:bloom_filter:bits"] is None


@pytest.mark.parametrize("footers", [True, False])
def test_int96_says_nothing(tmp_path, footers):
    table = pa.table({"t": pa.array([MOMENT], pa.timestamp("us", "UTC")), "i": [1]})
    pq.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    plan = SketchPlan.of([("t", "min_max"), *([] if footers else [("t", "value_list")])])
    row = sketch_file(Storage.at(tmp_path), "a.parquet", plan)
    assert (row["t:type"], row["t:nulls"], row["t:min_max:lo"]) == ("!INT96 timestamps", -1, None)


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (pa.array([1], pa.uint32()), "!type uint32"),
        (pa.array([[1]], pa.list_(pa.int64())), "!type list<element: int64>"),
        (pa.array([datetime.time(1)], pa.time64("us")), "!type time64[us]"),
    ],
)
def test_types_that_nobody_compares_say_nothing(tmp_path, array, why):
    [found] = columns_of(tmp_path, pa.table({"x": array}), "x")
    assert (found.type.text, found.values) == (why, None)


def test_text_that_is_not_utf8_says_nothing(tmp_path):
    text = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"], pa.binary()).buffers())
    [found] = columns_of(tmp_path, pa.table({"x": text}), "x")
    assert found.values is None
    assert found.type.why.startswith("values that are none of string")


def test_a_column_of_other_letters_is_not_an_absent_one(tmp_path):
    found = columns_of(tmp_path, pa.table({"City": ["oslo"]}), "city", "town", "City")
    assert [one.type.text for one in found] == ["!the column has a name of other letters", ABSENT.text, "string"]


def test_nested_fields_are_null_where_their_parent_is(tmp_path):
    table = pa.table({"st": pa.array([{"x": 5}, None, {"x": None}], pa.struct([("x", pa.int32())]))})
    [found] = columns_of(tmp_path, table, "st.x")
    assert (found.type.text, found.values.to_pylist()) == ("int", [5, None, None])


@pytest.mark.parametrize(
    ("of", "values"),
    [
        (decimal_type(10, 2), [Decimal("-99999999.99"), Decimal("0.01"), None]),
        (decimal_type(38, 10), [Decimal("-1234567890123456789012345678.0123456789"), Decimal("9e27")]),
    ],
)
def test_decimals_are_their_unscaled_integers(tmp_path, of, values):
    array = pa.array(values, pa.decimal128(of.precision, of.scale))
    [found] = columns_of(tmp_path, pa.table({"d": array[1:]}), "d")
    unscaled = [None if one is None else int(one.scaleb(of.scale)) for one in values[1:]]
    assert [None if one is None else int(one) for one in found.values.to_pylist()] == unscaled
    present = found.values.drop_null()
    assert bytes_of(present).to_pylist() == [value_bytes(one, of) for one in unscaled if one is not None]
    assert list(decoded(bytes_of(present), of)) == [one for one in unscaled if one is not None]


def test_the_two_zeros_are_one_value(tmp_path):
    [found] = columns_of(tmp_path, pa.table({"d": [-0.0, 0.0]}), "d")
    assert {value_bytes(one, DOUBLE) for one in found.values.to_pylist()} == {value_bytes(-0.0, FLOAT)}


def test_a_footer_gives_what_the_rows_give(tmp_path):
    table = pa.table(
        {
            "i": pa.array([3, None, 9]),
            "s": ["b", "x" * 200, None],
            "dec": pa.array([Decimal("1.25"), None, Decimal("-7.00")], pa.decimal128(10, 2)),
            "day": pa.array([1, 2, None], pa.date32()),
            "t": pa.array([5, 6, None], pa.timestamp("ms", "UTC")),
            "b": [True, None, False],
            "none": pa.array([None] * 3, pa.int32()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    storage, names = Storage.at(tmp_path), table.column_names
    by_footer = sketch_file(storage, "a.parquet", SketchPlan.of([(name, "min_max") for name in names]))
    by_rows = sketch_file(
        storage,
        "a.parquet",
        SketchPlan.of([entry for name in names for entry in ((name, "min_max"), (name, "value_list"))]),
    )
    assert by_footer == {name: by_rows[name] for name in by_footer}
    assert by_footer["s:min_max:hi"] == b"x" * 99 + b"y"


SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "id", "type": ["null", "string"]},
            {"name": "d", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}]},
        ],
    }
)


def block(kind, header, content):
    """A block of a log file, as ``HoodieLogFormatWriter`` lays it out."""

    def texts(found):
        return struct.pack(">i", len(found)) + b"".join(
            struct.pack(">ii", key, len(text)) + text.encode() for key, text in found.items()
        )

    body = (
        struct.pack(">ii", 1, kind)
        + texts(header)
        + struct.pack(">q", len(content))
        + content
        + texts({})
        + struct.pack(">q", 0)
    )
    end = struct.pack(">q", len(body) + 6)
    return b"#HUDI#" + struct.pack(">q", len(body)) + body[:-8] + end


def records(*values):
    """An Avro data block's content."""
    found = [struct.pack(">ii", 3, len(values))]
    for value in values:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, fastavro.parse_schema(json.loads(SCHEMA)), value)
        found.append(struct.pack(">i", len(stream.getvalue())) + stream.getvalue())
    return b"".join(found)


def log_rows(tmp_path, *blocks, names=("id", "d")):
    (tmp_path / ".a_1.log.1_0-1-0").write_bytes(b"".join(blocks))
    return list(read_rows(Storage.at(tmp_path), ".a_1.log.1_0-1-0", names))


def test_a_log_file_tells_the_records_of_its_blocks(tmp_path):
    """Deletions and rolled-back blocks take rows away: what is told holds for fewer rows too."""
    header = {0: "2026", 2: SCHEMA}
    first = block(3, header, records({"id": "a", "d": Decimal("-1.50")}, {"id": None, "d": None}))
    rollback = block(0, {0: "2027", 1: "2026", 3: "0"}, b"")
    found = log_rows(tmp_path, first, rollback, block(3, header, records({"id": "b", "d": Decimal("9.99")})))
    assert [batch.rows for batch in found] == [2, 1]
    assert [batch.columns["id"].values.to_pylist() for batch in found] == [[b"a", None], [b"b"]]
    assert [batch.columns["d"].values.to_pylist() for batch in found] == [[-150, None], [999]]
    assert found[0].columns["d"].type.text == "decimal(6,2)"


def test_partial_updates_and_blocks_without_the_column_say_nothing(tmp_path):
    content = records({"id": "a", "d": None})
    [partial] = log_rows(tmp_path, block(3, {0: "2026", 2: SCHEMA, 7: "true"}, content))
    assert partial.columns["id"].type.why == "partial updates"
    [whole] = log_rows(tmp_path, block(3, {0: "2026", 2: SCHEMA, 7: "false"}, content), names=("id", "x"))
    assert [one.type.why for one in whole.columns.values()] == ["", "a log block without the column"]


def test_a_damaged_file_is_an_error_that_names_it(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no")
    (tmp_path / ".a_1.log.1_0-1-0").write_bytes(b"#HUDI# no")
    for name in ("a.parquet", ".a_1.log.1_0-1-0"):
        with pytest.raises(TableError, match=name.replace(".", r"\.")):
            list(read_rows(Storage.at(tmp_path), name, ["x"]))


def test_a_text_that_a_dictionary_repeats_is_not_repeated_in_memory(tmp_path):
    """A file of a megabyte became a batch of 40 GiB: 40,000 rows with one text of a megabyte."""
    texts = pa.array(["x" * (1 << 20), "y"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0] * 10_000, pa.int32()), texts)
    table = pa.table({"s": column, "i": range(40_000)})
    pq.write_table(table, tmp_path / "a.parquet", dictionary_pagesize_limit=1 << 22, store_schema=False)
    assert (tmp_path / "a.parquet").stat().st_size < 1 << 20
    before, rows = pa.total_allocated_bytes(), 0
    for batch in read_rows(Storage.at(tmp_path), "a.parquet", ["s", "i"]):
        assert pa.total_allocated_bytes() - before < 4 * BYTES_PER_BATCH
        values = batch.columns["s"].values
        assert len(values) == batch.rows == len(batch.columns["i"].values)
        assert batch.columns["i"].values[0].as_py() == rows
        rows += batch.rows
        if rows > 1000:
            break
    assert 1000 < rows < 2000


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
@pytest.mark.parametrize("dictionary", [True, False])
def test_pieces_of_a_batch_hold_all_of_its_rows(tmp_path, monkeypatch, kind, dictionary):
    monkeypatch.setattr(file_rows, "BYTES_PER_BATCH", 1000)
    texts = [None if i % 7 == 0 else f"t{i % 5}" * (i % 90) for i in range(3000)]
    plain = pa.table({"s": pa.array(texts).cast(kind), "i": range(3000)})
    pq.write_table(plain, tmp_path / "a.parquet", use_dictionary=dictionary, row_group_size=700)
    batches = list(read_rows(Storage.at(tmp_path), "a.parquet", ["s", "i"]))
    found = [value for batch in batches for value in batch.columns["s"].values.to_pylist()]
    assert found == [None if text is None else text.encode() for text in texts]
    assert [value for batch in batches for value in batch.columns["i"].values.to_pylist()] == list(range(3000))
    assert len(batches) > 50
