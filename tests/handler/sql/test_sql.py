"""SQL text as HudiExpression: every form, in the dialects of Hive and Spark."""

import json
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from evaluator.language.construction import TRUE, truth_of
from evaluator.language.expression import (
    And,
    Call,
    Cast,
    Column,
    Compare,
    Constant,
    If,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Or,
    Unknown,
    to_text,
    walk,
)
from evaluator.language.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    Kind,
    Type,
    decimal_type,
)
from handler.sql import SqlError, operands, parse

VOID = Type(Kind.VOID)
A, B, S = Column(("a",)), Column(("b",)), Column(("s",))
FIVE = Literal(5, INT)


@pytest.mark.parametrize("engine", ["hive", "spark"])
@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = 5", Compare("=", A, FIVE)),
        ("a == 5", Compare("=", A, FIVE)),
        ("a <> 5", Compare("!=", A, FIVE)),
        ("a != 5", Compare("!=", A, FIVE)),
        ("a < 5", Compare("<", A, FIVE)),
        ("a <= 5", Compare("<=", A, FIVE)),
        ("a > 5", Compare(">", A, FIVE)),
        ("a >= 5", Compare(">=", A, FIVE)),
        ("a <=> 5", Compare("<=>", A, FIVE)),
        ("5 < a", Compare("<", FIVE, A)),
        ("a IS NOT DISTINCT FROM 5", Compare("<=>", A, FIVE)),
        ("a IS DISTINCT FROM 5", Not(Compare("<=>", A, FIVE))),
        ("a IN (5, NULL)", In(A, (FIVE, Literal(None, VOID)))),
        ("a NOT IN (5)", Not(In(A, (FIVE,)))),
        ("a BETWEEN -1 AND 5", And((Compare(">=", A, Literal(-1, INT)), Compare("<=", A, FIVE)))),
        ("a NOT BETWEEN 1 AND 5", Not(And((Compare(">=", A, Literal(1, INT)), Compare("<=", A, FIVE))))),
        ("a IS NULL", IsNull(A)),
        ("a IS NOT NULL", Not(IsNull(A))),
        ("isnull(a)", IsNull(A)),
        ("isnotnull(a)", Not(IsNull(A))),
        ("b", Compare("=", B, Literal(True, BOOLEAN))),
        ("NOT b", Not(Compare("=", B, Literal(True, BOOLEAN)))),
        ("b = false", Compare("=", B, Literal(False, BOOLEAN))),
        ("b IS TRUE", Compare("<=>", B, Literal(True, BOOLEAN))),
        ("b IS NOT FALSE", Not(Compare("<=>", B, Literal(False, BOOLEAN)))),
        ("(a = 5) = true", Compare("=", truth_of(Compare("=", A, FIVE)), TRUE)),
        ("false = (a = 5)", Not(Compare("=", truth_of(Compare("=", A, FIVE)), TRUE))),
        ("(s > 'x') = true", Compare(">", S, Literal("x", STRING))),
        ("s LIKE 'x%'", Like(S, "x%")),
        ("s NOT LIKE 'x%'", Not(Like(S, "x%"))),
        ("s LIKE 'x!_' ESCAPE '!'", Like(S, "x!_", "!")),
        ("s NOT LIKE 'x!_' ESCAPE '!'", Not(Like(S, "x!_", "!"))),
        ("s LIKE ANY ('a%', 'b')", Or((Like(S, "a%"), Like(S, "b")))),
        ("s LIKE ALL ('a%', 'b')", And((Like(S, "a%"), Like(S, "b")))),
        ("s LIKE NULL", Constant(None)),
        ("startswith(s, '5_%')", Like(S, "5\\_\\%%")),
        ("endswith(s, 'x')", Like(S, "%x")),
        ("contains(s, 'x')", Like(S, "%x%")),
        ("TRUE", Constant(True)),
        ("NULL", Constant(None)),
        ("a = b AND a = 5 AND b = 5", And((Compare("=", A, B), Compare("=", A, FIVE), Compare("=", B, FIVE)))),
        ("a = 5 OR (b = 5 AND a = b)", Or((Compare("=", A, FIVE), And((Compare("=", B, FIVE), Compare("=", A, B)))))),
        ("NOT a = 5 OR b = 5", Or((Not(Compare("=", A, FIVE)), Compare("=", B, FIVE)))),
        ("NOT (a = 5 OR b = 5)", Not(Or((Compare("=", A, FIVE), Compare("=", B, FIVE))))),
        ("a = 5 -- a comment", Compare("=", A, FIVE)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_conditions(text, tree, engine):
    assert parse(text, engine) == tree


@pytest.mark.parametrize("engine", ["hive", "spark"])
@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("5", Literal(5, INT)),
        ("-5", Literal(-5, INT)),
        ("-(-5)", Literal(5, INT)),
        ("2147483647", Literal(2147483647, INT)),
        ("2147483648", Literal(2147483648, BIGINT)),
        ("-2147483648", Literal(-2147483648, INT)),
        ("-9223372036854775808", Literal(-9223372036854775808, BIGINT)),
        ("9223372036854775808", Literal(Decimal(9223372036854775808), decimal_type(19, 0))),
        ("5L", Literal(5, BIGINT)),
        ("-5L", Literal(-5, BIGINT)),
        ("5S", Literal(5, SMALLINT)),
        ("-128Y", Literal(-128, TINYINT)),
        ("1.5", Literal(Decimal("1.5"), decimal_type(2, 1))),
        (".05", Literal(Decimal("0.05"), decimal_type(2, 2))),
        ("-1.50", Literal(Decimal("-1.50"), decimal_type(3, 2))),
        ("1.5BD", Literal(Decimal("1.5"), decimal_type(2, 1))),
        ("1.5D", Literal(1.5, DOUBLE)),
        ("1e3", Literal(1000.0, DOUBLE)),
        ("0.1F", Literal(0.10000000149011612, FLOAT)),
        ("'x'", Literal("x", STRING)),
        ('"x"', Literal("x", STRING)),
        (r"'it\'s'", Literal("it's", STRING)),
        ("'a' 'b'", Literal("ab", STRING)),
        (r"'tab\there'", Literal("tab\there", STRING)),
        (r"'\u0041'", Literal("A", STRING)),
        (r"'a\\b'", Literal("a\\b", STRING)),
        ("DATE '2020-01-02'", Literal(18263, DATE)),
        ("date'1969-12-31'", Literal(-1, DATE)),
        ("TIMESTAMP '2020-02-25 00:00:00'", Literal(1582588800000000, TIMESTAMP)),
        ("TIMESTAMP '2020-02-25'", Literal(1582588800000000, TIMESTAMP)),
        ("TIMESTAMP '2020-02-25T00:00:00.000001'", Literal(1582588800000001, TIMESTAMP)),
        ("TIMESTAMP '2020-02-25 00:00:00.000000001'", Literal(Fraction(1582588800000000001, 1000), TIMESTAMP)),
        ("TIMESTAMP '2020-02-25 01:00:00+01:00'", Literal(1582588800000000, TIMESTAMP_LTZ)),
        ("TIMESTAMP '2020-02-25 01:00:00 Europe/Berlin'", Literal(1582588800000000, TIMESTAMP_LTZ)),
        ("TIMESTAMP '2020-02-25 00:00:00Z'", Literal(1582588800000000, TIMESTAMP_LTZ)),
        ("true", Literal(True, BOOLEAN)),
        ("NULL", Literal(None, VOID)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_literals(text, literal, engine):
    assert parse(f"a <=> {text}", engine) == Compare("<=>", A, literal)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (r"s LIKE 'a\_b'", r"a\_b"),
        (r"s LIKE 'a\\_b'", r"a\_b"),
        (r"s LIKE 'a\%'", r"a\%"),
        (r"s LIKE 'a\\\\b'", r"a\\b"),
    ],
)
def test_a_backslash_before_a_wildcard_stays_in_the_pattern(text, pattern):
    assert parse(text, "spark") == parse(text, "hive") == Like(S, pattern)


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("a + 1", Call("+", (A, Literal(1, INT)))),
        ("5 - a", Call("-", (FIVE, A))),
        ("-a", Call("negative", (A,))),
        ("a * -1", Call("*", (A, Literal(-1, INT)))),
        ("a % 5", Call("%", (A, FIVE))),
        ("mod(a, 5)", Call("%", (A, FIVE))),
        ("a DIV 5", Call("div", (A, FIVE))),
        ("CAST(a AS BIGINT)", Cast(A, BIGINT)),
        ("CAST(a AS DECIMAL(10, 2))", Cast(A, decimal_type(10, 2))),
        ("CAST(a AS DECIMAL)", Cast(A, decimal_type(10, 0))),
        ("CAST(a AS DECIMAL(7))", Cast(A, decimal_type(7, 0))),
        ("CAST('5' AS INT)", Cast(Literal("5", STRING), INT)),
        ("CAST('NaN' AS DECIMAL(4,1))", Cast(Literal("NaN", STRING), decimal_type(4, 1))),
        ("double('NaN')", Cast(Literal("NaN", STRING), DOUBLE)),
        ("try_cast(a AS INT)", Call("try_cast", (A,), INT)),
        ("year(d)", Call("year", (Column(("d",)),))),
        ("EXTRACT(YEAR FROM d)", Call("year", (Column(("d",)),))),
        ("date_add(d, 10)", Call("date_add", (Column(("d",)), Literal(10, INT)))),
        ("date_sub(d, 10)", Call("date_sub", (Column(("d",)), Literal(10, INT)))),
        ("datediff(a, b)", Call("datediff", (A, B))),
        ("to_date(a)", Call("to_date", (A,))),
        ("date_format(a, 'yyyy-MM-dd')", Call("date_format", (A, Literal("yyyy-MM-dd", STRING)))),
        ("from_unixtime(a, 'yyyy-MM-dd HH')", Call("from_unixtime", (A, Literal("yyyy-MM-dd HH", STRING)))),
        ("unix_timestamp(a)", Call("unix_timestamp", (A,))),
        ("trunc(a, 'YEAR')", Call("trunc", (A, Literal("YEAR", STRING)))),
        ("date_trunc('month', a)", Call("date_trunc", (Literal("month", STRING), A))),
        ("substr(s, 1, 3)", Call("substring", (S, Literal(1, INT), Literal(3, INT)))),
        ("trim(s)", Call("trim", (S,))),
        ("ltrim(s)", Call("ltrim", (S,))),
        ("UCASE(s)", Call("upper", (S,))),
        ("coalesce(a, b, 5)", Call("coalesce", (A, B, FIVE))),
        ("nvl(a, 5)", Call("coalesce", (A, FIVE))),
        ("nullif(a, 5)", If(Compare("=", A, FIVE), Literal(None, VOID), A)),
        ("if(a > 5, 5, b)", If(Compare(">", A, FIVE), FIVE, B)),
        ("CASE WHEN a > 5 THEN 5 END", If(Compare(">", A, FIVE), FIVE, Literal(None, VOID))),
        ("CASE a WHEN 5 THEN b ELSE 5 END", If(Compare("=", A, FIVE), B, FIVE)),
        ("nvl2(a, 5, b)", If(Not(IsNull(A)), FIVE, B)),
        (
            "CASE WHEN a > 5 THEN 5 WHEN a IS NULL THEN b END",
            If(Compare(">", A, FIVE), FIVE, If(IsNull(A), B, Literal(None, VOID))),
        ),
        ("st.x", Column(("st", "x"))),
        ("st.x.y.z.w", Column(("st", "x", "y", "z", "w"))),
        ("`a b`.`c.d`", Column(("a b", "c.d"))),
        ("s || 'x'", Call("concat", (S, Literal("x", STRING)))),
        ("pmod(a, 5)", Call("pmod", (A, FIVE))),
        ("my_udf(a, 5)", Call("my_udf", (A, FIVE))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_operands(text, operand):
    assert parse(f"{text} = b", "spark") == Compare("=", operand, B)


def test_a_binary_literal_of_spark():
    assert parse("a = X'6162'", "spark") == Compare("=", A, Literal(b"ab", BINARY))


def test_spark_reads_a_cast_to_char_as_string_and_hive_cuts():
    assert parse("CAST(s AS CHAR(3)) = 'x'", "spark") == Compare("=", Cast(S, STRING), Literal("x", STRING))
    assert parse("CAST(s AS CHAR(3)) = 'x'", "hive") == Compare("=", Cast(S, Type(Kind.CHAR, 3)), Literal("x", STRING))


def test_a_timestamp_is_an_instant_in_spark_and_a_wall_clock_in_hive():
    assert parse("CAST(s AS TIMESTAMP) = a", "spark") == Compare("=", Cast(S, TIMESTAMP_LTZ), A)
    assert parse("CAST(s AS TIMESTAMP) = a", "hive") == Compare("=", Cast(S, TIMESTAMP), A)


@pytest.mark.parametrize(
    "text",
    [
        "s RLIKE 'x'",
        "s NOT RLIKE 'x'",
        "s ILIKE concat(s, s)",
        "a IN (SELECT b FROM t)",
        "EXISTS (SELECT 1 FROM t)",
        "(a, b) < (1, 2)",
        "s NOT LIKE ANY ('x')",
        "s LIKE b",
        "contains(s, b)",
        "true = b > c",
        "b > 2 = (a > 1)",
        "b IN (1) IN (TRUE)",
        "a > ALL (SELECT 1)",
    ],
)
def test_what_is_not_understood_is_unknown_at_that_node_only(text):
    tree = parse(f"a = 5 AND {text}", "spark")
    assert isinstance(tree, And)
    assert tree.children[0] == Compare("=", A, FIVE)
    assert any(isinstance(node, Unknown) for node in walk(tree.children[1]))


@pytest.mark.parametrize(
    "text",
    [
        "a[0] = 5",
        "m['k'] = 5",
        "a > current_user",
        "a - INTERVAL b DAY > b",
        "a = (SELECT 1)",
        "a = :p",
        "a = ?",
        "EXTRACT(EPOCH FROM a) = 5.5",
        "a = 1e400",
        "dateadd(DAY, b, a) = b",
        "f(a).x = 1",
        "branches(a, 3) = 5",
    ],
)
def test_a_value_that_is_not_understood_is_opaque(text):
    assert any(isinstance(node, Opaque) for node in walk(parse(text, "spark")))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a = 1 OR b = 2 AND s = 'x'", "a = 1 OR (b = 2 AND s = 'x')"),
        ("NOT a = 1 AND b = 2", "(NOT (a = 1)) AND b = 2"),
        ("NOT a IN (1) AND b = 2", "(NOT (a IN (1))) AND b = 2"),
        ("NOT a BETWEEN 1 AND 2 AND b = 2", "(NOT (a BETWEEN 1 AND 2)) AND b = 2"),
        ("a NOT BETWEEN 1 AND 2 OR b = 2", "(NOT (a BETWEEN 1 AND 2)) OR b = 2"),
        ("NOT a IS NULL", "a IS NOT NULL"),
        ("NOT NOT a = 1", "NOT (NOT (a = 1))"),
        ("a + b * 2 - 1 = 0", "((a + (b * 2)) - 1) = 0"),
        ("-a * 2 < 5", "((-a) * 2) < 5"),
        ("a - 1 - 2 = 0", "((a - 1) - 2) = 0"),
        ("a > 1 = true", "(a > 1) = true"),
    ],
)
def test_precedence(text, same):
    assert parse(text, "spark") == parse(same, "spark")


def test_is_true_of_a_condition_keeps_its_true_bit():
    tree = parse("(a > 5) IS TRUE", "spark")
    assert isinstance(tree, And)
    truth = truth_of(Compare(">", A, FIVE))
    assert tree.children == (Compare("=", truth, TRUE), Compare("<=>", truth, TRUE))


def test_a_condition_in_parentheses_is_a_value():
    greater = Compare(">", A, FIVE)
    assert parse("(a > 5) IS NULL", "spark") == IsNull(truth_of(greater))
    assert parse("b = (a > 5)", "spark") == Compare("=", B, truth_of(greater))
    assert parse("(a > 5) <=> (a > 5)", "spark") == Compare("<=>", truth_of(greater), truth_of(greater))
    assert parse("if(b, a > 5, b)", "spark") == Compare("=", If(Compare("=", B, TRUE), truth_of(greater), B), TRUE)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "one condition is expected"),
        ("a =", "operand is missing"),
        ("a = 5 foo", "unexpected 'foo'"),
        ("a = 5; DROP TABLE t", "unexpected"),
        ("SELECT * FROM t WHERE a = 5", "only the condition"),
        ("((a = 5)", "expecting )"),
        ("a = 'x", "not closed"),
        ("a + 1", "value, not a condition"),
        ("'x'", "value, not a condition"),
        ("*", "value, not a condition"),
        ("a IN ()", "at least one member"),
        ("d = DATE '2020-13-01'", "not a date"),
        ("d = TIMESTAMP 'noon'", "not a timestamp"),
    ],
)
def test_what_is_not_a_condition_is_refused_in_one_line(text, why):
    with pytest.raises(SqlError) as caught:
        parse(text, "spark")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_says_where():
    with pytest.raises(SqlError) as caught:
        parse("a = 5 AND\n b = = 3", "spark")
    assert caught.value.position is not None
    assert caught.value.position[0] == 2


def test_ten_thousand_alternatives_are_one_or():
    tree = parse(" OR ".join(f"a = {i}" for i in range(10_000)), "spark")
    assert isinstance(tree, Or)
    assert len(tree.children) == 10_000
    assert tree.children[9_999] == Compare("=", A, Literal(9_999, INT))


def test_a_long_in_list():
    tree = parse(f"a IN ({', '.join(map(str, range(20_000)))})", "hive")
    assert isinstance(tree, In)
    assert len(tree.members) == 20_000


@pytest.mark.parametrize(
    "form",
    [
        "nullif({}, 1)",
        "CASE {} WHEN 1 THEN 2 WHEN 3 THEN 4 END",
        "if({} BETWEEN 1 AND 2, 1, 2)",
    ],
)
def test_an_operand_that_the_tree_repeats_at_each_level_is_refused_at_once(form):
    for depth, is_read in ((5, True), (60, False)):
        text = "a"
        for _ in range(depth):
            text = form.format(text)
        if is_read:
            parse(f"{text} < 5", "spark")
        else:
            with pytest.raises(SqlError, match="expands to more than"):
                parse(f"{text} < 5", "spark")


@pytest.mark.parametrize("form", ["if({}, true, false)", "CASE {} WHEN true THEN true WHEN false THEN false END"])
def test_a_nested_condition_is_read_once(form, monkeypatch):
    read, count = operands.OperandReader.read, []
    monkeypatch.setattr(operands.OperandReader, "read", lambda self, node: (count.append(1), read(self, node))[1])
    text = "a"
    for _ in range(12):
        text = form.format(text)
    parse(text + " = true", "spark")
    assert len(count) < 200


def test_deep_nesting_is_read_and_absurd_nesting_is_refused():
    limit = sys.getrecursionlimit()
    assert parse("(" * 300 + "a = 5" + ")" * 300, "spark") == Compare("=", A, FIVE)
    with pytest.raises(SqlError, match="nested too deeply"):
        parse("(" * 20_000 + "a = 5" + ")" * 20_000, "spark")
    assert sys.getrecursionlimit() == limit


def test_every_condition_of_the_hive_corpus_of_this_room_is_read():
    document = json.loads((Path(__file__).parents[1] / "data" / "hive_filters.json").read_text())
    for entry in document["filters"]:
        assert to_text(parse(entry["sql"], "hive"))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("s LIKE concat('a', '%')", "s LIKE 'a%'"),
        ("s LIKE 'a' || 'b' || '%'", "s LIKE 'ab%'"),
        ("startswith(s, concat('a', concat('%', 'b')))", "startswith(s, 'a%b')"),
        ("s RLIKE concat('^', 'ab')", "s RLIKE '^ab'"),
    ],
)
def test_a_pattern_may_be_a_constant_text(text, plain):
    assert parse(text, "spark") == parse(plain, "spark")


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("interval '1' year", "INTERVAL '12' MONTH"),
        ("interval 3 months", "INTERVAL '3' MONTH"),
        ("interval -3 month", "INTERVAL '-3' MONTH"),
        ("interval '+2' weeks", "INTERVAL '14' DAY"),
        ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '14' MONTH"),
        ("interval '-1 02:03:04.5' day to second", "INTERVAL '-93784.5' SECOND"),
        ("interval '2:30' hour to minute", "INTERVAL '9000' SECOND"),
        ("interval '1 year 2 months'", "INTERVAL '14' MONTH"),
        ("interval '1 day 2 hours'", "INTERVAL '93600' SECOND"),
        ("interval 1.5 seconds", "INTERVAL '1.5' SECOND"),
        ("interval 250 milliseconds", "INTERVAL '0.25' SECOND"),
    ],
)
def test_an_interval_is_a_literal_in_every_spelling(text, span):
    filter_ = parse(f"d < date '2020-01-01' + {text}", "spark")
    assert str(filter_) == f"d < (DATE '2020-01-01' + {span})"


@pytest.mark.parametrize(
    "text",
    [
        "'1-12' year to month",
        "'1 24:00:00' day to second",
        "'1.5' day",
        "'x' month",
        "'1 month 1 day'",
        "'1' fortnight",
    ],
)
def test_an_interval_of_another_form_is_not_understood(text):
    assert any(isinstance(node, Opaque) for node in walk(parse(f"d < date '2020-01-01' + interval {text}", "spark")))
