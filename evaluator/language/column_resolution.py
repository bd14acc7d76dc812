"""The field that a filter's column names, or the error that says why there is none, with the names that may be meant.

schema              name in the filter   error
fare, city          fair                 column fair is not in the table; did you mean fare?
fare, city          trips.fare           column trips.fare is not in the table; did you mean fare?
st, st.x            x                    column x is not in the table; did you mean st.x?
fare, Fare          FARE                 the column name FARE is ambiguous: fare, Fare
tags array<string>  tags.x               x of column tags is not decided: its type is array<string>
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.schema import Field, Schema
from evaluator.language.types import Kind

__all__ = ["near_names", "near_texts", "resolve_column", "with_near_names"]

#: A longer name, and a wider schema, is compared with nothing: the names may come from a hostile request.
_MAX_NAME, _MAX_FIELDS = 100, 2_000
_SIMILARITY = 0.6
_MAX_NEAR = 2


def resolve_column(name: str, schema: Schema, *, case_sensitive: bool) -> Field:
    """The field of this name. Raises UnknownColumnError, without near names, or UnsupportedError."""
    field = schema.resolve(name, case_sensitive=case_sensitive)
    if field is not None:
        return field
    alike = schema.candidates(name)
    if len(alike) > 1 and not case_sensitive:
        raise UnknownColumnError(name, f"the column name {name} is ambiguous: {', '.join(one.name for one in alike)}")
    parent = _parent(name, schema, case_sensitive=case_sensitive)
    if parent is not None:
        rest = name[len(parent.name) + 1 :]
        raise UnsupportedError(f"{rest} of column {parent.name} is not decided: its type is {parent.type}")
    raise UnknownColumnError(name, f"column {name} is not in the table")


def _parent(name: str, schema: Schema, *, case_sensitive: bool) -> Field | None:
    """The array or map of which the name is a part. The parts of a struct are fields of the schema."""
    while "." in name:
        name = name.rpartition(".")[0]
        parent = schema.resolve(name, case_sensitive=case_sensitive)
        if parent is not None:
            return parent if parent.type.kind is Kind.OTHER and not schema.has_parts(parent) else None
    return None


def with_near_names(error: UnknownColumnError, schema: Schema) -> UnknownColumnError:
    """The error with the names that may be meant in its message."""
    near = near_names(error.name, schema)
    return UnknownColumnError(error.name, error.why, near) if near and not error.near else error


def near_names(name: str, schema: Schema) -> tuple[str, ...]:
    """At most two names of the schema that may be meant: a field of this last name, else the most similar ones."""
    if len(name) > _MAX_NAME or len(schema) > _MAX_FIELDS:
        return ()
    folded = name.lower()
    last = folded.rpartition(".")[2]
    same = [one.name for one in schema if one.name.lower() in (folded, last)]
    same += [one.name for one in schema if one.name.lower().rpartition(".")[2] == last and one.name not in same]
    return tuple(same[:_MAX_NEAR]) or near_texts(name, (one.name for one in schema))


def near_texts(text: str, known: Iterable[str], at_most: int = _MAX_NEAR) -> tuple[str, ...]:
    """The known texts that are most similar to this one, letter case apart; none when none is similar."""
    by_folded = {one.lower(): one for one in known}
    folded = text[:_MAX_NAME].lower()
    close = [one for one in by_folded if abs(len(one) - len(folded)) <= 2 + len(folded) // 2]
    return tuple(by_folded[one] for one in difflib.get_close_matches(folded, close, at_most, _SIMILARITY))
