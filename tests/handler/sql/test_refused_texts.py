"""``parse`` raises nothing but SqlError, whatever the text is, and no small text takes long."""

import random
import time

import pytest

from handler.sql import SqlError, parse
from tests.handler.sql.random_texts import random_text

#: Far above what the texts below need, also on a loaded machine: each takes milliseconds of CPU time.
CPU_SECONDS = 5.0


def refused(text, engine="spark"):
    with pytest.raises(SqlError) as raised:
        parse(text, engine)
    message = str(raised.value)
    message.encode("utf-8")
    assert "\n" not in message
    assert len(message) < 400
    return message


def reads_or_refuses(text, engine):
    """Whether a text is read, or refused for a cause that was foreseen."""
    error = None
    try:
        return bool(str(parse(text, engine)))
    except SqlError as refusal:
        error = refusal
    str(error).encode("utf-8")
    return error.__cause__ is None


@pytest.mark.parametrize("engine", ["spark", "hive"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("i < 1600e", "1600e is not a number"),
        ("i < 1.5e", "1.5e is not a number"),
        ("i < -1600e", "1600e is not a number"),
        ("i = 1e99999999982.5", ""),
        ("${x} ^ a -> 1.5BD . b::date", "BD"),
        (".2.3 != i", ".2.3 is not a number"),
        ("a = CAST(1 AS decimal(\u00b2,1))", "decimal(\u00b2, 1) is not a type"),
        ("a = CAST(1 AS decimal(1,2,3))", "decimal(1, 2, 3) is not a type"),
        ("a = CAST(1 AS decimal(39,0))", "decimal(39, 0) is not a type"),
        ("a = CAST(1 AS decimal(5,6))", "decimal(5, 6) is not a type"),
        ("a = CAST(1 AS decimal(0))", "decimal(0) is not a type"),
        (f"a = CAST(1 AS decimal({'9' * 5000}))", "is not a type"),
        ("a = '\ud800'", "U+D800"),
        ("\udfff = 1", "U+DFFF"),
        ("a = '\ud83d\ude00'", "U+D83D"),
        ("", "empty"),
        (" \t\n ", "empty"),
        ("-- a comment", "empty"),
        ("a = 'x", "not closed"),
        ("a = `x", "not closed"),
        ('a = "x', "not closed"),
        ("a = 1 /* x", ""),
        ("(" * 100_000, ""),
    ],
)
def test_a_text_that_is_no_condition_is_an_sql_error(text, why, engine):
    assert why in refused(text, engine)


@pytest.mark.parametrize("length", ["0", "9" * 5_000, "\u0663", "1.5", "x"])
def test_a_length_that_no_type_has(length):
    assert "is not a type" in refused(f"a = CAST(1 AS varchar({length}))", "hive")


@pytest.mark.parametrize("text", ["\x00", "a = '\x00'", "struct(+1..2, 1.5BD) = i", "a = b'x'", "a = 'x\ufffe'"])
def test_odd_characters_are_read_or_refused(text):
    for engine in ("spark", "hive"):
        assert reads_or_refuses(text, engine)


@pytest.mark.parametrize("suffix", ["", "L", "S", "Y", "BD", "D", "F"])
def test_integers_of_more_digits_than_python_converts(suffix):
    for digits in (4_299, 4_300, 4_301, 100_000):
        assert "no type holds" in str(parse(f"i = {'9' * digits}{suffix}", "spark"))
        assert "no type holds" in str(parse(f"i = -{'9' * digits}{suffix}", "hive"))


def test_the_reason_for_a_long_number_is_short():
    assert len(str(parse(f"i = {'9' * 100_000}", "spark"))) < 200


@pytest.mark.parametrize("text", ["i = 1_000", "i = \u0661\u0662", "i = \u00b2"])
def test_digits_that_only_python_reads_are_no_number(text):
    for engine in ("spark", "hive"):
        try:
            assert "1000" not in str(parse(text, engine))
            assert "12" not in str(parse(text, engine))
        except SqlError:
            pass


@pytest.mark.parametrize("given", [None, 42, 1.5, True, b"a = 1", bytearray(b"a = 1"), ["a = 1"], object()])
def test_anything_but_a_text_is_a_type_error(given):
    with pytest.raises(TypeError, match="SQL text"):
        parse(given, "spark")


@pytest.mark.parametrize("engine", ["postgres", "", None, 5, "Spark"])
def test_an_engine_that_is_not_known_is_a_value_error(engine):
    with pytest.raises(ValueError, match="spark"):
        parse("a = 1", engine)


def test_a_message_shows_no_control_characters():
    message = refused("a = \x1b[31m\x07\u202e\u2028 ) x")
    assert all(character.isprintable() for character in message)


@pytest.mark.parametrize(
    "text",
    [
        "a = repeat('x', 1000000000)",
        "a = rpad('x', 1000000000, 'y')",
        "a = space(2147483647)",
        "a = pow(10, 1000000000)",
        "a = 10 * 1e308 * 1e308",
        "a = 1e1000000000",
        "a = 1e-1000000000",
        "a = 1e1000000000BD",
        "a = 1e-1000000000BD",
        "a = 1e999999999L",
        "CAST(1e999999999999 AS int) = a",
        "CAST('1e999999999999' AS decimal(38,0)) = a",
        "CAST(1e-999999999999 AS decimal(38,38)) = a",
        "a RLIKE '(a+)+$'",
        "a RLIKE '" + "(a*)*" * 2_000 + "'",
        "a RLIKE '" + "(" * 5_000 + "'",
        "a LIKE '" + "%_" * 5_000 + "'",
        "a = DATE '" + " " * 20_000 + "x'",
        "a = TIMESTAMP '2020-01-01 00:00:00" + " " * 20_000 + "'",
        "a = TIMESTAMP '2020-01-01 00:00:00 " + "x " * 10_000 + "'",
        "CAST(a AS " + "array<" * 2_000 + "int" + ">" * 2_000 + ") = 1",
        "CAST(a AS " + "struct<x:" * 300 + "int" + ">" * 300 + ") = 1",
        "a ILIKE " + "concat(" * 300 + "'x'" + ")" * 300,
        "NOT " * 3_000 + "a = 1",
        "a" + "[0]" * 3_000 + " = 1",
        "a" + "::int" * 2_000 + " = 1",
        "'" * 10_001 + " = a",
        "/*" * 10_000,
        "`" * 10_001 + " = 1",
    ],
    ids=lambda text: text[:24],
)
def test_a_small_text_is_read_or_refused_soon(text):
    before = time.process_time()
    assert reads_or_refuses(text, "spark")
    assert time.process_time() - before < CPU_SECONDS


@pytest.mark.parametrize("seed", range(4))
def test_random_texts_are_read_or_refused(seed):
    random_numbers = random.Random(seed)
    for _ in range(400):
        text = random_text(random_numbers)
        assert reads_or_refuses(text, random_numbers.choice(["spark", "hive"]))


@pytest.mark.parametrize("statement", ["ALTER TABLE x FOO", "SET a b c", "CREATE secret"])
@pytest.mark.parametrize("engine", ["spark", "hive"])
def test_the_text_of_a_statement_reaches_no_log(statement, engine, caplog, capfd):
    with pytest.raises(SqlError, match="a statement inside a condition is not read"):
        parse(f"a IN (WITH c AS ({statement}) SELECT 1)", engine)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
