"""Every form of predicate, from SQL text to the slices that are kept, for Spark and for Hive.

Six slices: what is known of each column in slice A to F. F is unknown in every column, and always kept unless the
filter is never true; D holds nothing but NULL.

        i        j       s                        b            d            dt                    t (UTC)
    A   1..9     5..6    'apple'..'avocado'       true         1.0..2.5     2020-01-01..01-31     2020-01-01 00..06 h
    B   10..19   5..12   'banana'..'blueberry' N  false        -3.0..-1.0   2020-02-10..02-20     2020-01-02 12..18 h
    C   20..29 N 1..3    'Cherry'..'cherry'       false, true  10.0..20.0   2019-12-25..01-05     01-01 22 h..01-02 02 h
    D   N        1..9    N                        N            N            N                     N
    E   10       10      'b%'                     true N       0.5          2020-02-29            2021-06-01 00 h
    F   ?        ?       ?                        ?            ?            ?                     ?
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.types import BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP_LTZ, decimal_type
from evaluator.statistics.columns import from_values
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK
from tests.sampling import examples

SLICES = "ABCDEF"
JANUARY, HOUR = 18_262, 3_600_000_000
MOMENT = JANUARY * 24 * HOUR


def _column(of, lo, hi, nulls):
    return from_values(of, lo, hi, nulls, [10] * 6)


STATISTICS = {
    "i": _column(INT, [1, 10, 20, None, 10, None], [9, 19, 29, None, 10, None], [0, 0, 2, 10, 0, None]),
    "j": _column(INT, [5, 5, 1, 1, 10, None], [6, 12, 3, 9, 10, None], [0, 0, 0, 0, 0, None]),
    "s": _column(
        STRING,
        ["apple", "banana", "Cherry", None, "b%", None],
        ["avocado", "blueberry", "cherry", None, "b%", None],
        [0, 1, 0, 10, 0, None],
    ),
    "b": _column(
        BOOLEAN, [True, False, False, None, True, None], [True, False, True, None, True, None], [0, 0, 0, 10, 1, None]
    ),
    "d": _column(
        DOUBLE, [1.0, -3.0, 10.0, None, 0.5, None], [2.5, -1.0, 20.0, None, 0.5, None], [0, 0, 0, 10, 0, None]
    ),
    "a": _column(
        decimal_type(10, 2),
        [Decimal("1.10"), 5, -1, None, Decimal("2.50"), None],
        [Decimal("1.20"), 6, 1, None, Decimal("2.50"), None],
        [0, 0, 0, 10, 0, None],
    ),
    "dt": _column(
        DATE,
        [JANUARY, JANUARY + 40, JANUARY - 7, None, JANUARY + 59, None],
        [JANUARY + 30, JANUARY + 50, JANUARY + 4, None, JANUARY + 59, None],
        [0, 0, 0, 10, 0, None],
    ),
    "t": _column(
        TIMESTAMP_LTZ,
        [MOMENT, MOMENT + 36 * HOUR, MOMENT + 22 * HOUR, None, MOMENT + 517 * 24 * HOUR, None],
        [MOMENT + 6 * HOUR, MOMENT + 42 * HOUR, MOMENT + 26 * HOUR, None, MOMENT + 517 * 24 * HOUR, None],
        [0, 0, 0, 10, 0, None],
    ),
    "st.x": _column(INT, [1, 10, 20, None, 10, None], [9, 19, 29, None, 10, None], [0, 0, 2, 10, 0, None]),
}
SCHEMA = Schema([Field(name, known.type) for name, known in STATISTICS.items()])


def kept(expression: ex.HudiExpression, semantics=SPARK) -> str:
    bound = bind(expression, SCHEMA, semantics)
    result = evaluate(bound, len(SLICES), [StatisticsProvider("column_stats", STATISTICS)])
    return "".join(name for name, keep in zip(SLICES, result.keep.tolist(), strict=True) if keep)


#: form: [(filter, slices kept)]; a third member is for Hive where it differs.
FORMS = {
    "comparisons": [
        ("i = 5", "AF"),
        ("i <> 10", "ABCF"),
        ("i != 10", "ABCF"),
        ("i < 10", "AF"),
        ("i <= 10", "ABEF"),
        ("i > 19", "CF"),
        ("i >= 19", "BCF"),
        ("s = 'banana'", "BCF"),
        ("d < 0.0", "BF"),
        ("a = 1.15", "AF"),
        ("dt = date'2020-02-29'", "EF"),
        ("t >= timestamp'2020-01-02 00:00:00'", "BCEF"),
    ],
    "null-safe equality": [("i <=> 5", "AF"), ("i <=> NULL", "CDF"), ("NOT i <=> 10", "ABCDF"), ("i <=> j", "ABEF")],
    "IN": [
        ("i IN (5, 25)", "ACF"),
        ("i IN (5, NULL)", "AF"),
        ("i NOT IN (10, 11)", "ABCF"),
        ("i NOT IN (10, NULL)", ""),
        ("s IN ('apple', 'pear')", "ACF"),
        ("dt IN (date'2020-02-29', date'2018-01-01')", "EF"),
    ],
    "BETWEEN": [
        ("i BETWEEN 8 AND 10", "ABEF"),
        ("i NOT BETWEEN 0 AND 10", "BCF"),
        ("s BETWEEN 'b' AND 'bb'", "BCEF"),
        ("i BETWEEN 12 AND 8", ""),
    ],
    "null tests": [
        ("i IS NULL", "CDF"),
        ("i IS NOT NULL", "ABCEF"),
        ("NOT i IS NULL", "ABCEF"),
        ("isnull(i)", "CDF"),
        ("isnotnull(i)", "ABCEF"),
    ],
    "IS DISTINCT FROM": [
        ("i IS DISTINCT FROM 10", "ABCDF"),
        ("i IS NOT DISTINCT FROM 10", "BEF"),
        ("i IS DISTINCT FROM NULL", "ABCEF"),
    ],
    "LIKE": [
        ("s LIKE 'b%'", "BCEF"),
        ("s LIKE 'ba%'", "BCF"),
        ("s LIKE 'banana'", "BCF"),
        ("s LIKE 'b_n%'", "BCF"),
        (r"s LIKE 'b\\%'", "CEF"),
        ("s LIKE 'b#%' ESCAPE '#'", "CEF"),
        ("s LIKE '%z'", "ABCF"),
        ("s LIKE '_'", "ABCF"),
        ("s NOT LIKE 'b%'", "ACF"),
        ("s LIKE '%'", "ABCEF"),
        ("s LIKE ''", "F"),
    ],
    "NOT over all": [
        ("NOT i = 10", "ABCF"),
        ("NOT i < 20", "CF"),
        ("NOT (i < 10 OR i > 19)", "BEF"),
        ("NOT (i < 20 AND s LIKE 'a%')", "BCEF"),
        ("NOT i IN (10)", "ABCF"),
        ("NOT NOT i = 5", "AF"),
        ("NOT (i IS NULL OR i > 9)", "AF"),
    ],
    "boolean columns": [
        ("b", "ACEF"),
        ("NOT b", "BCF"),
        ("b = true", "ACEF"),
        ("b = false", "BCF"),
        ("b IS TRUE", "ACEF"),
        ("b IS NOT TRUE", "BCDEF"),
        ("b <=> false", "BCF"),
        ("b AND i < 10", "AF"),
    ],
    "column against column": [
        ("i < j", "ABF"),
        ("i > j", "ABCF"),
        ("i = j", "ABEF"),
        ("i <> j", "ABCF"),
        ("i >= j", "ABCEF"),
        ("d < i", "ABCEF", "ABCDEF"),
        ("i < i", ""),
    ],
    "struct fields": [("st.x = 5", "AF"), ("st.x > 19", "CF"), ("st.x IS NULL", "ABCDEF"), ("st.x IN (10)", "BEF")],
    "constants on the left": [
        ("5 = i", "AF"),
        ("10 > i", "AF"),
        ("19 < i", "CF"),
        ("date'2020-02-01' <= dt", "BEF"),
        ("10 <> i", "ABCF"),
    ],
    "CASE, COALESCE, IF, NVL": [
        ("coalesce(i, 0) = 0", "CDF"),
        ("nvl(i, 0) = 5", "ACF"),
        ("coalesce(i, j) = 5", "ACDF"),
        ("if(b, 1, 2) = 3", ""),
        ("if(b, 1, 2) = 1", "ACEF"),
        ("if(i < 10, 'low', 'high') = 'low'", "AF"),
        ("CASE WHEN i < 10 THEN 1 WHEN i < 20 THEN 2 ELSE 3 END = 2", "BEF"),
        ("CASE i WHEN 10 THEN 1 END = 1", "BEF"),
        ("CASE WHEN s RLIKE 'x' THEN i ELSE j END = 25", "CF"),
        ("CASE WHEN i IS NULL THEN 1 ELSE 0 END = 1", "CDF"),
        ("nvl2(i, 1, 2) = 2", "CDF"),
        ("nullif(i, 10) = 10", "BF"),
        ("nullif(i, j) IS NULL", "ABCDEF"),
        ("CASE WHEN b THEN i ELSE j END > 15", "CF"),
        ("CASE WHEN b THEN i END > 25", "CF"),
        ("nullif(i, 5) > 25", "CF"),
        ("nullifzero(i - 10) IS NULL", "BCDEF"),
        ("nullifzero(i) > 25", "CF"),
        ("zeroifnull(i) = 0", "CDF"),
    ],
    "constants": [
        ("true", "ABCDEF"),
        ("false", ""),
        ("NULL", ""),
        ("1 = 1", "ABCDEF"),
        ("1 = 2", ""),
        ("i = NULL", ""),
        ("i = 5 AND 1 = 2", ""),
        ("i = 5 OR 1 = 1", "ABCDEF"),
    ],
    "regular expressions": [
        ("s RLIKE '^b'", "BCEF"),
        ("s RLIKE '^ba.*n'", "BCF"),
        ("regexp_like(s, '^ba+')", "BCF"),
        ("s RLIKE '^bz?'", "BCEF"),
        ("s RLIKE '^a|b'", "ABCDEF"),
        ("s RLIKE '(?i)^x'", "ABCDEF"),
        ("NOT s RLIKE '^b'", "ACF"),
        ("NOT s RLIKE '^b.'", "ABCDEF"),
        ("s RLIKE '^b%'", "CEF"),
        ("s RLIKE NULL", ""),
    ],
    "Unknown": [
        ("s RLIKE 'x'", "ABCDEF"),
        ("s RLIKE 'x' AND i = 5", "AF"),
        ("s RLIKE 'x' OR i = 5", "ABCDEF"),
        ("NOT s RLIKE 'x'", "ABCDEF"),
        ("NOT (s RLIKE 'x' OR i < 20)", "CF"),
        ("nosuch(i) = 3", "ABCDEF"),
    ],
    "arithmetic": [
        ("i + 1 = 10", "AF"),
        ("i - 10 >= 10", "CF"),
        ("i * -1 > -10", "AF"),
        ("-i > -10", "AF"),
        ("abs(d) = 2.0D", "ABF"),
        ("i % 100 = 25", "CF"),
        ("i + j > 40", "F"),
        ("i / 2 > 9.9D", "CF"),
        ("floor(d) = 0", "EF"),
        ("round(d) > 15", "CF"),
        ("sqrt(d) > 4", "BCF"),
        ("isnan(d)", "F"),
        ("NOT isnan(d)", "ABCDEF"),
        ("pmod(i, 100) = 5", "AF"),
        ("greatest(i, j) < 5", "CDF"),
    ],
    "casts": [
        ("cast(i AS bigint) = 5", "AF"),
        ("cast(i AS string) = '5'", "AF"),
        ("cast(d AS int) = 0", "EF"),
        ("cast(dt AS timestamp) < timestamp'2020-01-01 00:00:00'", "CF"),
        ("cast(t AS date) = date'2020-01-01'", "ACF"),
        ("cast(i AS tinyint) = 5", "AF"),
        ("cast(i AS boolean) = false", "F"),
    ],
    "dates": [
        ("year(dt) = 2019", "CF"),
        ("month(dt) = 2", "BCEF"),
        ("day(dt) = 29", "ACEF"),
        ("quarter(dt) = 4", "CF"),
        ("date_add(dt, 10) > date'2020-03-05'", "EF"),
        ("datediff(dt, date'2020-01-01') < 0", "CF"),
        ("to_date(t) = date'2020-01-02'", "BCF"),
        ("hour(t) = 12", "BCF"),
        ("last_day(dt) = date'2019-12-31'", "CF"),
        ("trunc(dt, 'MM') = date'2020-02-01'", "BEF"),
        ("add_months(dt, 1) > date'2020-03-20'", "EF"),
        ("date_format(dt, 'MM/dd') = '02/29'", "CEF"),
        ("date_format(t, 'HH') > '20'", "CF"),
        ("unix_timestamp(t) < 1577836801", "AF"),
        ("date_trunc('day', t) = timestamp'2020-01-02 00:00:00'", "BCF"),
    ],
    "text functions": [
        ("lower(s) = 'apple'", "ACF"),
        ("upper(s) > 'D'", "CF"),
        ("substr(s, 1, 2) = 'ba'", "BCF"),
        ("substring(s, 1, 1) < 'b'", "ACF"),
        ("concat('x', s) = 'xbanana'", "BCF"),
        ("length(s) = 2", "ABCEF"),
        ("left(s, 1) = 'b'", "BCEF"),
        ("trim(s) = 'b%'", "CEF"),
    ],
}
ROWS = [
    pytest.param(engine, *row[:1], row[-1] if engine == "hive" else row[1], id=f"{form}, {engine}: {row[0]}")
    for form, rows in FORMS.items()
    for row in rows
    for engine in ("spark", "hive")
]


@pytest.mark.parametrize(("engine", "text", "expected"), ROWS)
def test_a_form_keeps_just_the_slices_that_may_match(engine: str, text: str, expected: str) -> None:
    assert kept(parse(text, engine), HIVE if engine == "hive" else SPARK) == expected


def test_a_very_long_list() -> None:
    members = ", ".join(str(100 + 2 * n) for n in range(examples(2_340, at_night=100_000)))
    assert kept(parse(f"i IN ({members}, 5)", "spark")) == "AF"
    assert kept(parse(f"i NOT IN ({members}, 10)", "spark")) == "ABCF"
    assert kept(parse(f"i NOT IN ({members}, NULL)", "spark")) == ""


@pytest.mark.parametrize("depth", [10_000])
def test_a_tree_of_10_000_levels(depth: int) -> None:
    leaf = ex.Compare("=", ex.Column(("i",)), ex.Literal(5, INT))
    other = ex.Compare(">", ex.Column(("i",)), ex.Literal(25, INT))
    negated: ex.HudiExpression = leaf
    nested: ex.HudiExpression = leaf
    for _ in range(depth):
        negated = ex.Not(negated)
        nested = ex.And((ex.Or((nested, other)), ex.Not(ex.Not(leaf))))
    assert kept(negated) == "AF"
    assert kept(nested) == "AF"
    deep: ex.Operand = ex.Column(("i",))
    for _ in range(depth):
        deep = ex.Call("+", (deep, ex.Literal(0, INT)))
    assert kept(ex.Compare("=", deep, ex.Literal(5, INT))) == "AF"
