"""pyiceberg's inclusive metrics evaluator: DataFile objects with serialised bounds, one call a file.

It looks at 4,000 files spread over the table; the time is extrapolated to all of them, linearly. Above 200 members of
an IN it keeps every file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyiceberg
from pyiceberg import expressions as ice
from pyiceberg.conversions import to_bytes
from pyiceberg.expressions.visitors import IN_PREDICATE_LIMIT, _InclusiveMetricsEvaluator
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.types import DateType, DoubleType, LongType, NestedField, PrimitiveType, StringType

from evaluator.language.expression import And, Column, Compare, HudiExpression, In, Like, Literal, Not, Or
from evaluator.language.types import Kind
from tests.bench.datasets import TYPES, Files
from tests.bench.engines.base import Engine, NotOffered, Query
from tests.bench.shapes import Shape

__all__ = ["IcebergEvaluator"]

_SAMPLE = 4_000

_TYPES: dict[Kind, PrimitiveType] = {
    Kind.BIGINT: LongType(),
    Kind.DOUBLE: DoubleType(),
    Kind.DATE: DateType(),
    Kind.STRING: StringType(),
}
_FIELDS = {
    name: NestedField(number, name, _TYPES[of.kind], required=False)
    for number, (name, of) in enumerate(TYPES.items(), start=1)
}
_SCHEMA = Schema(*_FIELDS.values())

_PREDICATES: dict[str, Any] = {
    "<": ice.LessThan,
    "<=": ice.LessThanOrEqual,
    ">": ice.GreaterThan,
    ">=": ice.GreaterThanOrEqual,
    "=": ice.EqualTo,
}


class IcebergEvaluator(Engine):
    """``_InclusiveMetricsEvaluator(...).eval(file)`` for each file."""

    name = "pyiceberg"

    def __init__(self, files: Files) -> None:
        n = len(files)
        numbers = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64)
        self.sample = numbers if n > _SAMPLE else None
        self._numbers = numbers.tolist()
        self._files = _data_files(files, self._numbers)

    @staticmethod
    def version() -> str:
        return f"pyiceberg {pyiceberg.__version__}"

    def prepare(self, shape: Shape) -> Query:
        expression = _expression(shape.expression)
        evaluator = _InclusiveMetricsEvaluator(_SCHEMA, expression)
        return lambda: self._kept(evaluator)

    def unprepared(self, shape: Shape) -> Query:
        expression = _expression(shape.expression)
        return lambda: self._kept(_InclusiveMetricsEvaluator(_SCHEMA, expression))

    def _kept(self, evaluator: _InclusiveMetricsEvaluator) -> Any:
        return np.array(
            [number for number, file in zip(self._numbers, self._files, strict=True) if evaluator.eval(file)], np.int64
        )


def _expression(node: HudiExpression) -> ice.BooleanExpression:
    """The filter itself, in pyiceberg's classes: it pushes NOT down and turns to bounds on its own."""
    match node:
        case And(children=children):
            return ice.And(*map(_expression, children))
        case Or(children=children):
            return ice.Or(*map(_expression, children))
        case Not(child=child):
            return ice.Not(_expression(child))
        case Compare(op=op, left=Column() as column, right=Literal(value=value)):
            return _PREDICATES[op](column.name, value)
        case In(operand=Column() as column, members=members):
            if len(members) > IN_PREDICATE_LIMIT:
                raise NotOffered(f"keeps all above {IN_PREDICATE_LIMIT} members")
            return ice.In(column.name, [member.value for member in members if isinstance(member, Literal)])
        case Like(operand=Column() as column, pattern=pattern):
            return ice.StartsWith(column.name, pattern.removesuffix("%"))
        case _:
            raise NotOffered(str(node))


def _data_files(files: Files, numbers: list[int]) -> list[DataFile]:
    lower: list[dict[int, bytes]] = [{} for _ in numbers]
    upper: list[dict[int, bytes]] = [{} for _ in numbers]
    nulls: list[dict[int, int]] = [{} for _ in numbers]
    rows = [int(files.row_count[number]) for number in numbers]
    for name, column in files.columns.items():
        field = _FIELDS[name]
        lo, hi = column.objects() if column.type.kind is Kind.STRING else (column.lo, column.hi)
        for at, number in enumerate(numbers):
            nulls[at][field.field_id] = int(column.null_count[number])
            if not column.all_null[number]:
                for bounds, bound in ((lower, lo), (upper, hi)):
                    value = bound[number]
                    bounds[at][field.field_id] = to_bytes(field.field_type, getattr(value, "item", lambda v=value: v)())
    return [
        DataFile.from_args(
            file_path=f"{number}.parquet",
            record_count=count,
            null_value_counts=null,
            value_counts=dict.fromkeys(null, count),
            lower_bounds=low,
            upper_bounds=high,
        )
        for number, count, low, high, null in zip(numbers, rows, lower, upper, nulls, strict=True)
    ]
