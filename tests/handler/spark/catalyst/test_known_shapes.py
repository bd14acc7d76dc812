"""A text that differs from a known one in its constants alone means what Spark's analyser makes of it."""

from __future__ import annotations

from random import Random

import pytest
from pyspark.errors import PySparkException

from handler.catalyst.translation import condition_of
from handler.spark.catalyst import conditions
from handler.spark.catalyst.analysis import analyse
from handler.spark.catalyst.conditions import ConditionError, to_expression, together
from handler.spark.catalyst.known_shapes import shape_of
from tests.sampling import examples

COLUMNS = {
    "d": "date",
    "t": "timestamp_ltz",
    "n": "timestamp_ntz",
    "s": "string",
    "b": "boolean",
    "y": "tinyint",
    "h": "smallint",
    "i": "int",
    "l": "bigint",
    "f": "float",
    "x": "double",
    "dec": "decimal(10,2)",
    "dec30": "decimal(30,5)",
}
STRINGS = ("a", "", " ", "5", "-7.5", "2020-02-30", "2020-01-01", "2020-01-01 10:00:00", "today", "NaN", "null", "1e3")


@pytest.fixture
def session(spark):
    return spark.newSession()


@pytest.fixture
def columns(spark):
    return spark.createDataFrame([], ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())).schema


@pytest.fixture
def analysed(monkeypatch):
    """The conditions that went through the analyser, in order."""
    texts = []

    def recorded(spark, schema, condition, qualifier):
        texts.append(condition)
        return analyse(spark, schema, condition, qualifier)

    monkeypatch.setattr(conditions, "analyse", recorded)
    return texts


def fresh(session, columns, text):
    """What Spark's analyser makes of a text."""
    ((nodes, exact),), _ = analyse(session, columns, text, ())
    return condition_of(nodes, exact, session.conf.get("spark.sql.session.timeZone"))


def constant(random, kind):
    """A constant in SQL: a string, or a number with so many digits before the point and after it."""
    if kind == "string":
        return f"'{random.choice(STRINGS)}'"
    before, after = kind
    sign = random.choice(("", "", "-"))
    number = sign + str(random.randrange(10 ** (before - 1) if before > 1 else 0, 10**before))
    return number + ("." + "".join(random.choices("0123456789", k=after)) if after else "")


def drawn(random):
    """A text with a place for each constant, and what constants go there."""
    kinds = []

    def place():
        digits = (random.choice((1, 1, 2, 3, 5, 10, 12)), random.choice((0, 0, 0, 1, 3)))
        kinds.append("string" if random.random() < 0.4 else digits)
        return "{}"

    def leaf():
        name = random.choice(list(COLUMNS))
        operator = random.choice(("=", "==", "<", "<=", ">", ">=", "<>", "!="))
        return random.choice(
            (
                lambda: f"{name} {operator} {place()}",
                lambda: f"{name} {operator} {place()}",
                lambda: f"{place()}{operator}{name}",
                lambda: f"{name} in ({', '.join(place() for _ in range(random.randint(1, 12)))})",
                lambda: f"not {name} {operator} {place()}",
                lambda: f"not ({name} in ({place()}))",
                lambda: f"{name} is {random.choice(('', 'not '))}null",
                lambda: f"{name} {operator} {random.choice(list(COLUMNS))}",
            )
        )()

    def tree(depth):
        if depth == 0 or random.random() < 0.4:
            return leaf()
        return f"({tree(depth - 1)} {random.choice(('and', 'OR'))} {tree(depth - 1)})"

    text = tree(2)
    return text, tuple(kinds)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_shape_means_what_the_analyser_says(session, columns, analysed, ansi):
    session.conf.set("spark.sql.ansi.enabled", ansi)
    random, by_shape, asked = Random(11), 0, 0
    for _ in range(examples(7, at_night=2_000)):
        text, kinds = drawn(random)
        for _ in range(3):
            one = text.format(*(constant(random, kind) for kind in kinds))
            try:
                expected = fresh(session, columns, one)
            except PySparkException:
                with pytest.raises(ConditionError):
                    to_expression(session, columns, one)
                continue
            before = len(analysed)
            assert to_expression(session, columns, one) == expected, one
            asked += 1
            by_shape += len(analysed) == before
    assert by_shape > asked / 5


def test_another_constant_is_not_analysed(session, columns, analysed):
    for day in range(1, 29):
        text = f"l = {day % 10} AND d > '2020-02-{day}'"
        assert to_expression(session, columns, text) == fresh(session, columns, text)
    assert len(analysed) == 1


def test_several_conditions_at_once_need_no_analysis(session, columns, analysed):
    first = [f"i = {number}" for number in (1, 2)]
    for text in first:
        to_expression(session, columns, text)
    found = together(session, columns, ["i = 3", "i = 4"])
    assert found == [fresh(session, columns, text) for text in ("i = 3", "i = 4")]
    assert analysed == first[:1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("b and i = 5", "b and i = 6"),  # a boolean that is compared with a number depends on its value
        ("i = 1", "i = 3000000000"),  # a long
        ("dec = 5", "dec = 55"),  # a decimal of one digit, and of two
        ("dec = 5.5", "dec = 5.55"),
        ("dec = 0.05", "dec = 0.50"),
        ("x = 0", "x = -0"),
        ("s = 'a'", "s = 'it''s'"),  # two strings, or a quote
        ("s = 'a'", "s = 'ä'"),
        ("s = 'a'", "s = 'a\tb'"),
        ("i = 5", "I = 6"),
        ("i = 5", "5 = 6"),
        ("i = 5", "i = NULL"),
        ("i in (1)", "i in (1, 2)"),
        ("i = 5", "i = 5 and i = 6"),
        ("i = 1", "i = 1234567890123456789"),
        ("dec30 = 0.000001", "dec30 = 0.0000001"),
        ("i = 5", "l = 5"),
    ],
)
def test_another_shape_is_analysed(session, columns, analysed, first, second):
    for text in (first, second):
        assert to_expression(session, columns, text) == fresh(session, columns, text)
    assert analysed == [first, second]


def test_a_variable_in_a_string_is_replaced(session, columns, analysed):
    session.conf.set("sargo.day", "2020-01-01")
    texts = ["s = 'a'", "s = '${sargo.day}'"]
    for text in texts:
        assert to_expression(session, columns, text) == fresh(session, columns, text)
    assert "2020-01-01" in str(to_expression(session, columns, texts[1]))
    assert analysed == texts


def test_another_setting_or_zone_is_another_meaning(session, columns, analysed):
    for name, values in {
        "spark.sql.session.timeZone": ("UTC", "Asia/Tokyo"),
        "spark.sql.ansi.enabled": ("true", "false"),
        "spark.sql.caseSensitive": ("false", "true"),
    }.items():
        for value in values:
            session.conf.set(name, value)
            for text in ("t > '2020-01-01 00:00:00'", "t > '2021-01-01 00:00:00'"):
                assert to_expression(session, columns, text) == fresh(session, columns, text)
    assert len(analysed) >= 5
    session.conf.set("spark.sql.caseSensitive", "false")
    to_expression(session, columns, "I = 5")
    session.conf.set("spark.sql.caseSensitive", "true")
    with pytest.raises(ConditionError):
        to_expression(session, columns, "I = 6")


@pytest.mark.parametrize("text", ["i = " + "9" * 6_000, "i = 1" + "0" * 30, "i = 1." + "0" * 5_000, "upper(s) = 'A'"])
def test_what_is_not_plain_has_no_shape(text):
    assert shape_of(text, ["i", "s"], ()) is None
