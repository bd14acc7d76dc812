"""The filter that Hive's optimiser pushes for a condition: facts of docs/facts/hive-expressions.md.

The filters are those of whole queries that Hive compiled with its optimiser (``source`` is e2e, see
tests/sarg/data/README.md).
"""

from __future__ import annotations

import pytest

import sarg
from evaluator.language.expression import to_text
from tests.sarg.corpus import records

V3, V4, V42 = "3.1.3", "4.0.1", "4.2.0"
#: Condition -> version -> the filter that is pushed.
PUSHED = {
    # Where types differ the cast stands on the column.
    "a < 5.5D": dict.fromkeys((V3, V4, V42), "CAST(a AS double) < 5.5"),
    "s = 5.0": dict.fromkeys((V3, V4, V42), "CAST(s AS double) = 5.0"),
    # Constants have the type of the comparison.
    "ts between date '2020-01-01' and date '2020-12-31'": dict.fromkeys(
        (V3, V4), "(ts >= TIMESTAMP '2020-01-01 00:00:00' AND ts <= TIMESTAMP '2020-12-31 00:00:00')"
    ),
    "f < 0.1": {V3: "f < 0.1", V4: "f < 0.10000000149011612", V42: "f < 0.10000000149011612"},
    # A CHAR constant is padded; 3.1 cuts what is too long, 4.x casts the column.
    "ch = 'x '": dict.fromkeys((V3, V4, V42), "ch = 'x         '"),
    "ch = 'abcdefghijklmno'": {
        V3: "ch = 'abcdefghij'",
        V4: "CAST(ch AS string) = 'abcdefghijklmno'",
        V42: "CAST(ch AS string) = 'abcdefghijklmno'",
    },
    # Functions of constants are folded; OR with FALSE vanishes.
    "dt >= date_sub(current_date, 7)": dict.fromkeys((V3, V4), "dt >= DATE '2026-11-14'"),
    "a = 1 or false": dict.fromkeys((V3, V4, V42), "a = 1"),
    # 4.x turns one form into another.
    "5 in (a, b)": {V3: "5 IN (a, CAST(b AS int))", V4: "(a = 5 OR b = 5)", V42: "(a = 5 OR b = 5)"},
    "a in (1.5, 2)": {V3: "CAST(a AS decimal(11,1)) IN (1.5, 2)", V4: "a = 2", V42: "a = 2"},
    "dec in (1.0, 2.0, 3.25)": {
        V3: "dec IN (1, 2, 3.25)",
        V4: "(dec IN (1, 2) OR dec IN (3.25))",
        V42: "(dec IN (1, 2) OR dec IN (3.25))",
    },
    "year(dt) = 2020": {
        V3: "year(dt) = 2020",
        V4: "(dt >= DATE '2020-01-01' AND dt < DATE '2021-01-01')",
        V42: "(dt >= DATE '2020-01-01' AND dt < DATE '2021-01-01')",
    },
    "a not in (1,2,3)": {
        V3: "NOT a IN (1, 2, 3)",
        V4: "(a != 1 AND a != 2 AND a != 3)",
        V42: "(a < 1 OR a > 3 OR (a > 1 AND a < 2) OR (a > 2 AND a < 3))",
    },
    "a not between 1 and 9": {
        V3: "NOT (a >= 1 AND a <= 9)",
        V4: "NOT (a >= 1 AND a <= 9)",
        V42: "(a < 1 OR a > 9)",
    },
}
JOIN = "SELECT t.a FROM t JOIN u ON t.a = u.a WHERE u.s = 'x' AND t.b > 5"


def pushed(version, sql):
    """The filters of the scans of the compiled query."""
    compiled = [r for r in records(version) if r["source"] == "e2e" and r["sql"] == sql]
    assert compiled, f"{version} has no compiled {sql}"
    return [sarg.decode_detailed(r["kryo_base64"]) for r in compiled]


@pytest.mark.parametrize(
    ("sql", "version", "text"),
    [(sql, version, text) for sql, versions in PUSHED.items() for version, text in versions.items()],
)
def test_what_is_pushed_of_a_condition(sql, version, text):
    assert text in [to_text(decoded.expression) for decoded in pushed(version, sql)]


@pytest.mark.parametrize("version", [V3, V4, V42])
def test_a_join_asks_for_keys_that_are_not_null(version):
    texts = {to_text(decoded.expression) for decoded in pushed(version, JOIN)}
    assert texts == {"(b > 5 AND NOT a IS NULL)", "(s = 'x' AND NOT a IS NULL)"}


@pytest.mark.parametrize(("version", "struct"), [(V3, False), (V4, True), (V42, True)])
def test_an_or_of_ands_becomes_a_list_of_structs(version, struct):
    for decoded in pushed(version, "(a = 1 and b = 2) or (a = 3 and b = 4) or (a = 5 and b = 6)"):
        assert ("GenericUDFIn" in str(decoded.exprnode.to_dict())) == struct


@pytest.mark.parametrize(("version", "flag"), [(V3, "false"), (V4, "true")])
def test_a_negated_between_is_a_flag_in_hive_4_0(version, flag):
    for decoded in pushed(version, "a not between 1 and 9"):
        tree = decoded.exprnode.to_dict()
        between = tree if "Between" in tree["func"] else tree["children"][0]
        assert between["children"][0]["const"] == flag
