"""The filter that Spark's side sends: every kind of value arrives, and what is damaged is refused as a whole."""

from __future__ import annotations

import json

import pytest

from evaluator.language.expression import Opaque, Unknown, to_text, walk
from handler.catalyst.document import DocumentError, TooLargeDocumentError, read_document, without_run_numbers
from handler.catalyst.translation import condition_of
from tests.handler.catalyst.documents import attribute, conditions, document, leaf, literal, node
from tests.handler.catalyst.test_catalyst import RECORDED, VERSIONS, recorded
from tests.handler.spark.catalyst_cases import ZONE

I_IS_5 = (node("EqualTo", attribute("i", "integer"), literal(5, "integer")), {})
STRING = attribute("s", "string")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("mode", ["ansi false", "ansi true"])
def test_every_recorded_condition_arrives_as_it_was_sent(version, mode):
    for text in RECORDED[version][mode]:
        nodes, exact = recorded(version, text, ansi=mode == "ansi true")
        sent = document((nodes, exact))
        assert repr(read_document(sent, ZONE)) == repr(condition_of(nodes, exact, ZONE)), text


def in_set(data_type, *members, column_type=None):
    members = [list(member) if isinstance(member, tuple) else [data_type, member] for member in members]
    return node("InSet", attribute("c", column_type or data_type), hset=None), {0: members}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ((node("GreaterThan", attribute("t", "timestamp"), literal("2020-01-01 00:00:00", "timestamp")),
          {2: 1_577_836_800_000_000}), "t > TIMESTAMP '2019-12-31 19:00:00'"),
        ((node("EqualTo", attribute("b", "binary"), literal("[61]", "binary")), {2: b"a\x00\xff"}),
         "b = X'6100FF'"),
        ((node("Like", STRING, literal("a/%%", "string")), {0: "/"}), "s LIKE 'a/%%'"),
        ((node("ILike", STRING, literal("A/%%", "string")), {0: "/"}), "lower(s) LIKE 'a/%%'"),
        ((node("LikeAny", STRING), {0: ["a%", None]}), "(s LIKE 'a%' OR NULL)"),
        ((node("NotLikeAll", STRING), {0: ["a%", "b%"]}), "(NOT s LIKE 'a%' AND NOT s LIKE 'b%')"),
        (in_set("integer", 3, 9, None), "c IN (3, 9, NULL)"),
        (in_set("long", 1 << 62), f"c IN ({1 << 62})"),
        (in_set("date", 18262), "c IN (DATE '2020-01-01')"),
        (in_set("boolean", True, False), "c IN (TRUE, FALSE)"),
        (in_set("double", 1.5, "NaN", "Infinity", "-Infinity", -0.0), "c IN (1.5, NaN, inf, -inf, -0.0)"),
        (in_set("float", 0.1), "c IN (0.10000000149011612)"),
        (in_set("decimal(10,2)", "5.10", "-0.01"), "c IN (5.10, -0.01)"),
        (in_set("string", "a", "'", ""), "c IN ('a', '''', '')"),
        (in_set("binary", b"\x00a"), "c IN (X'0061')"),
        ((node("EqualTo", node("Strange", STRING), literal("a", "string")), {1: "initcap2"}),
         "?(function initcap2 is not decided) = 'a'"),
    ],
    ids=["timestamp", "binary", "Like", "ILike", "LikeAny", "NotLikeAll", "integers", "long", "dates", "booleans",
         "doubles", "floats", "decimals", "texts", "binaries", "a name"],
)  # fmt: skip
def test_what_the_nodes_leave_out_arrives(condition, expected):
    assert to_text(read_document(document(condition), ZONE)).upper() == expected.upper()


def test_the_escape_character_arrives():
    like = read_document(document((node("Like", STRING, literal("a/%%", "string")), {0: "/"})))
    assert like.escape == "/"


def test_all_conditions_must_hold():
    assert to_text(read_document(document(I_IS_5, I_IS_5))) == "(i = 5 AND i = 5)"
    assert to_text(read_document(document(I_IS_5))) == "i = 5"
    assert to_text(read_document(document())) == "TRUE"


def test_what_nobody_tells_is_unknown():
    condition = read_document(document((in_set("integer", 3)[0], {})))
    assert isinstance(condition, Unknown)


def test_the_same_query_of_another_run_is_the_same_document():
    one, other = (
        document((node("IsNull", attribute("i", "integer", number)), {})).replace(b'": ', b'":').replace(b', "', b',"')
        for number in (7, 812)
    )
    assert one != other
    assert without_run_numbers(one) == without_run_numbers(other)
    assert to_text(read_document(without_run_numbers(one))) == to_text(read_document(one))


def test_a_text_that_looks_like_a_run_number_stays():
    text = '"exprId":{"product-class":"a.ExprId","id":7,"jvmId":"85a6"}'
    sent = document((node("EqualTo", STRING, literal(text, "string")), {}))
    assert without_run_numbers(sent) == sent


def changed(**fields):
    """A document whose first condition has another part."""
    [condition] = conditions(I_IS_5)
    return json.dumps({"version": 1, "conditions": [{**condition, **fields}]}).encode()


def one_literal(value, data_type, exact=None):
    """``c = literal``, and the value that it leaves out."""
    tree = node("EqualTo", attribute("c", data_type), literal(value, data_type))
    return document((tree, {} if exact is None else {2: exact}))


HOSTILE = {
    "nothing": b"",
    "no JSON": b"i = 5",
    "no object": b"[]",
    "Hive's": b"AQEAamF2YQ==",
    "no UTF-8": document(I_IS_5).replace(b"EqualTo", b"Equal\xff"),
    "UTF-16": document(I_IS_5).decode().encode("utf-16"),
    "half a pair": one_literal("x", "string").replace(b'"x"', b'"\\ud800"'),
    "cut": document(I_IS_5)[:-9],
    "more behind it": document(I_IS_5) + b"{}",
    "no version": b'{"conditions": []}',
    "version 2": document(version=2),
    "version TRUE": document(version=True),
    "version 1.0": document(version=1.0),
    "no conditions": b'{"version": 1}',
    "conditions by name": b'{"version": 1, "conditions": {}}',
    "a condition of no kind": b'{"version": 1, "conditions": [7]}',
    "no nodes": changed(nodes=[]),
    "nodes by name": changed(nodes={}),
    "a node of no kind": changed(nodes=[7]),
    "a node without class": changed(nodes=[{"num-children": 0}]),
    "a node without children": changed(nodes=[{"class": "x"}]),
    "TRUE children": changed(nodes=[{"class": "Not", "num-children": True}, *I_IS_5[0]]),
    "-1 children": changed(nodes=[{"class": "Not", "num-children": -1}]),
    "many children": changed(nodes=[{"class": "Or", "num-children": 1 << 60}]),
    "two trees": changed(nodes=[*I_IS_5[0], *I_IS_5[0]]),
    "an attribute without name": document(([leaf("AttributeReference", dataType="integer")], {})),
    "a literal without type": document(([leaf("Literal", value="5")], {})),
    "a type of odd fields": document(
        (node("GetStructField", attribute("st", {"type": "struct", "fields": [{}]}), ordinal=0), {})
    ),
    "exact by place": changed(exact=[]),
    "exact of no node": changed(exact={"3": "x"}),
    "exact of node -1": changed(exact={"-1": "x"}),
    "exact of a far node": changed(exact={"9" * 4000: "x"}),
    "exact of another class": changed(exact={"0": 5}),
    "a timestamp as text": one_literal("x", "timestamp", "2020-01-01"),
    "a timestamp TRUE": one_literal("x", "timestamp", True),
    "a timestamp of 65 bits": one_literal("x", "timestamp", 1 << 63),
    "an endless timestamp": one_literal("x", "timestamp", 0).replace(b'"2": 0', b'"2": 1e400'),
    "a timestamp of many digits": one_literal("x", "timestamp", 0).replace(b'"2": 0', b'"2": ' + b"9" * 5000),
    "a binary without Base64": one_literal("x", "binary", {"base64": "%"}),
    "two escapes": document((node("Like", STRING, literal("a", "string")), {0: "//"})),
    "two escapes of ILIKE": document((node("ILike", STRING, literal("a", "string")), {0: "//"})),
    "patterns of numbers": document((node("LikeAny", STRING), {0: [1]})),
    "members without type": document((in_set("integer", 3)[0], {0: [3]})),
    "a member NaN": document(in_set("double", float("nan"))),
    "a member of 65 bits": document(in_set("long", -(1 << 63) - 1)),
    "a member of no kind": document(in_set("integer", [3])),
    "levels": b'{"version": 1, "conditions": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "deep types": document((attribute("c", {}), {})).replace(
        b'"dataType": {}', b'"dataType": ' + b'{"a":' * 300 + b"0" + b"}" * 300
    ),
    "a crowd of lists": b'{"version": 1, "conditions": [' + b"[]," * 1_300_000 + b"[]]}",
}  # fmt: skip


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE)
def test_what_is_damaged_is_refused(sent):
    with pytest.raises(DocumentError) as refused:
        read_document(sent)
    assert len(refused.value.why) < 200


@pytest.mark.parametrize(
    "sent",
    [
        one_literal("1E+999999999", "decimal(10,2)"),
        one_literal("9" * 400, "decimal(38,0)"),
        one_literal("5", "decimal(999999999,0)"),
        one_literal("5", "decimal(5,9)"),
        one_literal("12345", "decimal(4,0)"),
        one_literal("0.55", "decimal(4,1)"),
        one_literal("9" * 30, "integer"),
        one_literal("300", "byte"),
        one_literal("x", "integer"),
        one_literal(str(1 << 63), "timestamp_ntz"),
        one_literal(str(1 << 63), "interval day to second"),
        one_literal("1-1-1", "date"),
    ],
    ids=[
        "exponent",
        "digits",
        "precision",
        "scale",
        "more digits",
        "a longer scale",
        "integer",
        "byte",
        "word",
        "wall clock",
        "interval",
        "date",
    ],
)
def test_a_constant_that_spark_does_not_have_is_unknown(sent):
    assert any(isinstance(part, Unknown | Opaque) for part in walk(read_document(sent)))


def test_nodes_and_members_are_counted_before_they_are_read():
    few, many = document(I_IS_5, I_IS_5), document(in_set("integer", *range(5)))
    assert to_text(read_document(few, max_nodes=6)) == "(i = 5 AND i = 5)"
    assert to_text(read_document(many, max_nodes=7)) == "c IN (0, 1, 2, 3, 4)"
    for sent, count in ((few, 5), (many, 6)):
        with pytest.raises(TooLargeDocumentError):
            read_document(sent, max_nodes=count)


def test_a_document_of_more_bytes_than_any_is_too_large():
    with pytest.raises(TooLargeDocumentError):
        read_document(b" " * (17 << 20) + document(I_IS_5))
