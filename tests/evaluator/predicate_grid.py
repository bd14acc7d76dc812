"""The predicate grid: what real Hive makes of conditions over functions that are NULL of some values (C7, C8).

``data/predicates.json.xz`` holds, for each engine, a letter (T, F, N for NULL) for each row of the table below:

    hive3, hive4              Hive 3.1.3 and 4.0.1, row by row in HiveServer2, with the optimiser
    hive3 batch, hive4 batch  the same, vectorized over Parquet, without the optimiser

    {engine: {condition: letters}}

A condition that an engine refuses is not there. ``python -m tests.hive.grids predicates`` asks Hive.
"""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Iterator
from pathlib import Path

from evaluator.language.schema import Field, Schema
from evaluator.language.types import Type
from tests.evaluator.conversion_grid import value_of_text

DATA = Path(__file__).parent / "data" / "predicates.json.xz"

#: The table: name, type, and the values of all rows, with | between them.
TABLE: dict[str, tuple[str, tuple[str | None, ...]]] = {
    name: (of, tuple(None if text == "NULL" else text for text in texts.split("|")))
    for name, of, texts in (
        ("s", "string", "abc|1||2020-01-01|9x|99999999999999999999|9|10| 9|09|9.0|+9|1.50|NULL"),
        ("i", "int", "0|1|5|-7|300|2147483647|-2147483648|9|10|2|3|4|77|NULL"),
        (
            "l",
            "bigint",
            "0|1|5|-7|9223372036854775807|-9223372036854775808|-9223372036854775807|9|10|4611686018427387904|"
            "-4611686018427387905|4|77|NULL",
        ),
        ("d", "double", "-1.0|0.0|1.0|9.0|1e300|-1e300|0.5|-9.0|10.0|99.5|2.0|3.0|4.0|NULL"),
        (
            "dt",
            "date",
            "2020-01-01|1970-01-02|2020-02-29|1969-12-31|9998-12-31|1582-10-15|1970-01-01|2021-01-01|2019-12-31|"
            "2020-01-02|2020-01-03|2020-01-04|2020-01-05|NULL",
        ),
        (
            "pr",
            "decimal(10,2)",
            "0.00|1.00|5.00|-7.00|99999999.99|-99999999.99|9.00|10.00|2.50|1.50|-1.50|3.00|4.00|NULL",
        ),
    )
}
ROWS = 14

_NUMBERS = """
cast(s as double); cast(s as float); cast(s as int); cast(s as bigint); cast(s as tinyint); cast(s as decimal(10,2));
i / 0; i / i; i % i; pmod(i, i); d / 0; sqrt(d); ln(d); log2(d); log10(d); asin(d); year(s); month(s); day(s); hour(s);
unix_timestamp(s); datediff(s, '2020-01-01'); datediff(dt, s); cast(d as decimal(3,1)); cast(pr as decimal(3,1));
cast(i as decimal(2,0)); cast(l as decimal(10,0)); pr / pr; pr * pr; nullif(i, 5); nullif(i, 0); if(i > 0, i, null);
case when i > 0 then i end; case i when 5 then 7 when 1 then null end; cast(l as int); cast(d as int);
cast(d as bigint); length(s); instr(s, 'x'); factorial(i); months_between(dt, s); floor(pr / i); abs(cast(s as int));
-cast(s as int); greatest(i, null); i; d; pr; l; s
"""
_TEXTS = """
substr(s, 5); split(s, 'x')[1]; concat(s, null); nullif(s, '1'); if(i > 0, s, null); case when i > 0 then s end;
date_format(s, 'yyyy'); substring_index(s, 'x', 1); cast(cast(s as int) as string); lower(s); trim(s); s
"""
_DAYS = "cast(s as date); to_date(s); date_add(s, 1); nullif(dt, date '2020-01-01'); if(i > 0, dt, null); dt; s"
_FORMS = """
{x} in ({a}, {b}); {x} in ({a}, {b}, {c}); {x} not in ({a}, {b}); not ({x} in ({a}, {b}, {c})); {x} in ({c});
{x} not in ({c}); {x} between {a} and {b}; {x} not between {a} and {b}; {x} = {a}; {x} <> {a}; {x} < {b};
not ({x} < {b}); {x} >= {a}; {x} is null; {x} is not null; {x} in ({a}, {c}, null); ({x} = {a}) = true;
({x} < {b}) = false; ({x} < {b}) is false; ({x} < {b}) is not true; not (({x} >= {b}) = true);
({x} in ({a}, {b})) = false
"""
#: Dates that Hive's functions give as text, and conditions over them.
_MOVED = """
add_months(dt, 1); add_months(dt, -12); last_day(dt); next_day(dt, 'MO'); trunc(dt, 'MM'); trunc(dt, 'YEAR');
add_months(s, 1); last_day(s); add_months('2020-01-31', i)
"""
_OF_MOVED = """
{x} = '2020-02-29'; {x} = '2020-2-29'; {x} = '2020-02-29 '; {x} <> '2020-2-29'; {x} < '2020'; {x} >= '2020-3';
{x} < '99'; {x} = date '2020-02-29'; {x} <= date '2020-01-31'; {x} = timestamp '2020-02-29 00:00:00';
{x} in ('2020-02-29', '2020-1-31'); {x} in (date '2020-02-29'); {x} between '2020-01-31' and '2020-2-29';
{x} between date '2020-01-31' and date '2020-02-29'; {x} like '2020-0%'; {x} is null; {x} = dt; {x} > dt; {x} = s;
{x} <= s; {x} = 2020; year({x}) = 2020; substr({x}, 1, 7) = '2020-02'; date_format({x}, 'yyyy-MM') = '2020-02';
datediff({x}, dt) > 10; date_add({x}, 1) = date '2020-03-01'; last_day({x}) = '2020-02-29'; weekofyear({x}) = 5;
dayofweek({x}) = 1; to_date({x}) = date '2020-02-29'; cast({x} as date) >= date '2020-02-01';
cast({x} as timestamp) < timestamp '2020-02-01 00:00:00'; concat({x}, 'x') = '2020-02-29x'; length({x}) = 10;
months_between({x}, dt) = 1; quarter({x}) = 1; unix_timestamp({x}) is null; trunc({x}, 'MM') = '2020-02-01'
"""


def _split(texts: str) -> list[str]:
    return [text.strip() for text in texts.split(";")]


def conditions() -> Iterator[str]:
    """Every condition that is asked."""
    for operands, (a, b, c) in (
        (_NUMBERS, ("0", "1", "9")),
        (_TEXTS, ("''", "'1'", "'abc'")),
        (_DAYS, ("date '1970-01-01'", "date '1970-01-02'", "date '2020-01-01'")),
    ):
        for form in _split(_FORMS):
            for x in _split(operands):
                yield form.format(x=x, a=a, b=b, c=c)
    for form in _split(_OF_MOVED):
        for x in _split(_MOVED):
            yield form.format(x=x)


def schema() -> Schema:
    return Schema([Field(name, Type.parse(of)) for name, (of, _) in TABLE.items()])


def values(name: str) -> list[object]:
    """The values of a column on all rows."""
    of, texts = TABLE[name]
    return [None if text is None else value_of_text(text, Type.parse(of)) for text in texts]


@functools.cache
def answers() -> dict[str, dict[str, str]]:
    return dict(json.loads(lzma.decompress(DATA.read_bytes()))) if DATA.exists() else {}
