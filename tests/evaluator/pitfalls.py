"""The twenty pitfalls of data skipping as a table: what is stored, a filter, and what must come of it.

Each row is one statistic as a writer left it and one filter. ``outcome`` is the exact set of values that the filter may
take on the slice: "T" in it keeps the slice, "T" alone is fully matched. Where the pitfall is in the reading of what is
stored, the statistics come from records as Hudi writes them (``stored``).

Pitfalls P1 to P20 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from evaluator.language import expression as ex
from evaluator.language.semantics import Semantics
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
    TINYINT,
    Kind,
    Type,
    decimal_type,
)
from evaluator.statistics.columns import ColumnStatistics
from index_store.formats.parquet_footers import Proof
from tests.evaluator.short_forms import HIVE, SPARK, col, lit, stats
from tests.evaluator.written_statistics import File, stored

__all__ = ["PITFALLS", "Pitfall"]

DAY, HOUR = 86_400_000_000, 3_600_000_000
D20200102 = 18_263
CHAR5 = Type(Kind.CHAR, 5)
BERLIN, TOKYO = Semantics.named("spark", "Europe/Berlin"), Semantics.named("spark", "Asia/Tokyo")


@dataclass(frozen=True)
class Pitfall:
    """``filter`` is SQL text of the engine, or a tree where SQL has no form. ``no_key``: an index of keys says beside
    the statistics that no slice has the value, if it is asked.
    """

    number: str
    what: str
    statistics: Mapping[str, ColumnStatistics]
    filter: str | ex.HudiExpression
    outcome: str
    engine: Semantics = SPARK
    no_key: bool = field(default=False, kw_only=True)


NAN_LEFT = {"f": stored(FLOAT, File(0.0, 0.0)), "i": stats(INT, 1, 3)}
NAN_MERGED = {"d": stored(DOUBLE, File(-1.0, 2.0, rows=5000))}
LONG = {"s": stored(STRING, File(nulls=10, size=50_000))}
SHORT = {"s": stored(STRING, File("a", "b", size=900))}
NOT_COUNTED = {"x": stats(INT, 1, 3, nulls=None)}
APPLES = {"s": stats(STRING, "apple-000", "apple-999")}
MIDNIGHT = {"t": stats(TIMESTAMP, D20200102 * DAY, D20200102 * DAY)}
TWO_YEARS = {"dt": stats(DATE, D20200102, D20200102 + 700)}
NUMBER_TEXT = {"s": stats(STRING, "9", "9")}
CHARS = {"c": stats(STRING, "ab", "ab")}
ZERO, MINUS = {"d": stats(DOUBLE, 0.0, 0.0)}, {"d": stats(DOUBLE, -0.0, -0.0)}
ONE, TEN = {"x": stats(INT, 1, 3)}, {"x": stats(INT, 10, 10)}


def compare(op: str, left: ex.Operand, right: ex.Operand) -> ex.Compare:
    return ex.Compare(op, left, right)


PITFALLS = [
    # One NaN: parquet-mr writes 0.0 / 0.0, and other files' bounds are poisoned (hudi#18754).
    Pitfall("P1", "0.0 / 0.0 of a FLOAT: equality", NAN_LEFT, "f = 5.0", "TF"),
    Pitfall("P1", "0.0 / 0.0 of a FLOAT: above", NAN_LEFT, "f > 6", "TF"),
    Pitfall("P1", "0.0 / 0.0 of a FLOAT: NOT over it", NAN_LEFT, "NOT f < 1", "TF"),
    Pitfall("P1", "0.0 / 0.0 of a FLOAT: in Hive", NAN_LEFT, "f > 6", "TF", HIVE),
    Pitfall("P1", "another column of the file is not poisoned", NAN_LEFT, "i = 9", "F"),
    Pitfall("P1", "an AND with another column prunes by that one", NAN_LEFT, "f > 6 AND i = 9", "F"),
    Pitfall("P1", "-0.0 / 0.0", {"d": stored(DOUBLE, File(-0.0, 0.0))}, "d > 6", "TF"),
    Pitfall("P1", "0.0 / 0.0 of a log file", {"d": stored(DOUBLE, File(1.0, 2.0), File(0.0, 0.0))}, "d > 6", "TF"),
    Pitfall("P1", "a row group with NaN, merged into -1.0 / 2.0", NAN_MERGED, "d = 500", "TF"),
    Pitfall(
        "P1",
        "the footer proves that no row group has NaN",
        {"d": stored(DOUBLE, File(-1.0, 2.0, rows=5000), proof=Proof(bounded=True))},
        "d = 500",
        "F",
    ),
    Pitfall("P1", "1.0 / 2.0: no NaN hides there", {"d": stored(DOUBLE, File(1.0, 2.0, rows=5000))}, "d > 6", "F"),
    # Values too long for Parquet's bounds are recorded as null (hudi#18755).
    Pitfall("P2", "null / null, nulls = rows: equality", LONG, "s = 'a'", "TFN"),
    Pitfall("P2", "null / null, nulls = rows: IS NOT NULL", LONG, "s IS NOT NULL", "TF"),
    Pitfall("P2", "null / null, nulls = rows: IS NULL is not proven", LONG, "s IS NULL", "TF"),
    Pitfall("P2", "null / null, nulls = rows: length", LONG, "length(s) > 2000", "TFN"),
    Pitfall(
        "P2",
        "null / null in a few bytes, beside files with bounds",
        {"s": stored(STRING, File(nulls=10, size=29), File("a", "b"))},
        "s > 'x'",
        "TFN",
    ),
    Pitfall(
        "P2",
        "null / null, and the footer says that all is null",
        {"s": stored(STRING, File(nulls=10), proof=Proof(all_null=True))},
        "s = 'a'",
        "N",
    ),
    Pitfall(
        "P2",
        "a row group of long text beside nulls",
        {"s": stored(STRING, File("a", "b", nulls=3, rows=5000))},
        "s > 'x'",
        "TFN",
    ),
    Pitfall(
        "P2",
        "the same in few bytes",
        {"s": stored(STRING, File("a", "b", nulls=3, rows=500, size=2000))},
        "s > 'x'",
        "FN",
    ),
    Pitfall("P2", "binary likewise", {"b": stored(BINARY, File(nulls=10))}, "b = X'61'", "TFN"),
    # NaN in bounds, literals, lists (iceberg#1761, iceberg#2069, iceberg-python#3921, iceberg-rust#3144).
    *(
        Pitfall("P3", f"bounds {lo} / {hi}: {op}", {"d": stored(DOUBLE, File(lo, hi))}, f"d {op} 100.0", "TF")
        for lo, hi in ((math.nan, 5.0), (1.0, math.nan), (math.nan, math.nan))
        for op in ("=", "!=", "<", ">=")
    ),
    Pitfall("P3", "one missing bound may hide NaN", {"d": stats(DOUBLE, None, 5.0)}, "d > 100.0", "TF"),
    Pitfall(
        "P3", "a NaN constant", {"d": stats(DOUBLE, 1.0, None)}, compare("<", col("d"), lit(math.nan, DOUBLE)), "TF"
    ),
    Pitfall(
        "P3",
        "a NaN constant, no NaN",
        {"d": stats(DOUBLE, 1.0, 5.0)},
        compare(">=", col("d"), lit(math.nan, DOUBLE)),
        "F",
    ),
    Pitfall(
        "P3",
        "NaN in a NOT IN list",
        {"d": stats(DOUBLE, 1.0, None)},
        ex.Not(ex.In(col("d"), (lit(1.0, DOUBLE), lit(math.nan, DOUBLE)))),
        "TF",
    ),
    # != prunes only where lo = v = hi (datafusion#560).
    Pitfall("P4", "v inside the range", {"x": stats(INT, 4, 6)}, "x != 5", "TF"),
    Pitfall("P4", "v at the edge", {"x": stats(INT, 5, 6)}, "x != 5", "TF"),
    Pitfall("P4", "only v", {"x": stats(INT, 5, 5)}, "x != 5", "F"),
    Pitfall("P4", "NOT IN of an edge", {"x": stats(INT, 5, 6)}, "x NOT IN (5, 7)", "TF"),
    # LIKE is a prefix, not an equality (hudi#18791, hudi#19169, datafusion#12978).
    Pitfall("P5", "a prefix of the bounds", APPLES, "s LIKE 'apple%'", "T"),
    Pitfall("P5", "without a wildcard it is equality", APPLES, "s LIKE 'apple'", "F"),
    Pitfall("P5", "an underscore ends the prefix", APPLES, "s LIKE 'appl_-0%'", "TF"),
    Pitfall("P5", "an escaped underscore does not", APPLES, r"s LIKE 'apple\\_%'", "F"),
    Pitfall("P5", "a wildcard in front", APPLES, "s LIKE '%e'", "TF"),
    Pitfall("P5", "a wildcard inside", APPLES, "s LIKE 'b%e'", "F"),
    Pitfall("P5", "another escape character", {"s": stats(STRING, "a%b", "a%c")}, "s LIKE 'a#%%' ESCAPE '#'", "T"),
    Pitfall("P5", "NOT LIKE of a prefix of both bounds", APPLES, "s NOT LIKE 'apple%'", "F"),
    Pitfall("P5", "startswith", APPLES, "startswith(s, 'apple')", "T"),
    # IS NULL and <=> NULL with an unknown null count (hudi#19645).
    Pitfall("P6", "IS NULL without a null count", NOT_COUNTED, "x IS NULL", "TF"),
    Pitfall("P6", "<=> NULL without a null count", NOT_COUNTED, "x <=> NULL", "TF"),
    Pitfall("P6", "an added column without a record", {"x": stored(INT, None)}, "x IS NULL", "TF"),
    Pitfall(
        "P6", "combined with a column that has statistics", {**ONE, "y": stored(INT, None)}, "y IS NULL AND x < 9", "TF"
    ),
    Pitfall("P6", "a null count of 0", ONE, "x IS NULL", "F"),
    # A predicate that mixes columns with and without statistics (hudi#9397, hudi#10389, hudi#10427).
    Pitfall("P7", "a column without statistics", {**ONE, "y": ColumnStatistics.unknown(INT, 1)}, "y = 9", "TFN"),
    Pitfall("P7", "under AND", {**ONE, "y": ColumnStatistics.unknown(INT, 1)}, "x = 9 AND y = 9", "F"),
    Pitfall("P7", "under OR", {**ONE, "y": ColumnStatistics.unknown(INT, 1)}, "x = 9 OR y = 9", "TFN"),
    Pitfall("P7", "under NOT", {**ONE, "y": ColumnStatistics.unknown(INT, 1)}, "NOT (x < 9 AND y = 9)", "TFN"),
    # IS NOT NULL is not "null count = 0" (datafusion#9230, datafusion#10049).
    Pitfall("P8", "some nulls", {"x": stats(INT, 1, 3, nulls=9)}, "x IS NOT NULL", "TF"),
    Pitfall("P8", "all null, as Hudi stores it", {"x": stored(INT, File(0, 0, nulls=10))}, "x IS NOT NULL", "F"),
    Pitfall("P8", "the zeros of all null are no values", {"x": stored(INT, File(0, 0, nulls=10))}, "x = 0", "N"),
    Pitfall("P8", "no count", NOT_COUNTED, "x IS NOT NULL", "TF"),
    # Functions and casts that break the order (hudi#19445, hudi#19474).
    Pitfall("P9", "times -1", {"x": stats(INT, -300, 100)}, "x * -1 > 250", "TF"),
    Pitfall("P9", "divided by -10", {"x": stats(INT, -300, 100)}, "x / -10 > 25", "TF"),
    Pitfall("P9", "a narrowing cast", {"x": stats(INT, 0, 260)}, "cast(x AS tinyint) = 4", "TFN"),
    Pitfall("P9", "overflow", {"x": stats(INT, 1, 5000)}, "x + 2147483000 > 0", "TFN"),
    Pitfall("P9", "lower", {"s": stats(STRING, "ZEBRA", "cherry")}, "lower(s) > 'd'", "TF"),
    Pitfall("P9", "date_format by month", TWO_YEARS, "date_format(dt, 'MM/dd/yyyy') < '01/10/2020'", "TF"),
    Pitfall("P9", "date_format of the day", TWO_YEARS, "date_format(dt, 'dd') = '04'", "TF"),
    Pitfall("P9", "datediff with the column behind", TWO_YEARS, "datediff(date'2020-01-02', dt) < -600", "TF"),
    Pitfall(
        "P9",
        "to_timestamp with a pattern",
        {"s": stats(STRING, "01-02-2020", "31-01-2020")},
        "to_timestamp(s, 'dd-MM-yyyy') > timestamp'2020-06-01 00:00:00'",
        "TFN",
    ),
    Pitfall("P9", "text as a number", {"s": stats(STRING, "10", "9")}, "cast(s AS int) = 100", "TFN"),
    # A constant is converted exactly or not at all (ClickHouse#118392, ClickHouse#116972, StarRocks#73511).
    Pitfall("P10", "x < 300 on a tinyint is not x < 44", {"x": stats(TINYINT, 50, 100)}, "x < 300", "T"),
    Pitfall("P10", "x = 300 on a tinyint is not x = 44", {"x": stats(TINYINT, 44, 44)}, "x = 300", "F"),
    Pitfall("P10", "x < 5.5 holds for 5", {"x": stats(INT, 5, 5)}, "x < 5.5", "T"),
    Pitfall("P10", "x > 5.5 does not", {"x": stats(INT, 5, 5)}, "x > 5.5", "F"),
    Pitfall("P10", "x = 5.5 is never true", {"x": stats(INT, 5, 6)}, "x = 5.5", "F"),
    Pitfall("P10", "x != 5.5 always", {"x": stats(INT, 5, 5)}, "x != 5.5", "T"),
    Pitfall(
        "P10",
        "a bigint is rounded to compare it with a double",
        {"x": stats(BIGINT, 2**53 + 1, 2**53 + 1)},
        "x = 9007199254740992.0D",
        "TF",
    ),
    Pitfall(
        "P10",
        "a date before a time of its day",
        {"dt": stats(DATE, D20200102, D20200102)},
        "dt < timestamp'2020-01-02 12:00:00'",
        "T",
    ),
    # A text column against a number (StarRocks#73511, StarRocks#20884, delta#7136).
    Pitfall("P11", "'9' > 10 as text, not as numbers", NUMBER_TEXT, "s > 10", "F"),
    Pitfall("P11", "the same in Hive", NUMBER_TEXT, "s > 10", "F", HIVE),
    Pitfall(
        "P11", "from '9' to '99' there are texts of every size", {"s": stats(STRING, "9", "99")}, "s > 1000", "TFN"
    ),
    Pitfall("P11", "a number column against text that is an integer", {"x": stats(INT, 5, 5)}, "x = '6'", "F"),
    Pitfall("P11", "a number column against text that is none", {"x": stats(INT, 5, 5)}, "x = '5.5'", "TFN"),
    Pitfall("P11", "a list of text and numbers", {"x": stats(BIGINT, 1, 1)}, "x IN ('1.0')", "TFN"),
    # Decimals of different scale and width (matrixone#26808, StarRocks#78760, iceberg-go#1876, trino#26203).
    Pitfall(
        "P12",
        "a constant of smaller scale",
        {"a": stats(decimal_type(10, 2), Decimal("1.10"), Decimal("1.20"))},
        "a = 1.1BD",
        "TF",
    ),
    Pitfall(
        "P12",
        "a constant of larger scale",
        {"a": stats(decimal_type(10, 2), Decimal("1.10"), Decimal("1.20"))},
        "a > 1.205BD",
        "F",
    ),
    Pitfall(
        "P12",
        "stored at another scale",
        {"a": stored(decimal_type(10, 2), File(Decimal("1.10"), Decimal("1.205"), of=decimal_type(10, 3)))},
        "a > 1.20BD",
        "TF",
    ),
    Pitfall(
        "P12",
        "38 digits",
        {"a": stats(decimal_type(38, 0), Decimal(10**37), Decimal(10**37 + 1))},
        "a > 10000000000000000000000000000000000000BD",
        "TF",
    ),
    # Upper bounds of timestamps that were cut off, old dates (delta-kernel-rs#1002, delta#6080, trino#31231).
    Pitfall(
        "P13",
        "an upper bound in milliseconds is 999 microseconds short",
        {"t": stored(TIMESTAMP_LTZ, File(0, 1000, ordinal=15), unit="millis")},
        "t > timestamp'1970-01-01 00:00:01'",
        "TF",
    ),
    Pitfall(
        "P13",
        "but no more",
        {"t": stored(TIMESTAMP_LTZ, File(0, 1000, ordinal=15), unit="millis")},
        "t >= timestamp'1970-01-01 00:00:01.001'",
        "F",
    ),
    Pitfall(
        "P13",
        "a constant below the microsecond",
        {"t": stats(TIMESTAMP, 0, 1_000_000_001)},
        compare(">", col("t"), lit(Fraction(2_000_000_001, 2), TIMESTAMP)),
        "TF",
        HIVE,
    ),
    Pitfall(
        "P13",
        "a date that another calendar may move",
        {"dt": stored(DATE, File(-200_000, -190_000))},
        "dt = date'1449-10-15'",
        "TF",
    ),
    Pitfall(
        "P13",
        "but not by more than 31 days",
        {"dt": stored(DATE, File(-200_000, -190_000))},
        "dt < date'1422-04-01'",
        "F",
    ),
    Pitfall(
        "P13",
        "a constant that another calendar may move",
        {"dt": stored(DATE, File(-141_427, -141_420))},
        "dt > date'1582-10-14'",
        "TF",
    ),
    # Zones, units, int96 (trino#31050, paimon#8797, hudi#8298, spark#16781).
    Pitfall(
        "P14",
        "an instant is a wall clock of the session zone",
        {"t": stats(TIMESTAMP_LTZ, D20200102 * DAY - 9 * HOUR, D20200102 * DAY - 9 * HOUR)},
        "t = timestamp'2020-01-02 00:00:00'",
        "T",
        TOKYO,
    ),
    Pitfall(
        "P14",
        "and not of UTC",
        {"t": stats(TIMESTAMP_LTZ, D20200102 * DAY, D20200102 * DAY)},
        "t = timestamp'2020-01-02 00:00:00'",
        "F",
        TOKYO,
    ),
    Pitfall(
        "P14",
        "an hour that is shown twice",
        {"t": stats(TIMESTAMP_LTZ, 18_560 * DAY + HOUR, 18_560 * DAY + HOUR)},
        "t = timestamp'2020-10-25 02:00:00'",
        "TF",
        BERLIN,
    ),
    Pitfall(
        "P14",
        "int96: no bounds, zero counts",
        {"t": stored(TIMESTAMP_LTZ, File(nulls=10))},
        "t = timestamp'2020-01-02 00:00:00'",
        "TFN",
    ),
    Pitfall(
        "P14",
        "bounds in milliseconds of a column in microseconds",
        {"t": stored(TIMESTAMP_LTZ, File(0, 1000, ordinal=15))},
        "t > timestamp'2020-01-02 00:00:00'",
        "TF",
    ),
    Pitfall("P14", "old Hive may compare a time with text as text", MIDNIGHT, "t > '2020-01-02'", "TFN", HIVE),
    # CHAR: padding, and bytes below the space (trino#30187, doris#45484, StarRocks#1176, HIVE-17593).
    Pitfall(
        "P15",
        "trimmed in the file, padded in the filter",
        CHARS,
        compare("=", col("c", CHAR5), lit("ab   ", CHAR5)),
        "TF",
        HIVE,
    ),
    Pitfall(
        "P15",
        "padded in the file, trimmed in the filter",
        {"c": stats(STRING, "ab   ", "ab   ")},
        compare("=", col("c", CHAR5), lit("ab", CHAR5)),
        "TF",
        HIVE,
    ),
    Pitfall("P15", "another text", CHARS, compare("=", col("c", CHAR5), lit("b", CHAR5)), "F", HIVE),
    Pitfall(
        "P15", "a character below the space", CHARS, compare("<", col("c", CHAR5), lit("a\x01", CHAR5)), "TFN", HIVE
    ),
    Pitfall("P15", "a CHAR is no key", CHARS, compare("=", col("c", CHAR5), lit("ab", CHAR5)), "TF", HIVE, no_key=True),
    # -0.0 and 0.0, NaN, and numbers of another width in filters of keys (databend#20520, duckdb#24005, hudi#19467).
    Pitfall("P16", "0.0 finds -0.0", MINUS, "d = 0.0D", "T"),
    Pitfall("P16", "-0.0 finds 0.0", ZERO, "d = -0.0D", "T"),
    Pitfall("P16", "Hive may order them", MINUS, "d < 0.0", "TF", HIVE),
    Pitfall(
        "P16", "a filter of keys is asked for a double", {"d": stats(DOUBLE, 1.0, 2.0)}, "d = 1.5D", "F", no_key=True
    ),
    Pitfall(
        "P16",
        "and for a decimal",
        {"a": stats(decimal_type(4, 1), Decimal("1.0"), Decimal("2.0"))},
        "a = 1.5BD",
        "F",
        no_key=True,
    ),
    Pitfall(
        "P16",
        "never for NaN",
        {"d": stats(DOUBLE, None, None)},
        ex.Compare("=", col("d"), lit(math.nan, DOUBLE)),
        "TF",
        no_key=True,
    ),
    Pitfall(
        "P16",
        "nor for a bigint that the engine rounds",
        {"x": stats(BIGINT, 2**53 + 1, 2**53 + 1)},
        "x = 9007199254740992.0D",
        "TF",
        no_key=True,
    ),
    Pitfall(
        "P16", "and for an integer of any width", {"x": stats(BIGINT, 1, 9)}, "x = cast(5 AS tinyint)", "F", no_key=True
    ),
    # Order of text and bytes (PARQUET-686, datafusion#24525, arrow#36866, ClickHouse#118376).
    Pitfall("P17", "text beyond U+FFFF is above U+FFFF", {"s": stats(STRING, "z", "\uffff")}, "s < '\U0001f600'", "T"),
    Pitfall("P17", "bytes are unsigned", {"b": stats(BINARY, b"\x80", b"\xff")}, "b > X'7F'", "T"),
    Pitfall(
        "P17",
        "a log file's upper bound in UTF-16 order",
        {"s": stored(STRING, File("a", "b"), File("c", "\uff21"))},
        "s > '\uff30'",
        "TF",
    ),
    Pitfall("P17", "a bound that was no text", {"s": stored(STRING, File("a\ufffd", "b", rows=5000))}, "s < 'a'", "TF"),
    # NULL in NOT IN, missing null counts, claims of "all rows match" (iceberg#3578, iceberg-python#3498).
    Pitfall("P18", "NOT IN with NULL is never true", TEN, "x NOT IN (9, NULL)", "N"),
    Pitfall("P18", "IN with NULL is true for a member", TEN, "x IN (10, NULL)", "T"),
    Pitfall("P18", "IN with NULL is never false", ONE, "x IN (9, NULL)", "N"),
    Pitfall("P18", "fully matched only without nulls", NOT_COUNTED, "x > 0", "TN"),
    Pitfall("P18", "more nulls than rows", {"x": stored(INT, File(1, 3, nulls=11))}, "x = 9", "TFN"),
    Pitfall(
        "P18",
        "a merged slice's nulls are an upper bound",
        {"x": stored(INT, File(1, 3, nulls=1), File(1, 3, nulls=2))},
        "x > 0",
        "TN",
    ),
    # Types that changed, names that were used again, structs that are null (paimon#7803, iceberg#18069, hudi#5275).
    Pitfall("P19", "an int file of a bigint column", {"x": stored(BIGINT, File(1, 3, of=INT))}, "x = 9", "F"),
    Pitfall("P19", "a text file of an int column", {"x": stored(INT, File("1", "3", of=STRING))}, "x = 9", "TF"),
    Pitfall(
        "P19",
        "a float file of a double column, read through text",
        {"d": stored(DOUBLE, File(1.1, 1.1, of=FLOAT))},
        "d = 1.1D",
        "TF",
    ),
    Pitfall(
        "P19",
        "a filter that sees another type",
        {"x": stats(STRING, "1", "1")},
        compare("=", col("x", INT), lit(9, INT)),
        "TFN",
    ),
    Pitfall("P19", "the struct may be null", {"st.x": stats(INT, 1, 3)}, "st.x IS NULL", "TF"),
    Pitfall("P19", "a boolean that was an int", {"b": stored(BOOLEAN, File(0, 1, of=INT))}, "b", "TF"),
    # Stale and inexact statistics, names, collations (datafusion#15976, hudi#7032, hudi#12953, hudi#10955).
    Pitfall("P20", "the lower bound above the upper", {"x": stored(INT, File(9, 1))}, "x = 100", "TF"),
    Pitfall("P20", "marked as deleted", {"x": stored(INT, File(1, 3, deleted=True), File(1, 3))}, "x = 9", "TFN"),
    Pitfall("P20", "a file of the slice has no record", {"x": stored(INT, File(1, 3), None)}, "x = 9", "TFN"),
    Pitfall(
        "P20", "the table's own merge rule", {"x": stored(INT, File(1, 3), File(1, 3), merges=False)}, "x = 9", "TFN"
    ),
    Pitfall("P20", "a name in another case", {"userId": stats(INT, 1, 3)}, "USERID = 9", "F"),
    Pitfall(
        "P20",
        "a name that two columns have",
        {"userId": stats(INT, 1, 3), "userid": stats(INT, 1, 3)},
        "UserId = 9",
        "TFN",
    ),
    Pitfall("P20", "IN on a column that is no key", {"x": stats(INT, 1, 30)}, "x IN (5, 50)", "TF"),
    Pitfall("P20", "a collation of its own", APPLES, "s COLLATE UTF8_LCASE = 'APPLE-100'", "TFN"),
    Pitfall(
        "P20",
        "bounds are no values where rows may be merged away",
        {"x": stored(INT, File(1, 1), File(3, 3))},
        "x = 1",
        "TF",
    ),
]
