"""What real Hive 3.1.3 and 4.0.1 show of columns of Hudi tables that they declare with other types.

``data/hive_declared_types.json.xz`` is written by ``python -m tests.hive.grids declared``, which says what it asks:
engine -> reader -> column -> declared type -> {"error": why} or {"values": {key: text}, "conditions": [[operation,
texts, {key: letter}]]}. Letters are T, F and N (NULL); a text in their place is Hive's error.
"""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaluator.binding.declared_types import Seen, seen
from evaluator.language import expression as ex
from evaluator.language.types import DATE, STRING, TIMESTAMP_LTZ, Kind, Type
from tests.conformance.stored_truth import unpack
from tests.evaluator.conversion_grid import value_of_text
from tests.handler.table_rows import value_form
from tests.hive.grids.declared import COLUMNS
from tests.tables.rows import files, row

#: The committed table that each reader reads.
TABLES = {"cow": "1.0.2_wide_cow", "vectorized": "1.0.2_wide_cow", "merged": "1.0.2_wide_mor"}
ENGINES = ("hive3", "hive4")


class Cell(NamedTuple):
    """One cell of the grid: a column of a stored type, declared with a type, and one reader's answer."""

    engine: str
    reader: str
    column: str
    declared: Type
    answer: Mapping[str, Any]

    @property
    def stored(self) -> Type:
        return Type.parse(COLUMNS[self.column])

    @property
    def seen(self) -> Seen:
        """What the table of declared types says. The timestamps of these tables are in microseconds."""
        return seen(self.declared, self.stored, "micros" if self.stored.kind.is_timestamp else "")


@functools.cache
def answers() -> Any:
    """The data file."""
    return json.loads(lzma.decompress((Path(__file__).parent / "data" / "hive_declared_types.json.xz").read_bytes()))


def cells() -> Iterator[Cell]:
    """Every cell of the file."""
    for engine in ENGINES:
        for reader, columns in answers().get(engine, {}).items():
            for column, by_type in columns.items():
                for declared, answer in by_type.items():
                    yield Cell(engine, reader, column, Type.parse(declared), answer)


@functools.cache
def stored_rows(table: str) -> dict[str, dict[str, Any]]:
    """By record key, the rows as the stories of ``tests.tables.stories`` leave them, in the evaluator's form."""
    rows = {item["id"]: item for item in files(*range(10))}
    moved = ((3, "ZEBRA"), (9, "upd$ated\\x"), (12, None), (18, "10.0"), (75, "\u00c4"))
    changes = [row(n, shift=100, ts=2, s=text, f=1e9, d=-0.5) for n, text in moved]
    if table.endswith("_cow"):
        changes += [*files(10, 11), *(row(n, shift=120, ts=4) for n in (81, 90))]
    else:
        changes += [row(n, shift=-200, ts=5) for n in (2, 20, 50)]
    rows |= {item["id"]: item for item in changes}
    for n in (14, 73):
        del rows[f"k{n:03d}"]
    result = {key: value_form(item) for key, item in rows.items()}
    for item in result.values():
        item["f"] = None if item["f"] is None else float(np.float32(item["f"]))
    return result


def filter_of(column: str, declared: Type, op: str, texts: list[str]) -> ex.HudiExpression:
    """The filter that a recorded condition stands for. Hive's constants of text columns are strings."""
    operand = ex.Column(tuple(column.split(".")), declared)
    of = STRING if declared.kind.is_text else declared
    constants = [ex.Literal(value_of_text(text, of), of) for text in texts]
    match op:
        case "is null":
            return ex.IsNull(operand)
        case "in" | "not in":
            inside: ex.HudiExpression = ex.In(operand, tuple(constants))
        case "between" | "not between":
            inside = ex.And((ex.Compare(">=", operand, constants[0]), ex.Compare("<=", operand, constants[1])))
        case "like":
            return ex.Like(operand, texts[0])
        case _:
            return ex.Compare("!=" if op == "<>" else op, operand, constants[0])
    return ex.Not(inside) if op.startswith("not") else inside


def shown(value: Any, stored: Type, declared: Type) -> Any:
    """A stored value as the declared type holds it; ``...`` where that takes more than another form."""
    if value is None or stored.kind is declared.kind:
        return value
    if declared.kind.is_text and stored.kind.is_text:
        return value
    if declared.kind.is_number and (stored.kind.is_number or stored == TIMESTAMP_LTZ):
        return value
    if declared.kind is Kind.TIMESTAMP and stored in (TIMESTAMP_LTZ, DATE):
        return value if stored == TIMESTAMP_LTZ else value * 86_400_000_000
    return ...


def folder_of(table: str, below: Path) -> Path:
    """The committed table, unpacked."""
    return unpack(table, below)
