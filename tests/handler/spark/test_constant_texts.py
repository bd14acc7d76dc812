"""Functions of constant texts are what Spark makes of them, for named and for drawn arguments."""

from __future__ import annotations

import datetime
from random import Random

from pyspark.sql import SparkSession

from tests.evaluator.functions.test_constant_texts import CASES
from tests.evaluator.functions.test_constants import constant_in, is_same
from tests.sampling import examples

_FORMS = {
    "replace": "tt tt ttt",
    "concat": "tt it ti tit",
    "concat_ws": "tt ttt",
    "upper": "t",
    "lower": "t",
    "initcap": "t",
    "reverse": "t",
    "translate": "ttt",
    "right": "ti",
    "lpad": "ti tit",
    "rpad": "ti tit",
    "btrim": "t tt",
    "substring_index": "tti",
    "to_date": "d",
    "instr": "tt",
    "locate": "tt tti",
    "split_part": "tti",
    "hex": "t i",
    "ascii": "t",
    "elt": "itt ittt",
    "ltrim": "t tt",
    "rtrim": "t tt",
    "pmod": "nn",
    "mod": "nn",
    "ceil": "ni",
    "floor": "ni",
    "round": "ni",
    "weekofyear": "d",
    "dayofweek": "d m",
    "next_day": "dw",
    "months_between": "mm dd",
    "unix_timestamp": "m",
    "unix_millis": "m",
    "timestamp_millis": "i",
    "make_timestamp": "yccccc",
    "date_format": "mp",
    "from_unixtime": "ip",
    "regexp_replace": "trt",
    "timestampdiff": "umm",
    "timestampadd": "uim",
    "date_part": "fm",
}
_WORDS = {
    "p": ("'d.M.yyyy'", "'EEE MMM dd'", "'hh:mm a'", "'yyyyDDD'", "'yy-MM-dd HH:mm:ss.SSS'", "'EEEE d MMMM y'"),
    "r": ("'[aA]'", "'[^a-z]+'", "'b'", "'[ .-]'", "'ab+'"),
    "u": ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND"),
    "f": ("'year'", "'week'", "'dow'", "'doy'", "'second'", "'hour'", "'quarter'", "'yearofweek'"),
    "w": ("'MON'", "'sunday'", "'fr'"),
}


def drawn(random: Random) -> str:
    name = random.choice(list(_FORMS))
    arguments = []
    for kind in random.choice(_FORMS[name].split()):
        if kind == "t":
            arguments.append("'" + "".join(random.choices("aAbiI .-\u00e9\u4e16", k=random.randint(0, 6))) + "'")
        elif kind == "i":
            arguments.append(str(random.randint(-4, 8)))
        elif kind == "c":
            arguments.append(str(random.randint(1, 28)))
        elif kind == "y":
            arguments.append(str(random.randint(1900, 2100)))
        elif kind == "n":
            arguments.append(
                random.choice(("{0}", "{0}.{1}", "-{0}.{1}")).format(random.randint(1, 99), random.randint(1, 999))
            )
        elif kind == "m":
            seconds = random.choice((10**9, 4 * 10**9, 10**6)) * random.uniform(-1, 1)
            moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(
                seconds=round(seconds, random.choice((0, 3, 6)))
            )
            arguments.append(f"timestamp '{moment}'")
        elif kind in _WORDS:
            arguments.append(random.choice(_WORDS[kind]))
        else:
            parts = [
                str(random.randint(1583, 2400)),
                *(str(random.randint(1, 12)).zfill(random.randint(1, 2)) for _ in "md"),
            ]
            arguments.append("'" + "-".join(parts[: random.randint(1, 3)]) + "'")
    return f"{name}({', '.join(arguments)})"


def test_a_day_by_name_is_what_spark_makes_of_the_clock(spark: SparkSession) -> None:
    """``tests/handler/sql/test_days_by_name.py`` says what SQL text makes of them."""
    pairs = {
        "date 'today'": "current_date()",
        "date ' Now '": "current_date()",
        "date 'yesterday'": "date_add(current_date(), -1)",
        "date 'tomorrow'": "date_add(current_date(), 1)",
        "date 'epoch'": "date '1970-01-01'",
        "date '2020-01-31 10:00:00'": "date '2020-01-31'",
        "timestamp 'today'": "cast(current_date() as timestamp)",
        "timestamp 'yesterday'": "cast(date_add(current_date(), -1) as timestamp)",
        "timestamp 'epoch'": "timestamp_seconds(0)",
        "date_trunc('hour', timestamp 'now')": "date_trunc('hour', current_timestamp())",
    }
    tests = [f"{name} = {same}" for name, same in pairs.items()]
    for _ in range(3):  # a day may end between two of them
        row = spark.sql("select " + ", ".join(tests)).first()
        if row is not None and all(row):
            return
    assert row is not None
    assert [test for test, holds in zip(tests, row, strict=True) if not holds] == []


def test_a_constant_text_is_what_spark_computes(spark: SparkSession) -> None:
    random = Random(18)
    texts = [*CASES, *{drawn(random) for _ in range(examples(117, at_night=5_000))}]
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        typed = spark.sql("select " + ", ".join(f"{text} as c{n}" for n, text in enumerate(texts)))
        types = [field.dataType.simpleString() for field in typed.schema]
        row = typed.selectExpr(*(f"cast(c{n} as string)" for n in range(len(texts)))).first()
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    decided = 0
    for text, value, kind in zip(texts, row, types, strict=True):
        constant = constant_in(text, "spark")
        if constant is not None:
            decided += 1
            assert is_same(constant, value, kind), (text, value, constant)
    assert decided > len(texts) // 2
