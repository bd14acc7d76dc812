"""SearchArguments: decoded exactly, and demoted where their literals may be wrong."""

import base64

import pytest

import sarg
from evaluator.language.expression import And, Compare, Literal, Unknown, walk
from evaluator.language.types import BOOLEAN, STRING
from sarg.hive_tree.constants import Constant, SqlDate
from sarg.hive_tree.searchargument import ArgumentTree, PredicateLeaf, SearchArgument
from sarg.translation.demote import demote
from tests.sarg.argument_text import argument_text
from tests.sarg.corpus import records
from tests.sarg.kryo_writer import Generation, Items, Obj, Wrapper, write
from tests.sarg.plain_text import plain_text

PACKAGE = "org.apache.hadoop.hive.ql.io.sarg."
#: Plain Kryo 3 and 4 write java.sql.Timestamp as a Date: what is finer than a millisecond is not in the bytes.
LOST_NANOS = "ts = timestamp '2020-01-02 03:04:05.123456789'"


@pytest.mark.parametrize("version", ["2.3.10", "4.0.1", "4.1.0", "4.2.0"])
def test_every_search_argument_of_the_corpus_reads_as_hive_prints_it(version):
    compared = 0
    for record in records(version):
        if "sarg_kryo_base64" not in record or (record["sql"] == LOST_NANOS and version == "2.3.10"):
            continue
        argument = sarg.decode_detailed(record["sarg_kryo_base64"]).search_argument
        assert argument_text(argument.normalized) == record["sarg"], record["sql"]
        if "sarg_compact" in record:
            assert argument_text(argument.compact) == record["sarg_compact"]
        for leaf, recorded_leaf in zip(argument.leaves, record.get("leaves", []), strict="leaves" in record):
            compare_leaf(leaf, recorded_leaf)
        compared += 1
    assert compared > 250
    print(f"Hive {version}: {compared} SearchArguments equal")


def compare_leaf(leaf, record):
    assert (leaf.operator, leaf.type, leaf.column) == (record["op"], record["type"], record["column"])
    assert (None if leaf.literal is None else str(leaf.literal)) == record["literal"]
    assert (None if leaf.literal is None else leaf.literal.java) == record["literal_java"]
    assert (None if leaf.literals is None else [str(c) for c in leaf.literals] or None) == record["literals"]


def test_compact_form_is_preferred_to_conjunctive_normal_form():
    with_both_forms = [r for r in records("4.0.1") if "sarg_compact" in r]
    text = plain_text(sarg.decode(with_both_forms[0]["sarg_kryo_base64"]))
    assert text.count(" OR ") < 10


def test_the_old_layout_names_its_leaves_by_number():
    """storage-api 2.4 to 2.7: expression and leaves; a tree's leaf is an index."""
    leaf = Obj(
        PACKAGE + "SearchArgumentImpl$PredicateLeafImpl",
        {"columnName": "s", "literal": "abc", "operator": "EQUALS", "type": "STRING"},
    )
    at = Obj(PACKAGE + "ExpressionTree", {"leaf": 0, "operator": "LEAF"})
    tree = Obj(PACKAGE + "ExpressionTree", {"children": Items([at]), "leaf": -1, "operator": "NOT"})
    top = Obj(PACKAGE + "SearchArgumentImpl", {"expression": tree, "leaves": Items([leaf])})
    decoded = sarg.decode_detailed(write(top, ("java", "hive_3_1", "text_2", "plain_kryo_3"), Generation.KRYO3))
    assert "2.4 to 2.7" in decoded.profile
    assert argument_text(decoded.search_argument.compact) == "(not leaf-(EQUALS s abc))"
    assert plain_text(decoded.expression) == "(NOT s = 'abc' AND ?(a SearchArgument may leave conditions out))"


def test_a_leaf_number_out_of_range_is_refused():
    tree = Obj(PACKAGE + "ExpressionTree", {"leaf": 3, "operator": "LEAF"})
    top = Obj(PACKAGE + "SearchArgumentImpl", {"expression": tree, "leaves": Items([])})
    with pytest.raises(sarg.DecodeError, match="no leaf 3"):
        sarg.decode(write(top, ("java", "hive_3_1", "text_2", "plain_kryo_3")))


def test_a_search_argument_that_contains_itself_is_refused():
    tree = Obj(PACKAGE + "ExpressionTree", {"leaf": -1, "operator": "NOT"})
    tree.fields["children"] = Items([tree])
    top = Obj(PACKAGE + "SearchArgumentImpl", {"expression": tree, "leaves": Items([])})
    with pytest.raises(sarg.DecodeError, match="contains itself"):
        sarg.decode(write(top, ("java", "hive_3_1", "text_2", "plain_kryo_3")))


def test_a_search_argument_that_doubles_at_each_level_is_refused():
    tree = Obj(PACKAGE + "ExpressionTree", {"constant": "YES_NO_NULL", "leaf": -1, "operator": "CONSTANT"})
    for _ in range(60):
        tree = Obj(PACKAGE + "ExpressionTree", {"children": Items([tree, tree]), "leaf": -1, "operator": "OR"})
    top = Obj(PACKAGE + "SearchArgumentImpl", {"expression": tree, "leaves": Items([])})
    with pytest.raises(sarg.DecodeError, match="too many nodes"):
        sarg.decode(write(top, ("java", "hive_3_1", "text_2", "plain_kryo_3")))


def test_a_search_argument_has_no_hive_tree():
    record = next(r for r in records("4.0.1") if "sarg_kryo_base64" in r)
    with pytest.raises(sarg.DecodeError):
        sarg.decode_exprnode(record["sarg_kryo_base64"])


def test_a_truncated_search_argument_never_decodes():
    data = base64.b64decode(next(r["sarg_kryo_base64"] for r in records("2.3.10") if len(r["sarg_kryo_base64"]) < 400))
    for length in range(1, len(data)):
        with pytest.raises(sarg.DecodeError):
            sarg.decode(data[:length])


LONG, DOUBLE, TEXT = "java.lang.Long", "java.lang.Double", "java.lang.String"


def demoted(operator, kind, literal=None, literals=None):
    leaf = PredicateLeaf(operator, kind, "x", literal, literals)
    tree = ArgumentTree("LEAF", leaf=leaf)
    expression = demote(SearchArgument(tree, tree, (leaf,)))
    assert isinstance(expression, And)
    assert isinstance(expression.children[1], Unknown)
    return expression.children[0]


class TestInexactLeaves:
    @pytest.mark.parametrize(
        ("kind", "literal"),
        [
            ("LONG", Constant(LONG, 0)),
            ("LONG", Constant(LONG, 2**63 - 1)),
            ("LONG", Constant(LONG, -(2**63))),
            ("STRING", Constant(TEXT, "5")),
            ("STRING", Constant(TEXT, "-5.0")),
            ("STRING", Constant(TEXT, "NaN")),
            ("STRING", Constant(TEXT, "2020-01-02")),
            ("STRING", Constant(TEXT, "true")),
            ("STRING", Constant(TEXT, "ab ")),
            ("STRING", Constant(TEXT, "")),
            ("FLOAT", Constant(DOUBLE, float("nan"))),
            ("FLOAT", Constant(DOUBLE, float("inf"))),
            ("DATE", Constant("java.sql.Date", SqlDate(-13_000_000_000_000))),
            ("LONG", Constant("org.apache.hadoop.hive.ql.plan.DynamicValue", "DynamicValue(RS_3)")),
            ("LONG", None),
        ],
        ids=str,
    )
    def test_leaf_is_unknown(self, kind, literal):
        assert isinstance(demoted("EQUALS", kind, literal), Unknown)

    def test_between_is_unknown_because_old_versions_lose_the_not(self):
        assert isinstance(demoted("BETWEEN", "LONG", None, (Constant(LONG, 1), Constant(LONG, 9))), Unknown)

    @pytest.mark.parametrize(
        ("operator", "text"),
        [
            ("LESS_THAN", "(x < 4 OR (x < 6 AND ?(a SearchArgument's literal is not exact)))"),
            ("LESS_THAN_EQUALS", "(x < 4 OR (x <= 6 AND ?(a SearchArgument's literal is not exact)))"),
            ("EQUALS", "(x >= 4 AND x <= 6 AND ?(a SearchArgument's literal is not exact))"),
        ],
    )
    def test_a_long_stands_for_every_number_that_is_cut_to_it(self, operator, text):
        assert plain_text(demoted(operator, "LONG", Constant(LONG, 5))) == text

    @pytest.mark.parametrize(
        ("kind", "value", "true_value"),
        [
            ("LONG", Constant(LONG, 5), 5.5),
            ("LONG", Constant(LONG, -5), -5.9),
            ("LONG", Constant(LONG, 2**40), 2**40 + 0.9),
            ("FLOAT", Constant(DOUBLE, 0.10000000149011612), 0.1),
            ("FLOAT", Constant(DOUBLE, 1.6777218e7), 16777217.5),
            ("FLOAT", Constant(DOUBLE, 0.0), 1e-60),
        ],
        ids=str,
    )
    def test_the_literal_as_it_was_lies_in_the_range(self, kind, value, true_value):
        bounds = [node.value for node in walk(demoted("EQUALS", kind, value)) if isinstance(node, Literal)]
        assert min(bounds) < true_value < max(bounds)


class TestExactLeaves:
    def test_is_null(self):
        assert plain_text(demoted("IS_NULL", "LONG")) == "x IS NULL"

    def test_boolean(self):
        leaf = demoted("EQUALS", "BOOLEAN", Constant("java.lang.Boolean", True))
        assert isinstance(leaf, Compare)
        assert leaf.right == Literal(True, BOOLEAN)

    @pytest.mark.parametrize("text", ["abc", "x1", "日本語", "it's"])
    def test_a_text_that_is_no_number_date_or_boolean(self, text):
        assert demoted("LESS_THAN", "STRING", Constant(TEXT, text)).right == Literal(text, STRING)

    def test_a_list_of_texts_keeps_its_null(self):
        leaf = demoted("IN", "STRING", None, (Constant(TEXT, "a"), None, Constant(TEXT, "b")))
        assert plain_text(leaf) == "(x = 'a' OR x = 'b' OR NULL)"


@pytest.mark.parametrize(
    ("constant", "text"),
    [
        ("YES", "TRUE"),
        ("NO", "FALSE"),
        ("NULL", "NULL"),
        *[
            (name, "?(a condition that Hive did not put into the SearchArgument)")
            for name in ("YES_NO_NULL", "YES_NO", "YES_NULL", "NO_NULL", None)
        ],
    ],
)
def test_truth_values(constant, text):
    tree = ArgumentTree("CONSTANT", constant=constant)
    assert plain_text(demote(SearchArgument(tree, tree, ())).children[0]) == text


def test_wrapper_literals_of_plain_kryo_are_read():
    leaf = Obj(
        PACKAGE + "SearchArgumentImpl$PredicateLeafImpl",
        {"columnName": "a", "literal": Wrapper(LONG, 5), "operator": "LESS_THAN", "type": "LONG"},
    )
    at = Obj(PACKAGE + "ExpressionTree", {"leaf": 0, "operator": "LEAF"})
    top = Obj(PACKAGE + "SearchArgumentImpl", {"expression": at, "leaves": Items([leaf])})
    argument = sarg.decode_detailed(write(top, ("java", "hive_3_1", "text_2", "plain_kryo_3"))).search_argument
    assert argument.leaves[0].literal == Constant(LONG, 5)
