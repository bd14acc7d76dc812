"""Functions of constant texts: what they give in Spark, and what is left open.

``tests/handler/spark/test_constant_texts.py`` asks Spark for the same, and for drawn arguments.
"""

from __future__ import annotations

import pytest

from evaluator.language import expression as ex
from evaluator.language.semantics import ENGINES
from tests.evaluator.functions.test_constants import constant_in

#: SQL -> the constant, a decimal as a fraction; "" where it is left open although Spark has a value.
CASES = {
    "replace('BUILD_NG', '_', 'I')": "'BUILDING'",
    "replace('BUILDING', '', 'x')": "'BUILDING'",
    "replace('xBUILDING', 'x')": "'BUILDING'",
    "concat(1994 + 1, '-01-01')": "'1995-01-01'",
    "concat('a', -1, 'b')": "'a-1b'",
    "concat('a', 1.50)": "",
    "concat_ws('-', '1995', '01', '01')": "'1995-01-01'",
    "upper('building')": "'BUILDING'",
    "lower('INDIA')": "'india'",
    "upper('stra\u00dfe')": "",
    "initcap('saudi ARABIA')": "'Saudi Arabia'",
    "initcap('  two')": "'  Two'",
    "initcap('o-neil')": "",
    "reverse('ABC')": "'CBA'",
    "translate('building', 'bdgilnu', 'BDGILNU')": "'BUILDING'",
    "translate('abcab', 'aba', 'xy')": "'xycxy'",
    "right('xBUILDING', 8)": "'BUILDING'",
    "right('ab', 5)": "'ab'",
    "right('ab', 0)": "''",
    "right('ab', -1)": "''",
    "lpad('7', 3, '0')": "'007'",
    "lpad('abc', 2, '0')": "'ab'",
    "lpad('abc', 5, '')": "'abc'",
    "rpad('BUILD', 8, 'ING')": "'BUILDING'",
    "rpad('a', -1, 'b')": "''",
    "btrim('  BUILDING ')": "'BUILDING'",
    "btrim('xyBUILDINGx', 'xy')": "'BUILDING'",
    "substring_index('a.b.c', '.', 2)": "'a.b'",
    "substring_index('a.b.c', '.', -2)": "'b.c'",
    "substring_index('a.b.c', '.', 0)": "''",
    "substring_index('a.b.c', '.', -9)": "'a.b.c'",
    "cast('1995-1-1' as date)": "DATE '1995-01-01'",
    "cast('1995-01-01 00:00:00' as date)": "DATE '1995-01-01'",
    "cast('1995-01-01T' as date)": "DATE '1995-01-01'",
    "cast('1995' as date)": "DATE '1995-01-01'",
    "to_date('1995-01-01 10:00:00')": "DATE '1995-01-01'",
    "to_date('1995-2')": "DATE '1995-02-01'",
    "to_date('1995-02', 'yyyy-MM')": "DATE '1995-02-01'",
    "to_date('1995', 'yyyy')": "DATE '1995-01-01'",
    "date '1994-01-01' + interval '6' month * 2": "DATE '1995-01-01'",
    "date '1994-01-01' + 3 * interval '10' day": "",
    "timestamp '1994-01-01 00:00:00' + 3 * interval '10' day": "TIMESTAMP '1994-01-31 00:00:00'",
    "0.10 / 2": "1/20",
    "1 / 20.0": "1/20",
    "-1 / 8.0": "-1/8",
    "1.0 / 3": "",
    "1 / 0.0000001": "",
}


@pytest.mark.parametrize("text", CASES)
def test_a_function_of_texts_has_the_value_of_spark_or_none(text: str) -> None:
    for engine in ENGINES:
        constant = constant_in(text, engine)
        shown = "" if constant is None else str(ex.Literal(constant.interval.lo, constant.type))
        if engine.startswith("spark"):
            assert shown == CASES[text], engine
        else:
            assert shown in ("", CASES[text]), engine


@pytest.mark.parametrize("engine", ["spark", "hive"])
def test_an_interval_may_have_the_number_of_its_digits_as_the_specification_of_tpch_writes_it(engine: str) -> None:
    plain, long = (constant_in(f"date '1998-12-01' - interval '90' day{digits}", engine) for digits in ("", " (3)"))
    assert plain is not None
    assert plain == long
