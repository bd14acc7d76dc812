"""Names as in the query: ``o.o_orderdate``, ``orders.o_orderdate`` and ``catalog.db.orders.o_orderdate`` mean a column.

    alias given     o.x is column x of the table, else field x of its column o: the order of Spark and Hive
    none given      the one qualifier of names that the table does not have; a column or a field of that name goes first
    two qualifiers  an error that names both: one of them is another table's, and only the caller knows which

``orders``, ``db.orders`` and ``catalog.db.orders`` are one qualifier. Qualifiers are compared without regard to letter
case. With a given alias, a name of another qualifier is that of a column which the table does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluator.language.column_resolution import resolve_column
from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.schema import Schema

__all__ = ["Qualifier", "TwoTablesError", "leading_parts", "qualifier_of"]

#: Catalog, database and table, or fewer of them, in lower case.
Qualifier = tuple[str, ...]
_MAX_PARTS = 3


class TwoTablesError(UnsupportedError):
    """A filter names columns by two tables, and only the caller knows which of them is this one."""


def qualifier_of(names: Iterable[str], schema: Schema, alias: str | None, *, case_sensitive: bool) -> Qualifier | None:
    """The qualifier of a filter's names: the alias given, or the one that is used. None where none is used.

    Raises TwoTablesError when the names have two qualifiers and no alias is given.
    """
    if alias is not None:
        return tuple(part.strip().strip("`").lower() for part in alias.split("."))[-_MAX_PARTS:]
    unknown = [name.split(".") for name in names if "." in name and not _is_column(name, schema, case_sensitive)]
    possible = {
        ".".join(parts): [
            tuple(part.lower() for part in parts[:count])
            for count in range(1, min(_MAX_PARTS, len(parts) - 1) + 1)
            if _is_column(".".join(parts[count:]), schema, case_sensitive)
        ]
        for parts in unknown
    }
    sure = {qualifiers[0] for qualifiers in possible.values() if len(qualifiers) == 1}
    if not sure:
        return None
    chosen = max(sure, key=len)
    for parts in unknown:
        used = possible[".".join(parts)] or _prefixes(parts)
        if not any(_same(one, chosen) for one in used):
            other = used[0] if possible[".".join(parts)] else tuple(part.lower() for part in parts[:-1])
            first, second = sorted((".".join(chosen), ".".join(other)))
            raise TwoTablesError(
                f"the filter names columns of two tables, {first:.100} and {second:.100}: "
                "say which one this table is (alias=..., --alias)"
            )
    return chosen


def leading_parts(
    names: Iterable[str], schema: Schema, qualifier: Qualifier, *, case_sensitive: bool
) -> Mapping[str, int]:
    """The names that begin with the qualifier and go on with a column, and how many of their parts the qualifier is."""
    leading: dict[str, int] = {}
    for name in names:
        parts = name.split(".")
        for count in range(min(_MAX_PARTS, len(parts) - 1), 0, -1):
            head = tuple(part.lower() for part in parts[:count])
            if _same(head, qualifier) and _is_column(".".join(parts[count:]), schema, case_sensitive):
                leading[name] = count
                break
    return leading


def _prefixes(parts: list[str]) -> list[Qualifier]:
    return [tuple(part.lower() for part in parts[:count]) for count in range(1, min(_MAX_PARTS, len(parts) - 1) + 1)]


def _same(one: Qualifier, other: Qualifier) -> bool:
    """Whether both may name one table: the shorter is the end of the longer."""
    shorter = min(len(one), len(other))
    return one[-shorter:] == other[-shorter:]


def _is_column(name: str, schema: Schema, case_sensitive: bool) -> bool:
    """Whether the table has the column or the field, also one that is ambiguous or part of an array or a map."""
    try:
        resolve_column(name, schema, case_sensitive=case_sensitive)
    except UnknownColumnError:
        return len(schema.candidates(name)) > 1 and not case_sensitive
    except UnsupportedError:
        return True
    return True
