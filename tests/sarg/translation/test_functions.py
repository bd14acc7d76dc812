"""Filters with every function of Hive decode and translate: ``functions_<version>.json.xz``."""

import functools
import json
import lzma

import pytest

import sarg
from evaluator.language.expression import to_dict
from sarg.hive_tree.exprnode import FunctionNode
from sarg.kryo.layout import Shape, load_layouts
from sarg.kryo.profiles import EXPRESSION_PROFILES, SEARCH_ARGUMENT_PROFILES
from sarg.kryo.scalars import SCALARS
from sarg.translation.calls import call
from tests.sarg.corpus import DATA

VERSIONS = ("3.1.3", "4.0.1", "4.1.0")


@functools.cache
def filters(version):
    return json.loads(lzma.decompress((DATA / f"functions_{version}.json.xz").read_bytes()))


def functions_of(tree):
    stack = [tree]
    while stack:
        node = stack.pop()
        if "func" in node:
            yield node.get("udfClassName") or node["func"]
        stack.extend(node.get("children", []))
        stack.extend([node["of"]] if "of" in node else [])


@pytest.mark.parametrize("version", VERSIONS)
def test_every_filter_decodes_value_by_value_and_translates(version):
    functions = set()
    for record in filters(version):
        decoded = sarg.decode_detailed(record["kryo_base64"])
        tree = decoded.exprnode.to_dict()
        assert tree == record["tree"], record["sql"]
        assert json.dumps(tree) == json.dumps(record["tree"]), record["sql"]
        assert to_dict(decoded.expression)
        functions.update(functions_of(tree))
    assert len(filters(version)) >= 800
    assert len(functions) > 200
    print(f"Hive {version}: {len(filters(version))} filters with {len(functions)} functions equal")


@pytest.mark.parametrize("sql", ["(a = 5) is not true", "(a = 5) is true", "bo is not false"])
@pytest.mark.parametrize("version", ["3.1.3", "4.0.1"])
def test_truth_tests_of_sql_decode(version, sql):
    record = next(r for r in filters(version) if r["sql"] == sql)
    assert sarg.decode_exprnode(record["kryo_base64"]).to_dict() == record["tree"]


def is_no_function(java):
    """Aggregates, and fields of reflected structs: no filter can contain them."""
    return ".GenericUDAF" in java or java.endswith("ReflectionStructObjectInspector$MyField")


@pytest.mark.parametrize("profile", [*EXPRESSION_PROFILES, *SEARCH_ARGUMENT_PROFILES], ids=lambda p: p.name)
def test_the_tables_hold_only_what_the_reader_knows(profile):
    layouts = load_layouts(profile.tables)
    primitives = {"int", "long", "boolean", "byte", "short", "char", "float", "double"}
    for java in layouts.classes:
        layout = layouts.of(java)
        assert layout is not None, java
        if layout.shape is Shape.SCALAR:
            assert layout.detail in {*SCALARS, "ClassSerializer"}, java
        for slot in layout.slots:
            assert slot.primitive is None or slot.primitive in primitives, (java, slot.name)
            assert slot.known is None or layouts.of(slot.known) or is_no_function(java), (java, slot.name)


@pytest.mark.parametrize(
    ("java", "type_name", "text"),
    [
        ("GenericUDFCurrentDate", "date", "current_date()"),
        ("GenericUDFCurrentTimestamp", "timestamp", "current_timestamp()"),
        ("GenericUDFUnixTimeStamp", "bigint", "unix_timestamp()"),
    ],
)
def test_a_clock_that_hive_has_not_fixed_stays_a_function(java, type_name, text):
    node = FunctionNode(f"org.apache.hadoop.hive.ql.udf.generic.{java}", type_name, ())
    assert str(call(java, node.java, node, [])) == text
