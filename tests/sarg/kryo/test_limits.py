"""Hostile bytes: every count is checked before it is used, and every failure is a DecodeError."""

import time
import tracemalloc

import pytest

import sarg
from evaluator.language.expression import And, Not, Unknown, fold, to_text
from sarg.kryo import limits
from tests.sampling import share
from tests.sarg.kryo_writer import (
    BOOLEAN,
    HIVE_4,
    INT,
    PLAN,
    STRING,
    TYPES,
    UDF,
    Items,
    Obj,
    Wrapper,
    column,
    constant,
    function,
    integer,
    type_info,
    write,
)
from tests.sarg.plain_text import plain_text

EQUALS = function("OPEqual", column("a"), integer(5))


def fails(data):
    with pytest.raises(sarg.DecodeError) as caught:
        sarg.decode(data)
    return caught.value


@pytest.mark.parametrize("hive_4", [False, True], ids=["Kryo 3", "Kryo 5"])
def test_the_test_writer_writes_what_hive_writes(hive_4):
    data = write(EQUALS, *HIVE_4) if hive_4 else write(EQUALS)
    assert plain_text(sarg.decode(data)) == "a = 5"


@pytest.mark.parametrize("name", share(["OPNot", "OPAnd", "OPPlus"], 4))
def test_an_expression_10000_deep_decodes_translates_and_prints(name):
    tree = EQUALS
    for _ in range(limits.MAX_EXPRESSION_DEPTH - 2):
        tree = function(name, tree) if name == "OPNot" else function(name, tree, EQUALS)
    decoded = sarg.decode_detailed(write(tree))
    depth = 0
    node = decoded.exprnode.to_dict()
    while "children" in node:
        node, depth = node["children"][0], depth + 1
    assert depth == limits.MAX_EXPRESSION_DEPTH - 1
    if name == "OPNot":
        assert isinstance(decoded.expression, Not)
        assert fold(decoded.expression, lambda _, below: 1 + max(below, default=0)) == 10_000
    if name == "OPAnd":
        assert isinstance(decoded.expression, And)
        assert len(decoded.expression.children) == limits.MAX_EXPRESSION_DEPTH - 1
    assert to_text(decoded.expression)


def test_an_expression_deeper_than_the_limit_is_refused():
    tree = EQUALS
    for _ in range(limits.MAX_EXPRESSION_DEPTH + 5):
        tree = function("OPNot", tree)
    assert "nested more than 10000 deep" in fails(write(tree)).why


@pytest.mark.nightly
def test_objects_deeper_than_the_limit_are_refused():
    inner = None
    for _ in range(limits.MAX_OBJECT_DEPTH + 10):
        inner = Items([inner])
    assert "nested more than 40000 deep" in fails(write(function("OPNull", constant(inner)))).why


def test_a_shared_subtree_counts_each_time_it_is_met():
    tree = EQUALS
    for _ in range(60):
        tree = function("OPAnd", tree, tree)
    data = write(tree)
    assert len(data) < 2000
    assert "expands to more than" in fails(data).why


def test_a_shared_subtree_that_stays_small_is_read():
    tree = function("OPOr", function("OPAnd", EQUALS, EQUALS), EQUALS)
    assert plain_text(sarg.decode(write(tree))) == "((a = 5 AND a = 5) OR a = 5)"


def test_an_expression_that_contains_itself_is_refused():
    tree = function("OPNot", EQUALS)
    tree.fields["chidren"].items[0] = tree
    assert "contains itself" in fails(write(tree)).why


def test_a_constant_that_contains_itself_is_refused():
    loop = Items([])
    loop.items.append(loop)
    assert "nested too deep" in fails(write(function("OPNull", constant(loop)))).why


def test_a_constant_list_that_doubles_at_each_level_is_refused():
    items = Items([Wrapper("java.lang.Integer", 1)])
    for _ in range(18):
        items = Items([items, items])
    assert "too large" in fails(write(function("OPNull", constant(items)))).why


def test_constants_that_share_one_list_count_it_each_and_are_refused_before_they_are_built():
    """100 constants of one list of 10,000 items: a million items, in a filter of 5 KB."""
    items = Items([Items([Wrapper("java.lang.Integer", 1)] * 100)] * 100)
    tree = function("OPAnd", *[function("OPEqual", column("a"), constant(items)) for _ in range(100)])
    data = write(tree)
    assert len(data) < 10_000
    tracemalloc.start()
    try:
        with pytest.raises(sarg.TooLargeError, match="too large"):
            sarg.decode_detailed(data, sarg.Limits(nodes=20_000))
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


DOUBLE = type_info("double")
NUMBER = constant(Wrapper("java.lang.Double", 1.0), DOUBLE)
#: Hive functions whose translation contains an operand more than once.
REPEATING = {
    "nullif": lambda x: function("Nullif", x, NUMBER, hive_type=DOUBLE),
    "case": lambda x: function("Case", x, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, hive_type=DOUBLE),
    "between": lambda x: function(
        "If",
        function("Between", constant(Wrapper("java.lang.Boolean", False), BOOLEAN), x, NUMBER, NUMBER),
        NUMBER,
        NUMBER,
        hive_type=DOUBLE,
    ),
}


@pytest.mark.parametrize("name", REPEATING)
def test_a_translation_that_doubles_at_each_level_is_refused_though_its_tree_is_small(name):
    for depth, is_read in ((5, True), (60, False)):
        operand = column("x", DOUBLE)
        for _ in range(depth):
            operand = REPEATING[name](operand)
        data = write(function("OPLessThan", operand, NUMBER))
        if is_read:
            assert to_text(sarg.decode(data))
        else:
            assert "the translated filter expands to more than" in fails(data).why


@pytest.mark.parametrize(("given", "is_read"), [((19, 1000), True), ((18, 1000), False), ((19, 50), False)], ids=str)
def test_a_caller_may_give_smaller_limits_and_is_told_which_filters_exceed_them(given, is_read):
    tree = function("OPAnd", *[function("OPEqual", column("a"), integer(n)) for n in range(6)])
    limits_given = sarg.Limits(*given)
    if is_read:
        assert len(sarg.decode_detailed(write(tree), limits_given).expression.children) == 6
    else:
        with pytest.raises(sarg.TooLargeError):
            sarg.decode_detailed(write(tree), limits_given)


def test_limits_hold_for_all_profiles_together():
    """Bytes that no profile reads to the end are read by each of them."""
    data = write(function("OPAnd", *[EQUALS] * 200)) + b"\x00"
    with pytest.raises(sarg.DecodeError) as caught:
        sarg.decode_detailed(data)
    assert not isinstance(caught.value, sarg.TooLargeError)
    with pytest.raises(sarg.TooLargeError):
        sarg.decode_detailed(data, sarg.Limits(objects=300))


def test_a_type_that_doubles_at_each_level_is_refused():
    hive_type = INT
    for _ in range(60):
        hive_type = Obj(TYPES + "MapTypeInfo", {"mapKeyTypeInfo": hive_type, "mapValueTypeInfo": hive_type})
    assert "types of more than" in fails(write(function("OPNull", column("m", hive_type)))).why


def test_a_type_nested_101_deep_is_refused():
    hive_type = INT
    for _ in range(101):
        hive_type = Obj(TYPES + "ListTypeInfo", {"listElementTypeInfo": hive_type})
    assert "nested more than 100 deep" in fails(write(function("OPNull", column("m", hive_type)))).why


def test_a_struct_that_repeats_one_long_name_is_refused_at_once():
    name = "x" * 500_000
    hive_type = Obj(
        TYPES + "StructTypeInfo",
        {"allStructFieldNames": Items([name] * 50_000), "allStructFieldTypeInfos": Items([INT] * 50_000)},
    )
    started = time.process_time()
    assert "types of more than" in fails(write(function("OPNull", column("m", hive_type)))).why
    assert time.process_time() - started < 10


def test_a_long_text_counts_each_time_it_is_met():
    long = constant("x" * 1_000_000, STRING)
    tree = function("OPOr", *[function("OPEqual", column("s", STRING), long) for _ in range(1000)])
    assert "expands to more than" in fails(write(tree)).why


def test_a_string_longer_than_the_limit_is_refused():
    tree = function("OPEqual", column("s", STRING), constant("x" * (limits.MAX_STRING + 1), STRING))
    assert "too long" in fails(write(tree)).why


def test_a_string_whose_length_is_a_lie_is_refused():
    data = write(function("OPNull", column("s" * 70)))
    lie = data.replace(b"\xc7\x01" + b"s" * 70, b"\xff\xff\xff\xff\x07" + b"s" * 70)
    assert lie != data
    assert "too long" in fails(lie).why


def test_a_list_whose_length_is_a_lie_is_refused():
    data = write(EQUALS)
    head = data.index(b"ArrayLis\xf4") + len(b"ArrayLis\xf4")
    assert data[head : head + 2] == b"\x01\x02"
    assert fails(data[: head + 1] + b"\xff\xff\xff\xff\x07" + data[head + 2 :])


def test_a_kryo_5_list_of_nulls_is_counted_though_it_takes_no_bytes():
    data = write(EQUALS, *HIVE_4)
    head = data.index(b"ArrayLis\xf4") + len(b"ArrayLis\xf4") + 1
    assert data[head] == 3
    assert "more than" in fails(data[:head] + b"\xff\xff\xff\xff\x07\x00" + data[head + 1 :]).why


@pytest.mark.parametrize("size", [limits.MAX_INPUT + 1, limits.MAX_BASE64 + 1])
def test_an_input_larger_than_the_limit_is_refused_unread(size):
    assert "at most" in fails(b"\x01" + bytes(size)).why
    assert "at most" in fails("A" * (limits.MAX_BASE64 + 1)).why
    assert "at most" in fails("A" * (limits.MAX_INPUT // 3 * 4 + 8)).why


def test_a_reference_to_nothing_is_refused():
    data = write(EQUALS)
    assert "reference to object 125" in fails(data.replace(b"\x01\x82a", b"\x7f", 1)).why


@pytest.mark.parametrize("java", ["com.evil.Runtime", "java.lang.ProcessBuilder", "os.system"])
def test_a_class_outside_the_tables_is_named_and_never_loaded(java):
    error = fails(write_unknown(java))
    assert java in error.why
    assert "no layout" in error.why


def write_unknown(java):
    data = write(EQUALS)
    name = (UDF + "OPEqual").encode()
    at = data.index(name[:-1])
    return data[:at] + java[:-1].encode() + bytes([ord(java[-1]) | 0x80]) + data[at + len(name) :]


def test_a_stream_of_tiny_objects_ends_at_the_limit():
    """Kryo 3: a list with a length of two million, each item a BooleanWritable of 4 bytes."""
    one = write(function("OPNull", constant(Items([Obj("org.apache.hadoop.io.BooleanWritable")]))))
    first = b"\x01\x03org.apache.hadoop.io.BooleanWritabl\xe5"
    head = one.index(first)
    assert one[head - 1] == 1
    data = one[: head - 1] + b"\xff\xff\x7f" + first + b"\x01\x00" + b"\x01\x03\x01\x00" * 2_097_151
    started = time.process_time()
    error = fails(data)
    assert f"more than {limits.MAX_OBJECTS} objects" in error.why
    assert time.process_time() - started < 20


@pytest.mark.nightly
def test_an_in_list_of_50000_members_is_read():
    members = [integer(n) for n in range(50_000)]
    expression = sarg.decode(write(function("In", column("a"), *members)))
    assert len(expression.members) == 50_000


def test_a_node_without_a_function_or_a_type_is_not_plausible():
    bare = Obj(PLAN + "GenericFuncDesc", {"chidren": Items([]), "genericUDF": None, "typeInfo": BOOLEAN})
    assert "no function" in fails(write(bare)).why
    untyped = Obj(PLAN + "GenericFuncDesc", {"chidren": Items([]), "genericUDF": Obj(UDF + "OPNot")})
    assert "no type" in fails(write(untyped)).why
    stranger = function("OPNot", Items([]))
    assert "not an expression" in fails(write(stranger)).why


@pytest.mark.parametrize("children", [0, 1, 3])
def test_an_operator_with_a_strange_number_of_arguments_is_unknown(children):
    for name in ("OPEqual", "Between", "In", "OPLessThan"):
        expression = sarg.decode(write(function(name, *[column("a")] * children)))
        assert isinstance(expression, Unknown) or name == "In"
