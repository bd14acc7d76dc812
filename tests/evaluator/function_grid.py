"""The function grid: what real engines make of functions and casts of a column, row by row (C7, C8).

``data/function_values.json.xz`` holds, for each engine, the values of the calls below on each row of the table below:

    hive3, hive4              Hive 3.1.3 and 4.0.1, row by row in HiveServer2
    hive3 batch, hive4 batch  the same, vectorized over Parquet
    spark 3.5, spark 4.1      Spark without ANSI mode

    {engine: {zone: {call: [type, [value on row 0, ...]]}}}       a value is a text or null

A moment of Spark is its microseconds.

A call that an engine refuses is not there. ``python -m tests.hive.grids functions`` asks Hive, and
``python -m tests.handler.spark.record_function_values`` asks Spark.
"""

from __future__ import annotations

import datetime
import functools
import json
import lzma
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from evaluator.language.schema import Field, Schema
from evaluator.language.types import TIMESTAMP_LTZ, Type
from tests.evaluator.conversion_grid import value_of_text

DATA = Path(__file__).parent / "data" / "function_values.json.xz"
ZONES = ("UTC", "America/New_York")

#: The table: name, type, and the values of all rows, with | between them.
TABLE: dict[str, tuple[str, tuple[str | None, ...]]] = {
    name: (of, tuple(None if text == "NULL" else text for text in texts.split("|")))
    for name, of, texts in (
        ("ti", "tinyint", "0|1|-1|7|12|20|21|127|-128|100|31|2|NULL"),
        ("i", "int", "0|1|-1|7|1000|2147483647|-2147483648|16777217|-40|86399|19700101|65536|NULL"),
        (
            "l",
            "bigint",
            "0|1|-1|5000|999|9223372036854775807|-9223372036854775808|9007199254740993|1600000000|-86401|"
            "4294967296|123456789012|NULL",
        ),
        ("f", "float", "0.0|-0.0|1.5|-2.5|0.1|3.4028235e+38|1e-40|16777216.0|-7.25|100.0|0.5|2.5|NULL"),
        (
            "d",
            "double",
            "0.0|-0.0|1.5|-2.5|0.1|1.7976931348623157e+308|4.9e-324|9007199254740992.0|-7.25|99.995|0.5|1e18|NULL",
        ),
        (
            "p",
            "decimal(10,2)",
            "0.00|0.01|-0.01|1.50|-2.50|99999999.99|-99999999.99|2.45|2.55|1000.00|12.34|-7.25|NULL",
        ),
        (
            "w",
            "decimal(38,6)",
            "0.000000|0.000001|-1.500000|2.500000|99999999999999999999999999999999.999999|"
            "-99999999999999999999999999999999.999999|9223372036854775808.000000|7.000000|1234567.891234|"
            "0.499999|0.500000|-0.500000|NULL",
        ),
        ("s", "string", "|a|A|apple-001|Banana 7 x| lead|trail  |É-ß|İstanbul|10|9.5|2020-02-29|NULL"),
        (
            "dt",
            "date",
            "1970-01-01|1969-12-31|2020-02-29|2021-01-31|2019-12-30|2000-03-01|1582-10-15|1900-01-01|9998-12-31|"
            "2024-12-31|2018-01-01|1583-01-01|NULL",
        ),
        (
            "ts",
            "timestamp",
            "1970-01-01 00:00:00|1969-12-31 23:59:59.5|2020-02-29 12:34:56.789012|2020-03-08 01:59:59|"
            "2020-03-08 03:00:00|2020-11-01 00:59:59|2020-11-01 02:00:00|1900-01-01 00:00:01|2019-12-31 23:59:59|"
            "9998-12-31 23:59:59|2021-06-15 18:30:00.25|1600-01-01 00:00:00|NULL",
        ),
    )
}
ROWS = 13

_NUMBERS = ("ti", "i", "l", "f", "d", "p", "w")
_INTEGERS = ("ti", "i", "l")
_OF_NUMBERS = """
abs({x}); ceil({x}); floor({x}); round({x}); round({x}, 1); round({x}, -1); bround({x}); sign({x}); sqrt({x});
cbrt({x}); exp({x}); ln({x}); log10({x}); log2({x}); pow({x}, 2); pow({x}, 3); pow({x}, -1); pow({x}, 0.5);
sin({x}); cos({x}); asin({x}); acos({x}); atan({x}); tanh({x}); degrees({x}); radians({x}); -{x}; +{x}; {x} + 1;
{x} - 1; {x} * 2; {x} * -3; {x} / 3; {x} / -2; {x} % 7; {x} % -3; pmod({x}, 7); {x} + {x}; {x} * {x}; {x} - {x};
{x} + 0.5; {x} * 0.1; 10 / {x}; 10 - {x}; 10 % {x}; greatest({x}, 5); least({x}, 5); coalesce({x}, 5);
nvl({x}, 5); nullif({x}, 1); if({x} > 1, {x}, 1); CASE WHEN {x} < 0 THEN 0 ELSE {x} END; log(2, {x});
expm1({x}); log1p({x}); greatest({x}, 0.5); least({x}, 2.5); isnan({x})
"""
_OF_INTEGERS = """
{x} div 3; {x} div -2; {x} & 7; {x} | 1; {x} ^ 3; ~{x}; shiftleft({x}, 2); shiftright({x}, 1);
shiftrightunsigned({x}, 1); shiftleft({x}, 31); shiftleft({x}, 33); bin({x}); hex({x}); factorial({x});
from_unixtime({x}); from_unixtime({x}, 'yyyyMMdd'); date_add(date '2020-01-01', {x}); chr({x});
add_months(date '2020-01-31', {x}); {x} & {x}; {x} | -8; {x} & -8; lpad({x}, 3, '0'); timestamp_seconds({x});
timestamp_millis({x}); timestamp_micros({x}); date_from_unix_date({x})
"""
_OF_TEXT = """
upper({x}); lower({x}); initcap({x}); trim({x}); ltrim({x}); rtrim({x}); length({x}); reverse({x}); ascii({x});
hex({x}); md5({x}); sha1({x}); sha2({x}, 256); crc32({x}); substring({x}, 2); substring({x}, 1, 3);
substring({x}, 0, 2); substring({x}, -3); substring({x}, 3, 2); left({x}, 2); concat({x}, 'x');
concat('x', {x}); concat({x}, {x}); repeat({x}, 2); lpad({x}, 5, '*'); rpad({x}, 3, '-'); instr({x}, 'a');
locate('a', {x}); replace({x}, 'a', 'o'); translate({x}, 'ae', 'o'); substring_index({x}, '-', 1);
regexp_replace({x}, '[0-9]', ''); split({x}, '-')[0]; concat_ws('-', {x}, 'z'); octet_length({x});
greatest({x}, 'b'); least({x}, 'b'); coalesce({x}, 'b'); nvl({x}, 'b'); nullif({x}, 'a');
if({x} > 'b', {x}, 'b'); soundex({x}); upper(substring({x}, 1, 1)); lower(trim({x})); to_date({x}); year({x});
{x} || 'k'; space(length({x})); {x} + 1; {x} * 2; -{x}; abs({x}); round({x})
"""
_OF_DAYS = """
year({x}); quarter({x}); month({x}); day({x}); dayofmonth({x}); weekofyear({x}); dayofweek({x}); dayofyear({x});
weekday({x}); last_day({x}); next_day({x}, 'MO'); next_day({x}, 'FR'); add_months({x}, 1); add_months({x}, -1);
add_months({x}, 12); date_add({x}, 1); date_sub({x}, 30); datediff({x}, date '2020-01-01');
datediff(date '2020-01-01', {x}); months_between({x}, date '2020-01-15'); trunc({x}, 'MM'); trunc({x}, 'YEAR');
trunc({x}, 'Q'); trunc({x}, 'week'); date_format({x}, 'yyyy'); date_format({x}, 'yyyyMM');
date_format({x}, 'MM'); date_format({x}, 'MM/dd/yyyy'); date_format({x}, 'yyyy-MM-dd'); date_format({x}, 'dd');
to_date({x}); unix_timestamp({x}); to_unix_timestamp({x}); to_utc_timestamp({x}, 'America/New_York');
extract(year FROM {x}); from_utc_timestamp({x}, 'America/New_York'); from_utc_timestamp({x}, 'Asia/Kolkata');
date_trunc('month', {x}); hour({x}); minute({x}); second({x}); date_format({x}, 'HH');
date_format({x}, 'yyyy-MM-dd HH:mm:ss'); date_trunc('hour', {x}); date_trunc('day', {x});
date_trunc('week', {x}); date_trunc('quarter', {x}); greatest({x}, date '2020-01-01');
least({x}, date '2020-01-01'); coalesce({x}, date '2020-01-01'); unix_date({x}); unix_seconds({x});
unix_millis({x}); unix_micros({x}); {x} + interval '1' day; {x} - interval '1' month; year(add_months({x}, 1));
month(last_day({x})); floor(datediff({x}, date '2020-01-01') / 7)
"""
#: The types that columns are cast to.
_CASTS = {
    **dict.fromkeys(
        _NUMBERS,
        """
tinyint; smallint; int; bigint; float; double; decimal(5,2); decimal(11,1); decimal(18,2); decimal(20,0);
decimal(38,0); decimal(38,10); string; varchar(3); boolean; timestamp
""",
    ),
    "s": "int; bigint; double; decimal(10,2); date; timestamp; varchar(3); binary; boolean",
    "dt": "timestamp; string; varchar(7)",
    "ts": "date; string; bigint; double; decimal(20,3); varchar(10)",
}


def calls() -> Iterator[tuple[str, str]]:
    """(column, call) of every question."""
    families = (_NUMBERS, _OF_NUMBERS), (_INTEGERS, _OF_INTEGERS), (("s",), _OF_TEXT), (("dt", "ts"), _OF_DAYS)
    for columns, forms in families:
        yield from ((column, form.strip().format(x=column)) for column in columns for form in forms.split(";"))
    for column, types in _CASTS.items():
        yield from ((column, f"CAST({column} AS {of.strip()})") for of in types.split(";"))


@functools.cache
def answers() -> Any:
    """The data file."""
    return json.loads(lzma.decompress(DATA.read_bytes()))


def sql_type(written: str, engine: str) -> Type:
    """Spark's ``timestamp`` is an instant."""
    return TIMESTAMP_LTZ if written == "timestamp" and engine.startswith("spark") else Type.parse(written)


@functools.cache
def schema(engine: str) -> Schema:
    return Schema(Field(name, sql_type(written, engine)) for name, (written, _) in TABLE.items())


@functools.cache
def rows(engine: str, zone: str) -> tuple[Mapping[str, Any], ...]:
    """The rows as the engine holds them in a session of that zone."""
    found: list[dict[str, Any]] = [{} for _ in range(ROWS)]
    for name, (written, texts) in TABLE.items():
        of = sql_type(written, engine)
        for row, text in zip(found, texts, strict=True):
            value = value_of_text(text, of)
            row[name] = value if value is None or of is not TIMESTAMP_LTZ else _instant(value, zone)
    return tuple(found)


def _instant(wall_clock: int, zone: str) -> int:
    """The first instant at which a zone shows a wall clock; both in microseconds."""
    clock = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=wall_clock)
    offset = clock.replace(tzinfo=ZoneInfo(zone)).utcoffset() or datetime.timedelta()
    return wall_clock - offset // datetime.timedelta(microseconds=1)
