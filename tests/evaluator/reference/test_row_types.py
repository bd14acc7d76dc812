"""The oracle's types of results are those of the range functions, though written apart from them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence

import pytest

from evaluator.functions import FUNCTIONS
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import Call, IsNull, Literal
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type, decimal_type
from evaluator.reference.row_oracle import value_of
from evaluator.reference.row_types import result_type

TYPES = [
    *map(Type.parse, ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "varchar(3)")),
    *map(
        Type.parse, ("char(3)", "date", "timestamp", "timestamp with local time zone", "binary", "void", "array<int>")
    ),
    decimal_type(10, 2),
    decimal_type(12, 7),
    decimal_type(38, 0),
    decimal_type(38, 10),
]


def outcome_of(typing: Callable[[Sequence[Type]], Type], types: Sequence[Type]) -> Type | None:
    """None where the types are not supported."""
    try:
        return typing(types)
    except UnsupportedError:
        return None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_one_type_of_result(name: str) -> None:
    supported = 0
    for types in [*itertools.product(TYPES), *itertools.product(TYPES, repeat=2)]:
        if name == "date_trunc" and len(types) < 2:
            continue
        expected = outcome_of(FUNCTIONS[name].result, types)
        found = outcome_of(lambda given: result_type(name, given), types)
        if name == "/" and found is not None and found.kind is Kind.DECIMAL:
            # A range has the widest quotient of all engines, and none where they cut digits.
            assert expected in (None, decimal_type(38, 6)), types
        else:
            assert found == expected, types
        supported += expected is not None
    assert supported


@pytest.mark.parametrize(
    ("name", "types", "expected"),
    [
        ("+", "int bigint", "bigint"),
        ("+", "decimal(10,2) int", "decimal(13,2)"),
        ("*", "decimal(10,2) decimal(5,1)", "decimal(16,3)"),
        ("+", "float int", "float"),
        ("+", "float double", "double"),
        ("/", "int int", "double"),
        ("floor", "decimal(10,2)", "decimal(9,0)"),
        ("coalesce", "int void bigint", "bigint"),
        ("year", "date", "int"),
        ("substr", "varchar(3)", "string"),
    ],
)
def test_the_type_of_a_result(name: str, types: str, expected: str) -> None:
    assert str(result_type(name, [Type.parse(text) for text in types.split()])) == expected


@pytest.mark.parametrize(
    ("name", "types"),
    [("/", "decimal(10,2)"), ("/", "date int"), ("~", "int int"), ("%", "double int"), ("nothing", "int")],
)
def test_other_types_are_not_supported(name: str, types: str) -> None:
    with pytest.raises(UnsupportedError):
        result_type(name, [Type.parse(text) for text in types.split()])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_without_arguments_has_a_value_or_no_row_form(name: str) -> None:
    with contextlib.suppress(UnsupportedError):
        value_of(IsNull(Call(name, ())), {}, Schema([]), Semantics.named("spark", "UTC"))


def test_repeat_takes_no_memory_that_a_filter_announces() -> None:
    huge = Call("repeat", (Literal("x", Type.parse("string")), Literal(1 << 40, Type.parse("bigint"))))
    with pytest.raises(UnsupportedError, match="no row form"):
        value_of(IsNull(huge), {}, Schema([]), Semantics.named("spark", "UTC"))
