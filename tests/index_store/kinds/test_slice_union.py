"""From records to slices: which statistics are believed, and how the files of a slice are united.

Pitfalls P1 to P20 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    Type,
    decimal_type,
)
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from index_store.formats.avro_columns import StatsRecord
from index_store.formats.parquet_footers import Proof
from index_store.kinds.column_stats.file_rules import FileStatistics, believe
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite
from index_store.table.file_slices import FileSlice, FileSlices
from tests.sampling import examples

WRAPPERS = {
    INT: ("IntWrapper", 3),
    BIGINT: ("LongWrapper", 4),
    DOUBLE: ("DoubleWrapper", 6),
    STRING: ("StringWrapper", 7),
}
NOTHING_PROVEN = Proof()


@dataclass(frozen=True)
class File:
    """What is stored of one file: bounds, rows, nulls; ``None`` for ``lo`` and ``hi`` is null."""

    lo: object = None
    hi: object = None
    rows: int | None = 10
    nulls: int | None = 0
    size: int | None = None


def record(name, column_type, file):
    wrapper, ordinal = WRAPPERS[column_type]
    lo, hi = (value.encode() if isinstance(value, str) else value for value in (file.lo, file.hi))
    return StatsRecord(
        name.encode(),
        b"c",
        wrapper if lo is not None else "",
        lo,
        wrapper if hi is not None else "",
        hi,
        file.rows,
        file.nulls,
        False,
        False,
        ordinal if lo is not None else 1,
        b"",
        file.size,
    )


def united(column_type, *slices, proof=NOTHING_PROVEN, custom_merge=False, deleted=()):
    """Statistics of slices given as (base, *logs); a file that is None has no record, a base "-" is not there."""
    items, records, places = [], [], []
    for i, files in enumerate(slices):
        base = None if files[0] == "-" else f"b{i}-0_0-1-1_2.parquet"
        logs = tuple(f".b{i}-0_3.log.{j}_0-1-1" for j in range(1, len(files)))
        items.append(FileSlice("", f"b{i}-0", base, logs))
        for name, file in zip(items[-1].files, files if base else files[1:], strict=True):
            if file is not None:
                records.append(record(name, column_type, file))
                places.append(name)
    files = SliceFiles.of(FileSlices("3", "file listing", tuple(items)))
    places = np.array([files.by_name[name.encode()] for name in places], np.intp)
    rows = FileStatistics.of(records, places, column_type, "", 9)
    rows = believe(rows, files, lambda _: proof)
    return unite(rows, files, np.array(deleted, np.intp), custom_merge=custom_merge)


def shown(statistics, i=0):
    """(lo, hi, null count, row count) with None for unknown."""

    def count(value):
        return None if value == UNKNOWN_COUNT else int(value)

    return (
        statistics.lo[i] if statistics.lo_known[i] else None,
        statistics.hi[i] if statistics.hi_known[i] else None,
        count(statistics.null_count[i]),
        count(statistics.row_count[i]),
    )


@pytest.mark.parametrize(
    ("files", "expected", "trust"),
    [
        pytest.param([File(1, 5)], (1, 5, 0, 10), Trust.OK, id="one base file"),
        pytest.param([File(1, 5, nulls=3)], (1, 5, 3, 10), Trust.OK, id="with nulls"),
        pytest.param([File(1, 5), File(9, 9, 1)], (1, 9, 0, None), Trust.OK, id="a log on top: the union"),
        pytest.param([File(1, 5), File(-2, 3, 2, 1), File(8, 9, 2, 1)], (-2, 9, 2, None), Trust.OK, id="nulls add up"),
        pytest.param([File(1, 5), File(None, None, 0, 0)], (1, 5, 0, None), Trust.OK, id="deletions add nothing"),
        pytest.param([File(1, 5), None], (None, None, None, None), Trust.NO_RECORD, id="a log without a record"),
        pytest.param([None, File(1, 5)], (None, None, None, None), Trust.NO_RECORD, id="a base without a record"),
        pytest.param([File(0, 0, 10, 10)], (None, None, 10, 10), Trust.OK, id="all null, zeros as bounds"),
        pytest.param(
            [File(0, 0, 10, 10), File(7, 8, 2)], (7, 8, 10, None), Trust.OK, id="all null below, values above"
        ),
        pytest.param([File(1, 5), File(None, None, 4, 4)], (1, 5, 4, None), Trust.OK, id="a log of nulls adds nulls"),
        pytest.param(
            [File(0, 0, 10, 10), File(None, None, 4, 4)], (None, None, 14, 14), Trust.OK, id="nothing but nulls"
        ),
        pytest.param([File(None, None, 10, 10)], (None, None, None, 10), Trust.NO_BOUNDS, id="a base without zeros"),
        pytest.param([File(None, None, 10, 2)], (None, None, 2, 10), Trust.NO_BOUNDS, id="no bounds, some nulls"),
        pytest.param([File(1, None, 10, 0)], (1, None, 0, 10), Trust.OK, id="one bound is still a bound"),
        pytest.param([File(1, 5), File(1, None, 10, 0)], (1, None, 0, None), Trust.OK, id="one bound missing in a log"),
        pytest.param([File(1, 5, None, None)], (1, 5, None, None), Trust.OK, id="no counts"),
        pytest.param([File(1, 5, 10, 11)], (None, None, None, None), Trust.COUNTS, id="impossible counts"),
        pytest.param([File(5, 1)], (None, None, 0, 10), Trust.INVERTED, id="inverted"),
        pytest.param(["-", File(3, 4, 2)], (3, 4, 0, None), Trust.OK, id="log files only"),
        pytest.param(["-", File(None, None, 0, 0)], (None, None, 0, None), Trust.OK, id="deletions only"),
    ],
)
def test_a_slice_is_the_union_of_its_files(files, expected, trust):
    found = united(INT, files)
    assert shown(found) == expected
    assert found.trust[0] == trust


def test_slices_do_not_mix():
    found = united(INT, [File(1, 5)], [None], [File(7, 8), File(2, 3)], [File(0, 0, 4, 4)])
    assert [shown(found, i) for i in range(4)] == [(1, 5, 0, 10), (None,) * 4, (2, 8, 0, None), (None, None, 4, 4)]


def test_a_custom_merge_rule_spares_slices_without_log_files():
    found = united(INT, [File(1, 5)], [File(1, 5), File(2, 3)], custom_merge=True)
    assert shown(found, 0) == (1, 5, 0, 10)
    assert shown(found, 1) == (None,) * 4
    assert found.trust.tolist() == [Trust.OK, Trust.CUSTOM_MERGE]


def test_deleted_statistics_make_the_slice_unknown():
    found = united(INT, [None], [File(1, 2)], deleted=[0])
    assert found.trust.tolist() == [Trust.TOMBSTONE, Trust.OK]
    assert shown(found, 0) == (None,) * 4


@pytest.mark.parametrize(
    ("file", "proof", "expected", "trust"),
    [
        pytest.param(File(0.0, 0.0), Proof(), (None, None, 0, 10), Trust.NAN_ZERO, id="P1: zero bounds"),
        pytest.param(
            File(0.0, 0.0), Proof(bounded=True), (0.0, 0.0, 0, 10), Trust.OK, id="P1: real zeros, by the footer"
        ),
        pytest.param(
            File(-1.0, 2.0, 5000), Proof(), (None, None, 0, 5000), Trust.NAN_HIDDEN, id="P1: several row groups"
        ),
        pytest.param(
            File(-1.0, 2.0, 5000), Proof(bounded=True), (-1.0, 2.0, 0, 5000), Trust.OK, id="P1: by the footer"
        ),
        pytest.param(File(1.0, 2.0, 5000), Proof(), (1.0, 2.0, 0, 5000), Trust.OK, id="P1: away from zero"),
        pytest.param(File(0.0, 0.0, 10, 10), Proof(), (None, None, 10, 10), Trust.OK, id="P1: all null is no NaN"),
    ],
)
def test_floats_of_base_files(file, proof, expected, trust):
    found = united(DOUBLE, [file], proof=proof)
    assert shown(found) == expected
    assert found.trust[0] == trust


@pytest.mark.parametrize(
    ("proof", "nulls"),
    [
        pytest.param(Proof(), 10, id="no footer could be read"),
        pytest.param(Proof(all_null=True, read=True), 10, id="the footer says so too"),
        pytest.param(Proof(read=True), None, id="the footer has no statistics"),
        pytest.param(Proof(bounded=True, read=True), None, id="the footer has values"),
    ],
)
def test_p2_zeros_with_nulls_equal_to_rows_are_all_null_unless_a_footer_says_otherwise(proof, nulls):
    found = united(DOUBLE, [File(0.0, 0.0, 10, 10)], [File(0.0, 0.0, 10, 10)], proof=proof)
    assert [shown(found, i) for i in (0, 1)] == [(None, None, nulls, 10)] * 2


def test_a_nan_in_a_log_file_makes_the_slice_unknown():
    found = united(DOUBLE, [File(1.0, 2.0), File(1.5, float("nan"), 2)], [File(1.0, 2.0), File(-1.0, 3.0, 500)])
    assert shown(found, 0) == (None, None, 0, None)
    assert found.trust[0] == Trust.NAN_BOUND
    assert shown(found, 1) == (-1.0, 3.0, 0, None)


@pytest.mark.parametrize(
    ("file", "proof", "expected", "trust"),
    [
        pytest.param(File("a", "c", 5000), Proof(), ("a", "c", 0, 5000), Trust.OK, id="P2: no nulls"),
        pytest.param(File("a", "c", 100, 3), Proof(), ("a", "c", 3, 100), Trust.OK, id="P2: one row group"),
        pytest.param(File("a", "c", 5000, 3), Proof(), (None, None, 3, 5000), Trust.LONG_STRING, id="P2: beside nulls"),
        pytest.param(
            File("a", "c", 5000, 3), Proof(bounded=True), ("a", "c", 3, 5000), Trust.OK, id="P2: by the footer"
        ),
        pytest.param(File(None, None, 10, 10), Proof(), (None, None, None, 10), Trust.LONG_STRING, id="P2: either"),
        pytest.param(File(None, None, 10, 10), Proof(all_null=True), (None, None, 10, 10), Trust.OK, id="P2: proven"),
    ],
)
def test_text_of_base_files(file, proof, expected, trust):
    found = united(STRING, [file], proof=proof)
    assert shown(found) == expected
    assert found.trust[0] == trust


SLICES = st.lists(
    st.lists(st.none() | st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=6), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


@settings(max_examples=examples(29, at_night=1500))
@given(SLICES)
def test_the_union_bounds_every_value_of_every_file(slices):
    """Statistics as Hudi writes them, from values that are known: sound, and exact where every file has a record."""

    def stored(values):
        if values is None:
            return None
        rest = [value for value in values if value is not None]
        return File(min(rest, default=0), max(rest, default=0), len(values), values.count(None))

    found = united(BIGINT, *([stored(file) for file in files] for files in slices))
    for i, files in enumerate(slices):
        if None in files:
            assert shown(found, i) == (None,) * 4
            continue
        values = [value for file in files for value in file]
        rest = [value for value in values if value is not None]
        lo, hi, nulls, rows = shown(found, i)
        assert (lo, hi) == (min(rest, default=None), max(rest, default=None))
        assert nulls == values.count(None)
        assert rows == (len(values) if len(files) == 1 or not rest else None)


RAW = [
    # table type, unit, version, wrapper, ordinal, info, stored, lower, upper (None: not believed)
    pytest.param(BIGINT, "", 9, "IntWrapper", 3, b"", 7, 7, 7, id="P19: int file of a bigint column"),
    pytest.param(INT, "", 9, "LongWrapper", 4, b"", 7, None, None, id="P19: bigint file of an int column"),
    pytest.param(DOUBLE, "", 9, "IntWrapper", 3, b"", 7, None, None, id="P19: int file of a double column"),
    pytest.param(STRING, "", 9, "IntWrapper", 3, b"", 7, None, None, id="P19: int file of a string column"),
    pytest.param(FLOAT, "", 8, "FloatWrapper", 0, b"", 0.5, 0.5, 0.5, id="float"),
    pytest.param(BOOLEAN, "", 8, "BooleanWrapper", 0, b"", True, 1, 1, id="boolean"),
    pytest.param(BINARY, "", 9, "BytesWrapper", 8, b"", b"\xff", b"\xff", b"\xff", id="binary"),
    pytest.param(STRING, "", 9, "StringWrapper", 7, b"", b"\xff", None, None, id="text that is not UTF-8"),
    pytest.param(DATE, "", 6, "IntWrapper", 0, b"", 18000, 18000, 18000, id="V1 date as int"),
    pytest.param(DATE, "", 8, "DateWrapper", 0, b"", 18000, 18000, 18000, id="V1 date"),
    pytest.param(DATE, "", 9, "IntWrapper", 12, b"", 18000, 18000, 18000, id="V2 date"),
    pytest.param(DATE, "", 9, "IntWrapper", 3, b"", 18000, None, None, id="P19: int file of a date column"),
    pytest.param(DATE, "", 9, "IntWrapper", 12, b"", -200_000, -200_031, -199_969, id="P13: ancient"),
    pytest.param(DATE, "", 9, "IntWrapper", 12, b"", -719_163, None, None, id="P13: before the year 1"),
    pytest.param(TIMESTAMP_LTZ, "micros", 8, "LongWrapper", 0, b"", 10**15, 10**15, 10**15, id="V1 micros"),
    pytest.param(
        TIMESTAMP_LTZ,
        "micros",
        8,
        "LongWrapper",
        0,
        b"",
        17 * 10**11,
        17 * 10**11,
        17 * 10**14 + 999,
        id="P14: V1, 1970-01-20 or 2023",
    ),
    pytest.param(TIMESTAMP_LTZ, "micros", 8, "LongWrapper", 0, b"", -1, -1000, -1, id="P14: V1, just before 1970"),
    pytest.param(
        TIMESTAMP_LTZ,
        "micros",
        8,
        "LongWrapper",
        0,
        b"",
        253402300800000,
        253402300800000,
        253402300800000,
        id="P14: V1, no milliseconds",
    ),
    pytest.param(TIMESTAMP_LTZ, "millis", 8, "LongWrapper", 0, b"", 10**12, None, None, id="P14: hudi#9884"),
    pytest.param(TIMESTAMP_LTZ, "micros", 9, "LongWrapper", 16, b"", 10**15, 10**15, 10**15, id="V2 micros"),
    pytest.param(TIMESTAMP_LTZ, "millis", 9, "LongWrapper", 15, b"", 10**12, 10**15, 10**15 + 999, id="P13: millis"),
    pytest.param(TIMESTAMP_LTZ, "micros", 9, "LongWrapper", 15, b"", 10**12, None, None, id="P14: two units"),
    pytest.param(TIMESTAMP_LTZ, "nanos", 9, "LongWrapper", 17, b"", 10**18 + 1, 10**15, 10**15 + 1, id="P13: nanos"),
    pytest.param(TIMESTAMP, "micros", 9, "LongWrapper", 19, b"", 10**15, 10**15, 10**15, id="V2 local micros"),
    pytest.param(TIMESTAMP, "micros", 9, "LongWrapper", 16, b"", 10**15, None, None, id="P14: instant"),
    pytest.param(TIMESTAMP_LTZ, "micros", 9, "LongWrapper", 4, b"", 10**15, None, None, id="P19: bigint file"),
    pytest.param(decimal_type(10, 2), "", 9, "BytesWrapper", 10, b"10,2", b"\x04\xd2", 1234, 1234, id="V2 decimal"),
    pytest.param(decimal_type(10, 1), "", 9, "BytesWrapper", 10, b"10,2", b"\x04\xd2", 123, 124, id="P12"),
    pytest.param(decimal_type(12, 4), "", 9, "BytesWrapper", 10, b"10,2", b"\xff", -100, -100, id="P12: finer scale"),
    pytest.param(decimal_type(30, 2), "", 9, "BytesWrapper", 10, b"30,2", b"\x04\xd2", 1234, 1234, id="wide decimal"),
    pytest.param(decimal_type(10, 2), "", 9, "BytesWrapper", 10, b"", b"\x04\xd2", None, None, id="no scale"),
    pytest.param(decimal_type(3, 2), "", 9, "BytesWrapper", 10, b"10,2", b"\x7f\xff", None, None, id="too many digits"),
    pytest.param(
        decimal_type(10, 2),
        "",
        6,
        "BytesWrapper",
        0,
        b"",
        (5 * 10**15).to_bytes(8, "big"),
        500,
        500,
        id="V1 decimal as bytes of scale 15",
    ),
    pytest.param(decimal_type(10, 2), "", 8, "BytesWrapper", 0, b"", b"\x04\xd2", None, None, id="hudi#12993"),
    pytest.param(
        decimal_type(10, 2), "", 8, "DecimalWrapper", 0, b"", (5 * 10**15).to_bytes(8, "big"), 500, 500, id="V1 decimal"
    ),
    pytest.param(Type.parse("char(3)"), "", 9, "StringWrapper", 7, b"", b"ab ", "ab ", "ab ", id="char as stored"),
    pytest.param(INT, "", 9, "LongWrapper", 3, b"", 7, None, None, id="the wrapper contradicts the ordinal"),
    pytest.param(INT, "", 9, "ArrayWrapper", 0, b"", None, None, None, id="arrays"),
]


@pytest.mark.parametrize(
    ("column_type", "unit", "version", "wrapper", "ordinal", "info", "stored", "lower", "upper"), RAW
)
def test_what_a_stored_bound_means(column_type, unit, version, wrapper, ordinal, info, stored, lower, upper):
    files = SliceFiles.of(FileSlices("3", "file listing", (FileSlice("", "b", "b_0-1-1_2.parquet"),)))
    one = StatsRecord(b"b", b"c", wrapper, stored, wrapper, stored, 10, 0, False, False, ordinal, info)
    rows = FileStatistics.of([one], np.array([0]), column_type, unit, version)
    found = unite(believe(rows, files, lambda _: Proof()), files, np.array([], np.intp), custom_merge=False)
    assert shown(found) == (lower, upper, 0, 10)
    assert (found.trust[0] == Trust.OK) == (lower is not None)


def test_equal_file_names_in_two_partitions_are_told_apart():
    name = "00000000-0000-0000-0000-000000000000-0_0-1-1_2.parquet"
    files = SliceFiles.of(
        FileSlices(
            "3",
            "file listing",
            (FileSlice("p=1", "00000000-0", f"p=1/{name}"), FileSlice("p=2", "00000000-0", f"p=2/{name}")),
        )
    )
    assert files.by_name[name.encode()] == SliceFiles.AMBIGUOUS
    assert sorted(files.by_partition.values()) == [0, 1]


@pytest.mark.parametrize(
    ("size", "other", "all_null"),
    [
        pytest.param(29, File("a", "b"), True, id="too small for a long value"),
        pytest.param(5040, File("a", "b"), False, id="long enough for one"),
        pytest.param(None, File("a", "b"), False, id="no size"),
        pytest.param(29, File(None, None, 10, 10, 29), False, id="no file of the column has bounds"),
    ],
)
def test_p2_text_that_takes_few_bytes_is_all_null_as_claimed(size, other, all_null):
    found = united(STRING, [File(None, None, 10, 10, size)], [other])
    assert found.may_be_value.tolist()[0] is not all_null


def test_p2_a_footer_without_statistics_refutes_a_small_column_of_nulls():
    found = united(STRING, [File(None, None, 10, 10, 29)], [File("a", "b")], proof=Proof(read=True))
    assert found.may_be_value.tolist() == [True, True]


@pytest.mark.parametrize(("size", "known"), [(2047, True), (2048, False)])
def test_p2_text_beside_nulls_in_few_bytes_hides_no_row_group(size, known):
    found = united(STRING, [File("a", "b", 500, 3, size)])
    assert found.lo_known.tolist() == found.hi_known.tolist() == [known]
