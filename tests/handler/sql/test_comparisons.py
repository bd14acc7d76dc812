"""Comparisons that are read without sqlglot: its tree of the same text means the same."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.tokens import TokenType

from evaluator.language.function_names import WITHOUT_PARENTHESES
from evaluator.language.semantics import ENGINES
from handler.sql.comparisons import read_comparisons
from handler.sql.dialects import dialect_of
from handler.sql.parsing import parse_condition
from handler.sql.results import SqlError
from handler.sql.trees import read_tree
from tests.sampling import examples

DIALECTS = ("hive", "spark")


def as_tree(text, engine):
    try:
        return read_tree(text, engine, {})
    except SqlError as error:
        return error.why


def is_the_same(text):
    """Whether a text is read, and as its tree is."""
    read = read_comparisons(text)
    assert read is None or [as_tree(text, engine) for engine in DIALECTS] == [read] * 2, text
    return read is not None


@pytest.mark.parametrize(
    "text",
    [
        "a = 1",
        "a=1",
        "a==1",
        "a <> -5",
        "A_1 != 'x'",
        " a\t<\n2.50 ",
        "a <= 'it is (quoted), -- or not'",
        """a <= '"' """,
        "a > 'ü {{ % _ \u2028'",
        "a >= 007 and a = 999999999999999999 aNd b = -0.0",
        "a = 2147483648 AND b = '' AND a < 123456789012345678.123456789012345678",
        "a >= DATE '2020-02-29' AND a < date'0001-01-01' and b <> TimeStamp '9999-12-31 23:59:59.999999999'",
        "a=TIMESTAMP'1970-01-01 00:00:00' AND b = timestamp\n'2020-01-31 10:00:00.5'",
        "a between 1 and 5 AND b BETWEEN DATE '2020-01-01' AND DATE '2020-02-01' and c between 'x'\tand\n'y'",
        "a in (1) and b IN ( -1,2 , 3.5 ) AND c in('x', '', 'y') and d IN (DATE'2020-01-01')",
        "a is null AND b IS  NOT\nNULL and a is not null",
        "date = '2020-01-01' AND timestamp > '2020-01-01 10:00:00' AND user_name = 'x'",
    ],
)
def test_comparisons_are_read(text):
    assert is_the_same(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "a",
            "a =",
            "= 1",
            "a = b",
            "1 = a",
            "a = 1 OR b = 2",
            "NOT a = 1",
            "(a = 1)",
            "a <=> 1",
            "a = null",
        ),
        *("a = 5L", "a = 1.5BD", "a = .5", "a = 5.", "a = 1e3", "a = + 1", "a = - 1", "a=-1", "a = 1.2.3", "a = 12x"),
        *(
            "a = 'x''y'",
            "a = 'x' 'y'",
            r"a = 'x\ty'",
            "a = 'x",
            'a = "x"',
            "a = r'x'",
            "a = X'41'",
        ),
        *(
            "a.b = 1",
            "`a` = 1",
            "a[0] = 1",
            "f(a) = 1",
            "a + 1 = 2",
            "a = 1 + 1",
            "a = 1 -- x",
            "a = 1 /* x */",
            "a = 1;",
        ),
        *("a = 1 AND", "AND a = 1", "a = 1AND b = 2", "a = 'x'AND b = 2", "a = 1 AND AND b = 1", "a = 1 b = 2"),
        *(
            "current_date = '2020-01-01'",
            "TRUE = 1",
            "a = 1 AND Localtimestamp > 'x'",
            "a = 1 = 2",
            "a\u00a0= 1",
            "ä = 1",
        ),
        *(
            "a not in (1)",
            "a not between 1 and 2",
            "a in ()",
            "a in (1,)",
            "a in (1 2)",
            "a in (1",
            "a in (b)",
            "a in (null)",
        ),
        *(
            "a in 1",
            "a between 1",
            "a between 1 and",
            "a between 1 and b",
            "a between symmetric 1 and 2",
            "a between 1 or 2",
        ),
        *("a is", "a is true", "a is not", "a is nullx", "a isnull", "a is null null", "is null", "a in (1)and b = 1"),
        "a = 1" + " AND a = 1" * 1_000,
    ],
)
def test_other_texts_are_left_to_the_parser(text):
    assert read_comparisons(text) is None


def words():
    """Everything that sqlglot or a function knows by a word."""
    found = {str(one) for token in TokenType for one in (token.name, token.value)}
    found |= WITHOUT_PARENTHESES
    found |= {function.sql_name() for function in exp.ALL_FUNCTIONS}
    for engine in DIALECTS:
        dialect = dialect_of(engine)
        found |= set(dialect.tokenizer_class.KEYWORDS)
        tables = [
            value
            for name in dir(dialect.parser_class)
            if name.isupper()
            if (value := getattr(dialect.parser_class, name))
        ]
        found |= {
            str(getattr(one, "name", one))
            for value in tables
            if isinstance(value, dict | set | frozenset)
            for one in value
        }
    return sorted(word for word in found if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", word))


def test_words_of_sqlglot_are_names_or_are_left_to_it():
    known = words()
    for word in known:
        for rest in ("in (1, 2)", "between 'a' and 'b'", "is null", "is not null and a = 1"):
            is_the_same(f"{word} {rest}")
    read = [is_the_same(f"{word} < 5 AND {word.lower()} >= 1.50 AND {word.upper()} != 'x'") for word in known]
    assert len(known) > 1_000
    assert 0 < read.count(False) < 100


NAMES = st.sampled_from(
    ["a", "b_1", "Fare", "_x", "day", "Timestamp", "count", "null", "current_date", "x.y", "`q`", "AND", "in"]
)
OPERATORS = st.sampled_from(["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>", "=>", "!", "<-", "IN", "LIKE"])
VALUES = st.one_of(
    st.integers(-(10**19), 10**19).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6).map(str),
    st.text(max_size=6).map(lambda text: f"'{text}'"),
    st.datetimes().map(lambda moment: f"TIMESTAMP '{moment}'"),
    st.dates().map(lambda day: f"DATE '{day}'"),
    st.sampled_from(["5L", "-5", "- 5", ".5", "1e3", "'a''b'", "x'41'", "a", "--5", "'x' -- y"]),
)
SPACES = st.sampled_from(["", " ", "  ", "\t", "\n", "\r\n", "\x0b", "\u00a0", "/**/"])
RESTS = st.one_of(
    st.tuples(OPERATORS, SPACES, VALUES).map("".join),
    st.tuples(SPACES, VALUES, SPACES, VALUES).map(lambda parts: "between{}{} and{}{}".format(*parts)),
    st.tuples(st.sampled_from(["in(", "IN ("]), st.lists(VALUES, max_size=3).map(",".join), SPACES, st.just(")")).map(
        "".join
    ),
    st.sampled_from(["is null", "IS  NOT NULL", "is true", "isnull"]),
)
PARTS = st.tuples(SPACES, NAMES, SPACES, RESTS, SPACES).map("".join)


@settings(max_examples=examples(300, at_night=20_000))
@given(st.lists(PARTS, min_size=1, max_size=3), st.sampled_from([" AND ", " and ", "AND", " OR ", ", ", " && "]))
def test_random_texts_are_read_as_their_trees_are(parts, joined):
    text = joined.join(parts)
    if not re.search("[\ud800-\udfff]", text):
        is_the_same(text)


def test_every_engine_reads_them_and_an_unknown_one_is_refused():
    assert len({parse_condition("fare > 50 AND city = 'sf'", engine) for engine in ENGINES}) == 1
    with pytest.raises(ValueError, match="engine is one of hive"):
        parse_condition("fare > 50", "presto")


def test_a_table_name_before_a_column_is_left_out_as_before():
    assert parse_condition("t.a = 1", "spark", {"t.a": 1}).columns == ("a",)
