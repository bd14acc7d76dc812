"""The definition of an index from the columns, expressions and sketches that a user names.

    city, CITY             the column of the table with this name, in the table's spelling
    lower(city), a * 1.1   an expression in Spark's SQL, stored as a tree; an index keeps bounds and NULLs of it
    secondary_index        one column, or several as one key; refused where an index of Hudi's gives the same answers

Names are resolved in the table's schema, so a misspelt name is an error and never an index that no filter uses.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import Call, Cast, Column, IsNull, Operand
from evaluator.language.semantics import Semantics
from handler.sql.parsing import SqlError, parse
from index_store import Table
from index_store.kinds.index_info import SECONDARY_PREFIX
from index_store.own.builders.expressions import EXPRESSION, ZONE, Expression, to_json
from index_store.own.definition import SECONDARY_INDEX, Definition, Entry
from index_store.own.definition import SKETCHES as SKETCHES_KIND
from index_store.own.secondary.keys import is_encodable
from index_store.own.secondary.slice_entries import key_columns
from index_store.own.sketches import parse_sketch
from index_store.table.properties import names
from index_store.table.table_schema import RECORD_KEY

__all__ = ["IndexWorkError", "definition_of", "known_by_hudi"]


class IndexWorkError(SargoError):
    """An operation that this table and its indexes do not allow; the message says what they allow."""


def definition_of(
    table: Table, uses: Sequence[tuple[str, str]], name: str = "", time_zone: str | None = None
) -> Definition:
    """The definition of pairs of a column or expression, and a sketch. Without a name it is named by its columns.

    The columns of ``secondary_index`` are one key, in their order.
    ``time_zone``: the session zone in which expressions are computed; by default this process's, as for filters.
    Raises UnsupportedError and IndexWorkError, whose messages say what is possible.
    """
    kinds = [_is_secondary(sketch) for _, sketch in uses]
    if any(kinds):
        if not all(kinds):
            raise IndexWorkError("an index has sketches, or it is a secondary index: make two of them")
        return _defined(
            name, [Entry(_key_column(table, on.strip(), sketch)) for on, sketch in uses], {}, SECONDARY_INDEX
        )
    zone = Semantics.named("spark", time_zone).zone
    entries: list[Entry] = []
    options: dict[str, str] = {}
    for on, sketch in uses:
        entry, operand = _entry(table, on.strip(), sketch)
        entries.append(entry)
        if operand is not None:
            _check(table, on, operand, zone)
            options |= {EXPRESSION + entry.on: to_json(operand), ZONE: zone}
    return _defined(name, entries, options, SKETCHES_KIND)


def known_by_hudi(table: Table, definition: Definition) -> str:
    """Why a secondary index of these columns is useless, because an index of Hudi's gives the same answers; else "".

    Raises TableError when the table's indexes cannot be listed.
    """
    if definition.kind != SECONDARY_INDEX:
        return ""
    columns = key_columns(definition)
    for one in table.indexes():
        if one.read and one.name.startswith(SECONDARY_PREFIX) and one.columns == columns:
            return f"Hudi keeps {one.name} of {columns[0]} in the metadata table, and filters use that already"
    keys = names(table.properties.get("hoodie.table.recordkey.fields"))
    if "record_index" in table.available_indexes and (columns == (RECORD_KEY,) or set(columns) == set(keys)):
        return (
            f"{' and '.join(columns)} {'is' if len(columns) == 1 else 'are'} the record key, of which Hudi keeps a "
            "record_index in the metadata table, and filters use that already"
        )
    return ""


def _defined(name: str, entries: Sequence[Entry], options: dict[str, str], kind: str) -> Definition:
    try:
        return Definition(name or _name_of(entries), tuple(entries), kind, options)
    except ValueError as error:
        raise IndexWorkError(str(error)) from error


def _is_secondary(sketch: str) -> bool:
    return sketch.partition("(")[0].strip().lower() == SECONDARY_INDEX


def _key_column(table: Table, on: str, sketch: str) -> str:
    """A column of a secondary key, in the table's spelling."""
    if sketch.partition("(")[2].strip(" )"):
        raise IndexWorkError(f"{SECONDARY_INDEX} has no options")
    column = table.schema.resolve(on, case_sensitive=False)
    if column is None:
        _expression(table, on)
        raise UnsupportedError(
            f"{SECONDARY_INDEX} of {on} is not supported: it is of columns; of an expression there "
            "are min_max and null_count"
        )
    if not is_encodable(column.type):
        raise IndexWorkError(f"{SECONDARY_INDEX} of {column.name}: values of type {column.type} have no order")
    return column.name


def _entry(table: Table, on: str, sketch: str) -> tuple[Entry, Operand | None]:
    parsed = parse_sketch(sketch)
    column = table.schema.resolve(on, case_sensitive=False)
    if column is None:
        return Entry(on, parsed.text), _expression(table, on)
    why = parsed.why_not(column.type)
    if why:
        raise IndexWorkError(f"{parsed.name} of {on}: {why}")
    return Entry(column.name, parsed.text), None


def _expression(table: Table, on: str) -> Operand:
    """An expression in Spark's SQL."""
    try:
        is_null = parse(f"({on}) IS NULL", "spark")
    except SqlError as error:
        raise IndexWorkError(f"{on} is neither a column of {table.path} nor an expression: {error.why}") from error
    operand = is_null.operand if isinstance(is_null, IsNull) else None
    match operand:
        case Call() | Cast():
            return operand
        case Column():
            near = difflib.get_close_matches(on, [one.name for one in table.schema], 1)
            raise IndexWorkError(f"{table.path} has no column {on}" + (f": do you mean {near[0]}?" if near else ""))
        case _:
            raise UnsupportedError(f"an index of {on} is not supported: name a column, or a function of columns")


def _check(table: Table, on: str, operand: Operand, zone: str) -> None:
    """Raises UnsupportedError for an expression that no filter could use, before any file is read."""
    try:
        Expression(operand, table.schema, table.columns.units, zone).bound  # noqa: B018  binding it is the check
    except UnsupportedError as error:
        raise UnsupportedError(f"an index of {on} is not supported: {error.what}") from error


def _name_of(entries: Sequence[Entry]) -> str:
    """The name of an index that was given none, from its columns."""
    names = dict.fromkeys(one.on for one in entries)
    return re.sub(r"\W+", "_", "_".join(names), flags=re.ASCII).strip("_")[:100] or "index"
