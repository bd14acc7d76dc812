"""Functions of constant texts are what Spark makes of them, for named and for drawn arguments."""

from __future__ import annotations

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
}


def drawn(random: Random) -> str:
    name = random.choice(list(_FORMS))
    arguments = []
    for kind in random.choice(_FORMS[name].split()):
        if kind == "t":
            arguments.append("'" + "".join(random.choices("aAbiI .-\u00e9\u4e16", k=random.randint(0, 6))) + "'")
        elif kind == "i":
            arguments.append(str(random.randint(-4, 8)))
        else:
            parts = [
                str(random.randint(1583, 2400)),
                *(str(random.randint(1, 12)).zfill(random.randint(1, 2)) for _ in "md"),
            ]
            arguments.append("'" + "-".join(parts[: random.randint(1, 3)]) + "'")
    return f"{name}({', '.join(arguments)})"


def test_a_constant_text_is_what_spark_computes(spark: SparkSession) -> None:
    random = Random(18)
    texts = [*CASES, *{drawn(random) for _ in range(examples(300, at_night=5_000))}]
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
