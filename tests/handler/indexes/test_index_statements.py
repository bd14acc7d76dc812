"""Statements about indexes: what each form means, and what is said of those that mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.indexes.statements import IndexStatement, StatementError, parse_statement


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "CREATE INDEX idx_city ON TABLE '/data/trips' USING secondary_index(city)",
            IndexStatement("create", "/data/trips", "idx_city", (("city", "secondary_index"),)),
        ),
        (
            "CREATE INDEX i ON '/t' USING secondary_index (city, `last name`)",
            IndexStatement("create", "/t", "i", (("city", "secondary_index"), ("last name", "secondary_index"))),
        ),
        (
            "CREATE INDEX IF NOT EXISTS i ON TABLE '/t' (last_name)",
            IndexStatement("create", "/t", "i", (("last_name", "secondary_index"),), if_needed=True),
        ),
        (
            "create index if not exists i on '/t' using BLOOM_FILTER(city, `a b`) OPTIONS (fpp = 0.01, path='/i');",
            IndexStatement(
                "create",
                "/t",
                "i",
                (("city", "bloom_filter"), ("a b", "bloom_filter")),
                {"fpp": "0.01", "path": "/i"},
                if_needed=True,
            ),
        ),
        (
            'CREATE INDEX i ON TABLE "s3://b/it\'s" USING min_max(lower(city), amount * (1 + 2)), '
            "value_list(address.city)",
            IndexStatement(
                "create",
                "s3://b/it's",
                "i",
                (("lower(city)", "min_max"), ("amount * (1 + 2)", "min_max"), ("address.city", "value_list")),
            ),
        ),
        (
            "CREATE INDEX i ON TABLE 'it''s' -- why\n USING min_max(concat(a, ')', b))",
            IndexStatement("create", "it's", "i", (("concat(a, ')', b)", "min_max"),)),
        ),
        ("DROP INDEX `by city` ON TABLE '/t'", IndexStatement("drop", "/t", "by city")),
        ("DROP INDEX IF EXISTS i ON '/t';", IndexStatement("drop", "/t", "i", if_needed=True)),
        ("SHOW INDEXES FROM TABLE '/t'", IndexStatement("list", "/t")),
        ("SHOW INDEXES IN '/t'", IndexStatement("list", "/t")),
        ("REFRESH INDEX i ON TABLE '/t'", IndexStatement("refresh", "/t", "i")),
        ("REFRESH INDEX i ON TABLE '/t' FULL", IndexStatement("refresh", "/t", "i", full=True)),
        ("OPTIMIZE INDEX i ON '/t'", IndexStatement("optimize", "/t", "i")),
        ("VACUUM INDEX i ON '/t'", IndexStatement("vacuum", "/t", "i")),
    ],
)
def test_a_statement_is_read(text, statement):
    assert parse_statement(text) == statement


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "one of CREATE, DROP, SHOW, REFRESH, OPTIMIZE, VACUUM was expected at the end"),
        ("SELECT 1", "SELECT begins no statement about an index: CREATE INDEX name ON TABLE"),
        ("CREATE TABLE t", "INDEX was expected at 'TABLE': CREATE INDEX name"),
        ("CREATE INDEX IF EXISTS i ON '/t' USING x(a)", "NOT was expected at 'EXISTS'"),
        ("REFRESH INDEX IF EXISTS i ON '/t'", "IF has no meaning in REFRESH INDEX"),
        ("CREATE INDEX i ON TABLE trips USING x(a)", "the path of a table was expected in quotes at 'trips'"),
        ("CREATE INDEX i ON TABLE '/t'", "USING was expected at the end"),
        ("CREATE INDEX i ON TABLE '/t' USING bloom_filter", r"\( and a column were expected at the end"),
        ("CREATE INDEX i ON TABLE '/t' USING bloom_filter()", r"a column was expected before \)"),
        ("CREATE INDEX i ON TABLE '/t' USING bloom_filter(a,)", r"a column was expected before \)"),
        ("CREATE INDEX i ON TABLE '/t' USING bloom_filter(a", r"\) was expected at the end"),
        ("CREATE INDEX i ON TABLE '/t' USING x(a) OPTIONS (b = 1, b = 2)", "option b is given twice"),
        ("CREATE INDEX i ON TABLE '/t' USING x(a) OPTIONS (b 1)", "= was expected at '1'"),
        ("CREATE INDEX i ON TABLE '/t' ()", r"a column was expected before \)"),
        ("DROP INDEX i ON '/t' CASCADE", "nothing was expected at 'CASCADE'"),
        ("DROP INDEX i ON '/t' FULL", "nothing was expected at 'FULL'"),
        ("SHOW TABLES", "INDEXES was expected at 'TABLES'"),
    ],
)
def test_what_is_no_statement_is_told(text, why):
    with pytest.raises(StatementError, match=why):
        parse_statement(text)


@given(
    st.text(st.sampled_from("CREATE INDEX ON'\"`(),;=.-abi\\\n ") | st.characters(), max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "CREATE",
                "INDEX",
                "i",
                "ON",
                "TABLE",
                "'/t'",
                "USING",
                "x",
                "(",
                "a",
                ")",
                ",",
                "=",
                "OPTIONS",
                "DROP",
                "SHOW",
                "IF",
                "NOT",
                "EXISTS",
                ";",
            ]
        )
    ).map(" ".join)
)
def test_whatever_is_given_the_answer_is_a_statement_or_an_error_of_ours(text):
    found = parsed_or_none(text)
    if found is not None:
        assert found.table is not None
        assert (found.action == "create") == bool(found.uses)


def parsed_or_none(text: str) -> IndexStatement | None:
    try:
        return parse_statement(text)
    except StatementError:
        return None
