"""A filter's object graph, changed and written again: shapes that no bit flip reaches, in well-formed bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from sarg.kryo.values import Boxed, JavaList, JavaObject
from tests.fuzz.kryo_items import Parsed
from tests.sarg.kryo_writer import Items, KryoWriter, Obj, Wrapper, column, constant, function, integer

__all__ = ["mutate_graph", "writable", "written"]

_UDF = "org.apache.hadoop.hive.ql.udf.generic.GenericUDF"
_FUNCTIONS = (
    "OPAnd", "OPOr", "OPNot", "OPEqual", "OPNotEqual", "OPLessThan", "OPEqualOrLessThan", "OPGreaterThan", "OPNull",
    "OPEqualOrGreaterThan", "OPNotNull", "OPEqualNS", "In", "Between", "If", "Case", "When", "Coalesce", "OPPlus",
    "OPMinus", "OPMultiply", "OPDivide", "OPMod", "Abs", "Floor", "Ceil", "Round", "Upper", "Lower", "Length", "Trim",
    "Concat", "Date", "DateAdd", "DateSub", "ToDate", "Timestamp", "ToDecimal", "ToChar", "ToVarchar", "ToBinary",
    "Struct", "Array", "Map", "Index", "Greatest", "Least", "Nvl", "InFile", "Trunc", "Bridge", "OPTrue", "OPNotFalse",
)  # fmt: skip
_TEXTS = ("", "a", "A", "b", "int", "string", "date", "double", "timestamp", "decimal(10,2)", "decimal(38,38)", "void",
          "boolean", "bigint", "char(3)", "varchar(2)", "x" * 300, "2020-01-01", "NaN", "1e400", "-0", "\ud83d", "é",
          "like", "upper", "year", "interval_day_time", "binary", "struct<x:int>", "array<int>")  # fmt: skip
_NUMBERS = (0, 1, -1, 5, 100, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 1.5, -0.0, float("nan"), float("inf"), 5e-324)
_WRAPPERS = tuple(f"java.lang.{name}" for name in ("Integer", "Long", "Double", "Boolean", "Byte", "Short", "Float"))


def writable(graph: Any) -> Any:
    """The graph in the terms of the test writer. Raises ValueError for an object that it does not write."""
    made: dict[int, Any] = {}
    order: list[Any] = []
    stack = [graph]
    while stack:
        one = stack.pop()
        if id(one) in made:
            continue
        match one:
            case JavaObject():
                made[id(one)] = Obj(one.java, {})
                stack.extend(one.fields.values())
            case JavaList():
                made[id(one)] = Items([], one.java)
                stack.extend(one.items)
            case Boxed():
                made[id(one)] = Wrapper(one.java, one.value)
            case bytes():
                raise ValueError("a byte array")
            case _:
                made[id(one)] = one
        order.append(one)
    for one in order:
        match one:
            case JavaObject():
                made[id(one)].fields.update({name: made[id(value)] for name, value in one.fields.items()})
            case JavaList():
                made[id(one)].items.extend(made[id(value)] for value in one.items)
    return made[id(graph)]


def written(top: Any, filter_: Parsed) -> bytes:
    """The bytes under the profile of a filter. Raises whatever the test writer raises for what it does not know."""
    return KryoWriter(filter_.profile.tables, filter_.profile.generation).write(top)


def mutate_graph(rng: random.Random, filter_: Parsed, other: Parsed) -> bytes:
    """The filter after one to three changes of its graph."""
    top, donor = writable(filter_.graph), writable(other.graph)
    for _ in range(rng.choice((1, 1, 2, 3))):
        top = _change(rng, top, donor)
    return written(top, filter_)


def _change(rng: random.Random, top: Obj, donor: Obj) -> Obj:
    slots = list(_slots(top))
    holder, key, value = rng.choice(slots)
    match rng.randrange(13):
        case 0:  # a subtree of another filter
            _put(holder, key, _like(rng, value, list(_slots(donor))))
        case 1 | 2:  # a back reference: a shared subtree, or a cycle
            _put(holder, key, _like(rng, value, slots))
        case 3:
            _put(holder, key, None)
        case 4 | 5:
            _put(holder, key, _other_value(rng, value))
        case 6:  # a subtree that doubles at each level
            for _ in range(rng.choice((1, 2, 3, 5, 8) if rng.random() < 0.97 else (17, 30, 64))):
                top = function(rng.choice(("OPAnd", "OPOr", "Coalesce")), top, top)
        case 7:  # a deep tree
            name = rng.choice(("OPNot", "OPAnd", "OPNull", "Abs", "If"))
            for _ in range(rng.choice((1, 2, 20, 120) if rng.random() < 0.98 else (2_500, 9_990, 12_000))):
                top = function(name, top) if rng.random() < 0.7 else function(name, top, integer(1))
        case 8:
            lists = [one for _, _, one in slots if isinstance(one, Items)]
            if lists:
                _change_list(rng, rng.choice(lists), slots)
        case 9:
            objects = [one for _, _, one in slots if isinstance(one, Obj)]
            if objects:
                one = rng.choice(objects)
                one.java = rng.choice((_UDF + rng.choice(_FUNCTIONS), rng.choice(objects).java))
        case 10:
            functions = [one for _, _, one in slots if isinstance(one, Obj) and "genericUDF" in one.fields]
            if functions:
                rng.choice(functions).fields["genericUDF"] = Obj(_UDF + rng.choice(_FUNCTIONS))
        case 11:
            top = function(rng.choice(_FUNCTIONS), *rng.choices((top, column("a"), integer(3), constant(None)), k=2))
        case _:
            texts = [slot for slot in slots if isinstance(slot[2], str)]
            if texts:
                holder, key, text = rng.choice(texts)
                _put(holder, key, rng.choice((rng.choice(_TEXTS), text + "x", text[:-1])))
    return top


def _like(rng: random.Random, value: Any, slots: list[tuple[Any, Any, Any]]) -> Any:
    """Another value of the same form, mostly; one of another form is refused early."""
    same = [one for _, _, one in slots if type(one) is type(value)]
    return rng.choice(same) if same and rng.random() < 0.85 else rng.choice(slots)[2]


def _change_list(rng: random.Random, chosen: Items, slots: list[tuple[Any, Any, Any]]) -> None:
    items = chosen.items
    match rng.randrange(5):
        case 0 if items:
            del items[rng.randrange(len(items))]
        case 1 if items:
            items.append(rng.choice(items))
        case 2 if items:
            items.extend(rng.choices(items, k=rng.choice((2, 3, 30, 30, 30, 2000))))
        case 3:
            rng.shuffle(items)
        case _:
            items.insert(rng.randrange(len(items) + 1), rng.choice(slots)[2])


def _other_value(rng: random.Random, value: Any) -> Any:
    match value:
        case Wrapper():
            java = rng.choice((value.java, rng.choice(_WRAPPERS)))
            number = rng.choice(_NUMBERS)
            return Wrapper(java, number if java.endswith(("Double", "Float")) else _integer(number))
        case str():
            return rng.choice(_TEXTS)
        case bool():
            return not value
        case int():
            return _integer(rng.choice(_NUMBERS))
        case float():
            return rng.choice(_NUMBERS)
        case _:
            return rng.choice((None, "x", Wrapper("java.lang.Integer", 7), column("b"), Items([]), Items([None, "y"])))


def _integer(number: float) -> int:
    return number if isinstance(number, int) else 0


def _put(holder: Any, key: Any, value: Any) -> None:
    (holder.fields if isinstance(holder, Obj) else holder.items)[key] = value


def _slots(top: Any) -> Iterator[tuple[Any, Any, Any]]:
    """(holder, key, value) of everything below; each holder once."""
    seen: set[int] = set()
    stack = [top]
    while stack:
        one = stack.pop()
        if id(one) in seen or not isinstance(one, Obj | Items):
            continue
        seen.add(id(one))
        pairs = list(one.fields.items() if isinstance(one, Obj) else enumerate(one.items))
        for key, value in pairs:
            yield one, key, value
            stack.append(value)
