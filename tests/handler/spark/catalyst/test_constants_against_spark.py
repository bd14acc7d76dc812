"""C7: every constant of SQL text that is computed has the value that Spark gives it, in each mode and zone.

One query for each mode and zone: ``SELECT (text) <=> literal, ...``. A constant that is known up to its last digit lies
between its bounds.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from evaluator.binding.bind import bind_operand
from evaluator.binding.operands import BoundConstant
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import Compare, Literal
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.sql_text import to_sql
from evaluator.language.types import Kind, Type
from handler.sql import parse
from tests.sampling import share

TEXTS = """
abs(-3); abs(-1.5); negative(4); positive(4); floor(2.5); ceil(2.5); floor(-2.5D); round(2.5); round(2); bround(2.5)
exp(0); exp(1); ln(10); log10(100); log2(8); log1p(1); expm1(1); sqrt(16); sign(-3); pow(2, 10); power(10, 3)
greatest(1, 2, 3); least(1.5, 2); greatest('a', 'b'); coalesce(null, 3); nvl(null, 'x'); 7 div 2; -7 div 2; -7 % 3
mod(7, 3); pmod(-7, 3); 7 / 2; 1.1 * 1.1; 1 + 2 * 3; 10 - 2.5; 5 & 3; 5 | 3; 6 ^ 3L; -6 & 3Y
year('2020-02-03'); quarter(date '2020-05-03'); month(timestamp '2020-02-03 10:00:00'); day('2020-02-03')
dayofyear('2020-12-31'); hour(timestamp '2020-02-03 10:11:12'); minute('2020-02-03 10:11:12')
second('2020-02-03 10:11:12'); hour('2020-02-03'); date_add('2020-01-31', 1); date_sub(date '2020-03-01', 1)
datediff('2020-03-01', '2020-02-01'); add_months('2020-01-31', 1); add_months('2020-02-29', 12); last_day('2020-02-03')
to_date('2020-02-03'); to_date('20200203', 'yyyyMMdd'); to_timestamp('2020-02-03 10:00:00')
to_timestamp('03/02/2020', 'dd/MM/yyyy'); trunc('2020-02-03', 'MM'); trunc(date '2020-02-03', 'YEAR')
date_trunc('month', timestamp '2020-02-03 10:00:00'); date_trunc('week', '2020-02-03')
date_trunc('HOUR', '2020-06-03 10:11:12')
date_format('2020-02-03', 'yyyyMM'); date_format(timestamp '2020-02-03 10:00:00', 'yyyy-MM-dd HH')
unix_timestamp(timestamp '2020-02-03 00:00:00'); from_unixtime(1580688000); from_unixtime(1580688000, 'yyyyMMdd')
make_date(2020, 2, 29); lower('ABC'); upper('abc'); length('abc'); trim('  a '); ltrim(' a'); rtrim('a ')
left('abc', 2)
substring('abc', 2); substr('abcdef', 2, 3); substring('abc', -2); concat('a', 'b'); 'a' || 'b'; repeat('ab', 2)
case when 1 < 2 then 3 else 4 end; case 2 when 1 then 'a' when 2 then 'b' end; if(1 > 2, 'x', 'y'); nullif(1, 2)
nullif(1, 1); nvl2(1, 2, 3); cast('5' as int); cast(5 as string); cast('2020-01-02' as date); cast(1.5 as int)
cast('2020-01-02 03:04:05' as timestamp); cast(2.7D as bigint)
cast(date '2020-01-02' as string)
cast(timestamp '2020-01-02 03:04:05' as string); cast(timestamp '2020-01-02 03:04:05.120' as string)
cast(timestamp '2021-03-28 02:30:00' as string); cast(timestamp '2020-01-02 03:04:05' as date); cast(true as int)
cast(1 as boolean); cast(1.55 as decimal(3,1)); cast(-1.55 as decimal(3,1)); cast(99.95 as decimal(3,1))
cast(1.5 as string); cast(100.00 as string); cast(-0.05 as string); cast('1.5' as decimal(3,1)); int('7')
date('2020-01-02'); string(5); timestamp '2020-01-01 00:00:00' + interval 90 minutes
date '2020-01-31' + interval 1 month
date '2020-03-31' - interval '1' month; date '2020-02-29' + interval '1' year; date '2020-01-01' + 30
timestamp '2021-03-27 02:30:00' + interval 1 day; timestamp '2020-01-31 10:00:00' + interval '1' month
extract(year from date '2020-02-03'); floor(datediff('2020-03-01', '2020-02-01') / 7)
dateadd(DAY, 3, date '2020-01-01')
date_add('2020-01-01', cast('7' as int)); dateadd(MONTH, 1, timestamp '2020-01-31 10:00:00')
cast(year('2020-02-03') - 1 as string)
"""


def constants(engine: str, zone: str) -> list[tuple[str, BoundConstant]]:
    """The texts whose value is computed, with it."""
    found = []
    for text in (one.strip() for line in TEXTS.strip().splitlines() for one in line.split(";")):
        comparison = parse(f"({text}) = 1", engine)  # type: ignore[arg-type]
        if not isinstance(comparison, Compare):
            continue
        try:
            bound = bind_operand(comparison.left, Schema(()), Semantics.named(engine, zone))
        except UnsupportedError:
            continue
        assert isinstance(bound, BoundConstant)
        found.append((text, bound))
    return found


def literal(value: Any, of: Type) -> str:
    if of.kind is Kind.DECIMAL and value is not None:
        value = Decimal(Fraction(value).numerator) / Decimal(Fraction(value).denominator)
    if of.kind is Kind.TIMESTAMP:
        return to_sql(Literal(value, of), "spark").replace("TIMESTAMP_NTZ", "TIMESTAMP")
    return to_sql(Literal(bool(value) if of.kind is Kind.BOOLEAN else value, of), "spark")


@pytest.mark.parametrize(
    ("zone", "ansi"), share([(zone, ansi) for zone in ("UTC", "Europe/Berlin") for ansi in ("true", "false")], 2)
)
def test_every_computed_constant_is_what_spark_computes(spark, ansi, zone):
    before = {name: spark.conf.get(name) for name in ("spark.sql.ansi.enabled", "spark.sql.session.timeZone")}
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        computed = constants("spark-ansi" if ansi == "true" else "spark-legacy", zone)
        columns = []
        for number, (text, constant) in enumerate(computed):
            interval = constant.interval
            if not interval.value or interval.is_point:
                test = f"({text}) <=> {literal(interval.lo if interval.value else None, constant.type)}"
            else:
                test = (
                    f"({text}) BETWEEN {literal(interval.lo, constant.type)} AND {literal(interval.hi, constant.type)}"
                )
            columns.append(f"{test} AS c{number}")
        [row] = spark.sql(f"SELECT {', '.join(columns)}").collect()
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    wrong = [
        (text, constant.interval) for (text, constant), same in zip(computed, row, strict=True) if same is not True
    ]
    assert not wrong
    assert len(computed) > 105
