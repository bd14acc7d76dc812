"""Translations of Hive's expressions: one line per shape, for filters that real Hive versions wrote.

Pitfall P10 is described in docs/facts/pitfalls.md#p10.
"""

from decimal import Decimal
from fractions import Fraction

import pytest

import sarg
from evaluator.language.expression import (
    And,
    Cast,
    Column,
    Compare,
    Constant,
    If,
    In,
    Like,
    Literal,
    Not,
    Opaque,
    Or,
    Unknown,
    fold,
    walk,
)
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, DOUBLE, FLOAT, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, Type, decimal_type
from tests.evaluator.short_forms import HIVE, outcome_of, stats
from tests.sarg.corpus import record, records
from tests.sarg.kryo_writer import (
    INT as INT_INFO,
)
from tests.sarg.kryo_writer import (
    STRING as STRING_INFO,
)
from tests.sarg.kryo_writer import (
    Items,
    Obj,
    Wrapper,
    bridge,
    column,
    constant,
    function,
    integer,
    type_info,
    write,
)
from tests.sarg.plain_text import plain_text

A, S = Column(("a",), INT), Column(("s",), STRING)


def decoded(version, sql, folded=True):
    return sarg.decode(record(version, sql, folded)["kryo_base64"])


@pytest.mark.parametrize(
    ("version", "sql", "text"),
    [
        ("3.1.3", "a < 5", "a < 5"),
        ("3.1.3", "5 < a", "5 < a"),
        ("3.1.3", "a <=> 5", "a <=> 5"),
        ("3.1.3", "not (a is distinct from 5)", "a <=> 5"),
        ("2.3.10", "a != 5", "a != 5"),
        ("2.3.10", "a > 3 and s = 'x'", "(a > 3 AND s = 'x')"),
        ("2.3.10", "a = 1 and b = 2 and d = 3.0", "(a = 1 AND b = 2 AND d = 3)"),
        ("2.3.10", "not (a > 3 or s = 'x')", "NOT (a > 3 OR s = 'x')"),
        ("2.3.10", "a = 1 and false", "(a = 1 AND FALSE)"),
        ("2.3.10", "a between 1 and 9", "(a >= 1 AND a <= 9)"),
        ("2.3.10", "a not between 1 and 9", "NOT (a >= 1 AND a <= 9)"),
        ("3.1.3", "hand: between invert true", "NOT (a >= 1 AND a <= 9)"),
        ("4.0.1", "hand: between invert true", "NOT (a >= 1 AND a <= 9)"),
        ("2.3.10", "a in (1, b)", "a IN (1, b)"),
        ("2.3.10", "5 in (a, b)", "5 IN (a, b)"),
        ("2.3.10", "a not in (1,2,3)", "NOT a IN (1, 2, 3)"),
        ("2.3.10", "isnotnull(a)", "NOT a IS NULL"),
        ("2.3.10", "st.x is null", "st.x IS NULL"),
        ("4.2.0", "ns.a.c = date '2020-01-01'", "ns.a.c = 18262"),
        ("2.3.10", "bo and a = 1", "(bo = True AND a = 1)"),
        ("2.3.10", "a = null", "a = NULL"),
        ("4.0.1", "s like any ('a%','b%')", "(s LIKE 'a%' OR s LIKE 'b%')"),
        ("2.3.10", "cast(s as decimal(10,2)) = 1.25", "CAST(s AS decimal(10,2)) = 1.25"),
        ("2.3.10", "cast(a as double) > 1.5", "CAST(a AS double) > 1.5"),
        ("4.0.1", "cast(ch as string) = 'x'", "CAST(ch AS string) = 'x'"),
        ("2.3.10", "nvl(a, 0) = 5", "coalesce(a, 0) = 5"),
        ("2.3.10", "nullif(a, 3) is null", "if(a = 3, NULL, a) IS NULL"),
        ("2.3.10", "if(a = 1, true, false)", "if(a = 1, True, False) = True"),
        ("3.1.3", "case when a is null then 0 else a end > 5", "if(a IS NULL, 0, a) > 5"),
        ("3.1.3", "case a when 1 then true when 2 then false end", "if(a = 1, True, if(a = 2, False, NULL)) = True"),
        ("2.3.10", "year(dt) = 2020", "year(dt) = 2020"),
        ("2.3.10", "a - 1 > b", "(a - 1) > b"),
        ("2.3.10", "upper(s) = 'X'", "upper(s) = 'X'"),
        ("3.1.3", "to_date(s) = date '2020-01-01'", "to_date(s) = 18262"),
        ("3.1.3", "substring(s, 2) = 'x'", "substr(s, 2) = 'x'"),
        ("3.1.3", "dayofmonth(dt) = 1", "day(dt) = 1"),
        ("3.1.3", "bo is false", "(NOT bo = True AND NOT bo IS NULL)"),
        ("3.1.3", "bo is not true", "NOT (bo = True AND NOT bo IS NULL)"),
        ("3.1.3", "bo = (a > 1)", "bo = if(a > 1, True, if(NOT a > 1, False, NULL))"),
        ("3.1.3", "(a > 1) is not false", "NOT ([NOT a > 1] AND NOT a IS NULL)"),
    ],
    ids=str,
)
def test_understood_conditions_read_as_sql(version, sql, text):
    every = [plain_text(sarg.decode(r["kryo_base64"])) for r in records(version) if r["sql"] == sql]
    assert text in every, every


@pytest.mark.parametrize(
    ("version", "sql", "reason"),
    [
        ("2.3.10", "s rlike '^a.*'", "the rest of a regular expression is not decided"),
        ("3.1.3", "a like '1%'", "LIKE over int"),
        ("3.1.3", "uuid() = s", "function uuid is known at run time only"),
        ("3.1.3", "BLOCK__OFFSET__INSIDE__FILE > 100", "BLOCK__OFFSET__INSIDE__FILE is a virtual column"),
        ("3.1.3", "cast(ts as bigint) > 5", "CAST(timestamp AS bigint) depends on the session's zone and settings"),
        ("3.1.3", "named_struct('x',a).x = 5", "field x of something that is not a struct column"),
        ("4.0.1", "hand: dynamic between+in_bloom_filter a", "dynamic value RS_7_t2_a_min is not in the bytes"),
        ("4.2.0", "hand: dynamic between+in_bloom_filter a", "function in_bloom_filter is not decided"),
    ],
    ids=str,
)
def test_what_is_not_understood_is_unknown_with_its_reason(version, sql, reason):
    reasons = [node.reason for node in walk(decoded(version, sql)) if isinstance(node, Unknown | Opaque)]
    assert reason in reasons


def test_an_unknown_node_leaves_its_siblings_alone():
    expression = decoded("4.0.1", "hand: a = 5 and dynamic")
    assert expression.children[0] == Compare("=", A, Literal(5, INT))
    assert isinstance(expression.children[1], Unknown)


class TestLiteralsAreNeverTruncated:
    """C7, P10: the value keeps its own type; binding converts it."""

    @pytest.mark.parametrize(
        ("version", "sql", "literal"),
        [
            ("4.0.1", "a <= 5.5", Literal(Decimal("5.5"), decimal_type(2, 1))),
            ("3.1.3", "f = cast(0.1 as float)", Literal(0.10000000149011612, FLOAT)),
            ("4.2.0", "d = 12345678901234567890.123", Literal(12345678901234567890.123, DOUBLE)),
            ("4.0.1", "dt = date '2020-01-02'", Literal(18263, DATE)),
            ("4.0.1", "dt = date '0001-01-01'", Literal(-719162, DATE)),
            ("3.1.3", "ts = timestamp '1969-12-31 23:59:59.999999999'", Literal(Fraction(-1, 1000), TIMESTAMP)),
            ("3.1.3", "ts < timestamp '2020-01-02 03:04:05.123'", Literal(1577934245123000, TIMESTAMP)),
            ("3.1.3", "hand: tsl = Asia/Kolkata", Literal(Fraction(1577914445123456789, 1000), TIMESTAMP_LTZ)),
            ("4.0.1", "ch <> 'x'", Literal("x         ", Type.parse("char(10)"))),
            ("3.1.3", "s = '日本語'", Literal("日本語", STRING)),
        ],
        ids=str,
    )
    def test_literal(self, version, sql, literal):
        assert literal in list(walk(decoded(version, sql)))

    def test_a_cast_that_the_optimiser_puts_on_the_column_stays_there(self):
        expression = decoded("4.0.1", "a <= 5.5")
        assert isinstance(expression.left, Cast)
        assert expression.left.operand == A
        assert expression.left.type == decimal_type(11, 1)


class TestHive23DatesCarryTheWritersZone:
    """Hive 2.3 writes java.sql: a date is exact when one day fits all zones, a timestamp is a range of 32 hours."""

    def compare(self, millis, nanos=None, op="OPEqual", name="x"):
        hive_type = type_info("date" if nanos is None else "timestamp")
        value = Obj("java.sql.Date" if nanos is None else "java.sql.Timestamp", {"millis": millis, "nanos": nanos})
        data = write(function(op, column(name, hive_type), constant(value, hive_type)), ("java", "hive_2_3", "text_3"))
        return sarg.decode(data)

    @pytest.mark.parametrize(
        "millis",
        [1577923200000, 1577952000000, 1577894400000, 1577923200000 - 20_700_000],
        ids=["UTC", "Los Angeles", "Shanghai", "Kathmandu"],
    )
    def test_midnight_of_a_common_zone_is_one_day(self, millis):
        assert self.compare(millis).right == Literal(18263, DATE)

    @pytest.mark.parametrize(
        "millis", [1577923200000 + 10 * 3_600_000, 1577923200000 - 13 * 3_600_000, 1577923200000 + 60_000]
    )
    def test_midnight_of_honolulu_or_auckland_may_be_two_days(self, millis):
        expression = self.compare(millis)
        days = {node.value for node in walk(expression) if isinstance(node, Literal)}
        assert 18263 in range(min(days), max(days) + 1)
        assert len(days) == 2
        assert any(isinstance(node, Unknown) for node in walk(expression))

    def test_a_day_before_1582_is_unknown(self):
        assert isinstance(self.compare(-12_219_292_800_000 - 86_400_000).right, Opaque)

    @pytest.mark.parametrize(
        ("op", "text"),
        [
            ("OPLessThan", "(ts < 1577865600000000 OR (ts < 1577980800000001 AND ?"),
            ("OPEqualOrLessThan", "(ts < 1577865600000000 OR (ts <= 1577980800000001 AND ?"),
            ("OPGreaterThan", "NOT (ts < 1577865600000000 OR (ts <= 1577980800000001 AND ?"),
            ("OPEqualOrGreaterThan", "NOT (ts < 1577865600000000 OR (ts < 1577980800000001 AND ?"),
            ("OPEqual", "(ts >= 1577865600000000 AND ts <= 1577980800000001 AND ?"),
            ("OPNotEqual", "NOT (ts >= 1577865600000000 AND ts <= 1577980800000001 AND ?"),
            ("OPEqualNS", "(NOT ts IS NULL AND (ts >= 1577865600000000 AND ts <= 1577980800000001 AND ?"),
        ],
    )
    def test_a_timestamp_is_between_the_clocks_of_all_zones(self, op, text):
        assert plain_text(self.compare(1577923200000, 500, op, "ts")).startswith(text)


class TestMembership:
    def test_struct_in_compares_field_by_field_and_lets_false_out_where_a_field_is_null(self):
        assert plain_text(decoded("4.0.1", "struct(a,b) in (struct(1,2L), struct(3,4L))")) == (
            "(((a = 1 AND b = 2) OR (a = 3 AND b = 4))"
            " AND (NOT a IS NULL OR ?(struct IN with a NULL field))"
            " AND (NOT b IS NULL OR ?(struct IN with a NULL field)))"
        )

    def test_or_of_ands_that_the_optimiser_folds_into_a_struct_in_is_read(self):
        expression = decoded("4.0.1", "(a = 1 and b = 2) or (a = 3 and b = 4) or (a = 5 and b = 6)")
        assert len(list(walk(expression))) > 12

    def test_not_of_a_struct_in_stays_a_not(self):
        assert isinstance(decoded("4.0.1", "(a, b) not in ((1,2),(3,4))"), Not)

    def test_a_member_with_a_null_field_is_unknown(self):
        struct = function("Struct", column("a"), column("s", STRING_INFO), hive_type=type_info("struct"))
        member = function("Struct", integer(1), constant(None, STRING_INFO), hive_type=type_info("struct"))
        text = plain_text(sarg.decode(write(function("In", struct, member))))
        assert text.startswith("(?(a struct with a field that is NULL")

    def test_a_list_folded_into_one_constant_is_spread(self):
        hive_type = Obj("org.apache.hadoop.hive.serde2.typeinfo.ListTypeInfo", {"listElementTypeInfo": INT_INFO})
        folded = constant(Items([Wrapper("java.lang.Integer", 1), None, Wrapper("java.lang.Integer", 3)]), hive_type)
        assert sarg.decode(write(function("In", column("a"), folded))) == In(
            A, (Literal(1, INT), Literal(None, INT), Literal(3, INT))
        )

    def test_null_members_stay_in_the_list(self):
        expression = sarg.decode(write(function("In", column("a"), integer(1), constant(None))))
        assert expression == In(A, (Literal(1, INT), Literal(None, INT)))

    @pytest.mark.parametrize(
        "strange", [constant("x", STRING_INFO), constant(Wrapper("java.lang.Double", 2.5), type_info("double"))]
    )
    def test_members_of_different_types_are_unknown_because_hive_converts_all_to_one(self, strange):
        expression = sarg.decode(write(function("In", column("a"), integer(1), strange)))
        assert expression == Unknown("IN with members of different types")


class TestBetween:
    def test_a_bound_that_may_be_null_lets_null_out(self):
        """Hive yields NULL for a NULL bound where x >= low AND x <= high may be FALSE."""
        flag = constant(Wrapper("java.lang.Boolean", False), type_info("boolean"))
        expression = sarg.decode(write(function("Between", flag, column("a"), column("b"), integer(9))))
        assert isinstance(expression, Or)
        assert plain_text(expression) == (
            "((a >= b AND a <= 9) OR (b IS NULL AND ?(BETWEEN with a bound that may be NULL)))"
        )

    def test_a_null_bound_is_never_true(self):
        flag = constant(Wrapper("java.lang.Boolean", True), type_info("boolean"))
        expression = sarg.decode(write(function("Between", flag, column("a"), constant(None), integer(9))))
        never = And((Unknown("BETWEEN with a NULL bound"), Constant(None)))
        assert expression == Not(
            Or((And((Compare("<=", Column(("a",), INT), Literal(9, INT)), Constant(None))), never))
        )

    @pytest.mark.parametrize(("is_negated", "least", "expected"), [(True, 5, "N"), (True, -5, "TN"), (False, 5, "N")])
    def test_a_null_bound_is_false_only_beyond_the_other_one(self, is_negated, least, expected):
        """a NOT BETWEEN 0 AND NULL is TRUE, if ever, where a < 0."""
        flag = constant(Wrapper("java.lang.Boolean", is_negated), type_info("boolean"))
        expression = sarg.decode(write(function("Between", flag, column("a"), integer(0), constant(None))))
        for engine in (HIVE, Semantics.named("hive4", "UTC")):
            assert outcome_of(expression, {"a": stats(INT, least, 9)}, engine) == expected

    def test_a_null_of_another_type_may_change_the_comparison(self):
        flag = constant(Wrapper("java.lang.Boolean", False), type_info("boolean"))
        null = constant(None, type_info("double"))
        expression = sarg.decode(write(function("Between", flag, column("a"), integer(0), null)))
        assert expression == And((Unknown("BETWEEN with a NULL bound"), Constant(None)))

    def test_a_flag_that_is_not_a_constant_is_unknown(self):
        flag = column("bo", type_info("boolean"))
        expression = sarg.decode(write(function("Between", flag, column("a"), integer(1), integer(9))))
        assert isinstance(expression, Unknown)


class TestLike:
    LIKE = "org.apache.hadoop.hive.ql.udf.UDFLike"

    def like(self, pattern, hive_type=STRING_INFO):
        return sarg.decode(write(bridge("like", self.LIKE, column("s", hive_type), constant(pattern, STRING_INFO))))

    @pytest.mark.parametrize("pattern", ["ab%", "%x_", r"50\%", r"a\_b%"])
    def test_a_pattern_is_handed_on_as_it_is(self, pattern):
        assert self.like(pattern) == Like(S, pattern)

    @pytest.mark.parametrize("pattern", [r"a\b", "a\\\\%", "a\\"])
    def test_a_backslash_before_an_ordinary_character_is_unknown(self, pattern):
        """To Hive it is an ordinary character, to the SQL standard an escape."""
        assert isinstance(self.like(pattern), Unknown)

    def test_a_function_of_a_user_that_is_called_like_is_not_like(self):
        expression = sarg.decode(
            write(bridge("like", "com.example.Like", column("s", STRING_INFO), constant("a%", STRING_INFO)))
        )
        assert expression == Unknown("function com.example.Like is not one of Hive's own")


class TestTruth:
    def test_is_true_over_a_larger_condition_can_be_false_where_it_is_null(self):
        text = plain_text(decoded("3.1.3", "(a > 1 or b < 2) is not true"))
        assert text == "NOT ([(a > 1 OR b < 2)] AND ?(IS TRUE over a condition that may be NULL))"

    def test_a_condition_compared_with_a_boolean_constant_is_that_condition(self):
        true = constant(Wrapper("java.lang.Boolean", True), type_info("boolean"))
        greater = function("OPGreaterThan", column("a"), integer(1))
        assert plain_text(sarg.decode(write(function("OPEqual", greater, true)))) == "[a > 1]"
        assert plain_text(sarg.decode(write(function("OPNotEqual", greater, true)))) == "NOT [a > 1]"
        assert plain_text(sarg.decode(write(function("OPEqualNS", greater, true)))) == "([a > 1] AND NOT a IS NULL)"

    def test_a_null_constant_is_a_condition_that_is_null(self):
        null = constant(None, type_info("boolean"))
        expression = sarg.decode(write(function("OPAnd", null, function("OPNull", column("a")))))
        assert expression.children[0] == Constant(None)

    def test_a_condition_used_as_a_value_is_opaque(self):
        greater = function("OPGreaterThan", column("a"), integer(1))
        expression = sarg.decode(write(function("If", greater, greater, greater)))
        assert isinstance(expression, Compare)
        assert isinstance(expression.left, If)
        assert isinstance(expression.left.condition, Compare)
        assert all(isinstance(branch, Opaque) for branch in (expression.left.then, expression.left.otherwise))

    def test_half_a_surrogate_pair_is_not_compared(self):
        expression = sarg.decode(write(function("OPEqual", column("s", STRING_INFO), constant("\ud83d", STRING_INFO))))
        assert expression.right == Opaque("a text with half a surrogate pair")

    def test_a_constant_that_does_not_fit_its_type_is_opaque(self):
        expression = sarg.decode(write(function("OPEqual", column("a"), constant("5"))))
        assert expression.right == Opaque("a String constant of type int")


def test_and_is_flat_whatever_the_nesting_and_keeps_its_order():
    tests = [function("OPEqual", column("a"), integer(n)) for n in range(6)]
    tree = tests[0]
    for test in tests[1:3]:
        tree = function("OPAnd", tree, test)
    tree = function("OPAnd", tree, function("OPAnd", tests[3], function("OPAnd", tests[4], tests[5])))
    assert plain_text(sarg.decode(write(tree))) == "(" + " AND ".join(f"a = {n}" for n in range(6)) + ")"


def test_shared_nodes_translate_in_linear_size():
    test = function("LikeAny", column("s", STRING_INFO), *[constant("a%", STRING_INFO)] * 1000)
    assert fold(sarg.decode(write(test)), lambda _, below: 1 + sum(below)) < 5000
