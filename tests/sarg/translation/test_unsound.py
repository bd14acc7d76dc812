"""Rows that Hive's own SearchArgument loses are kept, by the typed expression and by the demoted SearchArgument.

Each case is a condition on the path without Hive's optimiser, the SearchArgument that Hive made of it, and rows for
which Hive's evaluator returns TRUE and the SearchArgument NO. The filter is read from Hive's bytes where the corpus has
them, and from bytes built here otherwise.

Facts: docs/facts/hive-search-argument.md#conditions-that-lose-rows.
"""

import datetime
import json
import re

import pytest

import sarg
from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import evaluate_slice
from evaluator.language.interval import point
from evaluator.language.outcome import TRUE
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Type
from sarg.hive_tree.constants import Constant, SqlTimestamp
from sarg.hive_tree.searchargument import ArgumentTree, PredicateLeaf, SearchArgument
from sarg.translation.demote import demote
from tests.sarg.corpus import DATA, records
from tests.sarg.kryo_writer import TYPES, Obj, Wrapper, column, constant, function, type_info, write

TYPES_OF = {"a": "int", "b": "bigint", "ti": "tinyint", "s": "string", "ch": "char(10)", "ts": "timestamp"}
SCHEMA = Schema(Field(name, Type.parse(hive_type)) for name, hive_type in TYPES_OF.items())
HIVE = Semantics.named("hive", "UTC")
CASES = [json.loads(line) for line in (DATA / "unsound.jsonl").read_text().splitlines()]
CHAR = Obj(TYPES + "CharTypeInfo", {"length": 10, "typeName": "char"})


def lost_rows(case):
    """``[{a=5}, {s=05}]`` as intervals of slices of that one row."""
    for name, text in re.findall(r"\{(\w+)=([^}]*)\}", case["example"]):
        yield {name: point(value(name, text))}


def value(name, text):
    if name == "ts":
        epoch = datetime.datetime(1970, 1, 1)
        return (datetime.datetime.fromisoformat(text) - epoch) // datetime.timedelta(microseconds=1)
    return text if name in ("s", "ch") else int(text)


def col(name):
    return column(name, CHAR if name == "ch" else type_info(TYPES_OF[name]))


def dec(unscaled, scale=1):
    fields = {"fast0": unscaled, "fastScale": scale, "fastSignum": 1}
    return constant(
        Obj("org.apache.hadoop.hive.common.type.HiveDecimal", fields),
        Obj(TYPES + "DecimalTypeInfo", {"precision": 2, "scale": scale, "typeName": "decimal"}),
    )


def double(number):
    return constant(Wrapper("java.lang.Double", number), type_info("double"))


def whole(number):
    return constant(Wrapper("java.lang.Integer", number))


def text(string):
    return constant(string, type_info("string"))


def moment(year, month, day):
    local = {
        "date": Obj("java.time.LocalDate", {"year": year, "month": month, "day": day}),
        "time": Obj("java.time.LocalTime"),
    }
    return constant(
        Obj("org.apache.hadoop.hive.common.type.Timestamp", {"localDateTime": Obj("java.time.LocalDateTime", local)}),
        type_info("timestamp"),
    )


def between(operand, low, high):
    no = constant(Wrapper("java.lang.Boolean", False), type_info("boolean"))
    return function("Between", no, operand, low, high)


BUILT = {
    "a < 5.5": function("OPLessThan", col("a"), dec(55)),
    "a <> 5.5": function("OPNotEqual", col("a"), dec(55)),
    "not (a = 5.5)": function("OPNot", function("OPEqual", col("a"), dec(55))),
    "a not in (1.5)": function("OPNot", function("In", col("a"), dec(15))),
    "a < cast(5.5 as double)": function("OPLessThan", col("a"), double(5.5)),
    "a < 5.5D": function("OPLessThan", col("a"), double(5.5)),
    "a <> 5.5D": function("OPNotEqual", col("a"), double(5.5)),
    "b < 5.5": function("OPLessThan", col("b"), dec(55)),
    "ti < 5.5": function("OPLessThan", col("ti"), dec(55)),
    "s = 5.0": function("OPEqual", col("s"), dec(5, 0)),
    "s = 5": function("OPEqual", col("s"), whole(5)),
    "a not between 1.5 and 2.5": function("OPNot", between(col("a"), dec(15), dec(25))),
    "s between 1 and 9": between(col("s"), whole(1), whole(9)),
    "ch in ('a','b')": function("In", col("ch"), text("a"), text("b")),
    "ch = cast('ab' as char(3))": function(
        "OPEqual",
        col("ch"),
        constant(
            Obj("org.apache.hadoop.hive.common.type.HiveChar", {"value": "ab "}),
            Obj(TYPES + "CharTypeInfo", {"length": 3, "typeName": "char"}),
        ),
    ),
    "ts = timestamp '0001-01-01 00:00:00'": function("OPEqual", col("ts"), moment(1, 1, 1)),
    "ts = timestamp '1582-10-10 00:00:00'": function("OPEqual", col("ts"), moment(1582, 10, 10)),
    "ch between 'a' and 'b'": between(col("ch"), text("a"), text("b")),
}


def filters(case):
    """The condition as bytes: Hive's where the corpus has them, otherwise built here."""
    for record in records(case["hive"]):
        if record["sql"] == case["sql"] and record["source"] in ("gen", "hand"):
            yield record["kryo_base64"]
    if case["sql"] in BUILT:
        yield write(BUILT[case["sql"]])


def argument(case):
    """The SearchArgument of a case, from its text: one leaf, perhaps under a NOT."""
    operator, name, literals = re.search(r"\((\w+) (\w+) ([^)]*)\)", case["sarg"]).groups()
    kind = {"s": "STRING", "ch": "STRING", "ts": "TIMESTAMP"}.get(name, "LONG")
    if name == "ts":
        moment = datetime.datetime.fromisoformat(f"{literals}00").replace(tzinfo=datetime.timezone.utc)
        values = [SqlTimestamp(int(moment.timestamp() * 1000), 0)]
    elif operator == "EQUALS":
        values = [literals]
    else:
        values = literals.split()
    constants = tuple(
        Constant("java.lang.Long", int(v)) if kind == "LONG" else Constant("java.lang.String", v) for v in values
    )
    leaf = PredicateLeaf(
        operator, kind, name, *((None, constants) if operator in ("IN", "BETWEEN") else (constants[0], None))
    )
    tree = ArgumentTree("LEAF", leaf=leaf)
    tree = ArgumentTree("NOT", (tree,)) if "(not " in case["sarg"] else tree
    return SearchArgument(tree, tree, (leaf,))


def keeps(expression, row):
    return bool(evaluate_slice(bind(expression, SCHEMA, HIVE), row) & TRUE)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['hive']} {case['sql']} {case['folded']}")
def test_no_row_that_hive_finds_is_lost(case):
    rows = list(lost_rows(case))
    expressions = [sarg.decode(data) for data in filters(case)]
    assert rows
    assert expressions
    for row in rows:
        for expression in [*expressions, demote(argument(case))]:
            assert keeps(expression, row), (str(expression), row)
