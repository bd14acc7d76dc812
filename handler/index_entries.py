"""From what people write to what an index holds: columns as the table names them, expressions, sketches.

    city, CITY             the column, if the table has one of this name
    lower(city), a * 1.1   an expression in Spark's SQL: kept as its tree, bounds of it only
    secondary_index        not there yet

Names are looked up in the table's schema, so that a name that is misspelt is an error and no index without a use.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from evaluator.errors import SargoError, UnsupportedError
from evaluator.expression import Call, Cast, Column, IsNull, Operand
from evaluator.semantics import Semantics
from handler.sql import SqlError, parse
from index_store import Table
from index_store.own.definition import SECONDARY_INDEX, Definition, Entry
from index_store.own.expressions import EXPRESSION, ZONE, Expression, to_json
from index_store.own.sketches import SKETCHES, parse_sketch

__all__ = ["IndexWorkError", "definition_of"]


class IndexWorkError(SargoError):
    """What was asked for cannot be done with this table and its indexes; it says what can."""


def definition_of(table: Table, uses: Sequence[tuple[str, str]], name: str = "", time_zone: str | None = None
                  ) -> Definition:
    """An index of pairs of a column or expression, and a sketch; without a name it has that of its columns.

    ``time_zone``: the session zone in which expressions are computed; by default this process's, as for filters.
    Raises UnsupportedError and IndexWorkError, with what would do.
    """
    zone = Semantics.named("spark", time_zone).zone
    entries: list[Entry] = []
    options: dict[str, str] = {}
    for on, sketch in uses:
        entry, operand = _entry(table, on.strip(), sketch)
        entries.append(entry)
        if operand is not None:
            _check(table, on, operand, zone)
            options |= {EXPRESSION + entry.on: to_json(operand), ZONE: zone}
    try:
        return Definition(name or _name_of(entries), tuple(entries), options=options)
    except ValueError as error:
        raise IndexWorkError(str(error)) from error


def _entry(table: Table, on: str, sketch: str) -> tuple[Entry, Operand | None]:
    if sketch.strip().lower().startswith(SECONDARY_INDEX):
        raise UnsupportedError(f"secondary_index is not there yet: use one of {', '.join(SKETCHES)}, such as "
                               f"bloom_filter, which finds the files that hold a value of {on}")
    parsed = parse_sketch(sketch)
    column = table.schema.resolve(on, case_sensitive=False)
    if column is None:
        return Entry(on, parsed.text), _expression(table, on)
    why = parsed.why_not(column.type)
    if why:
        raise IndexWorkError(f"{parsed.name} of {on}: {why}")
    return Entry(column.name, parsed.text), None


def _expression(table: Table, on: str) -> Operand:
    try:
        found = parse(f"({on}) IS NULL", "spark")
    except SqlError as error:
        raise IndexWorkError(f"{on} is neither a column of {table.path} nor an expression: {error.why}") from error
    operand = found.operand if isinstance(found, IsNull) else None
    match operand:
        case Call() | Cast():
            return operand
        case Column():
            near = difflib.get_close_matches(on, [one.name for one in table.schema], 1)
            raise IndexWorkError(f"{table.path} has no column {on}" + (f": do you mean {near[0]}?" if near else ""))
        case _:
            raise UnsupportedError(f"an index of {on} is not supported: name a column, or a function of columns")


def _check(table: Table, on: str, operand: Operand, zone: str) -> None:
    """Refuse an expression that no filter could use before a file is read."""
    try:
        Expression(operand, table.schema, table.columns.units, zone).bound  # noqa: B018  binding it is the check
    except UnsupportedError as error:
        raise UnsupportedError(f"an index of {on} is not supported: {error.what}") from error


def _name_of(entries: Sequence[Entry]) -> str:
    """A name for an index that was given none: its columns."""
    names = dict.fromkeys(one.on for one in entries)
    return re.sub(r"\W+", "_", "_".join(names), flags=re.ASCII).strip("_")[:100] or "index"
