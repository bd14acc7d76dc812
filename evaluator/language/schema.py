"""The columns of a table by name and type, and the resolution of a filter's names (docs/facts/pitfalls.md#p20).

Nested fields are flat entries with dotted names (``st.x``) beside their parent ``st`` (kind OTHER).

    schema          name in the filter   case_sensitive   resolves to
    fare, Fare      fare                 True             fare
    fare, Fare      FARE                 False            nothing: ambiguous
    fare            FARE                 False            fare
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from evaluator.language.records import frozen
from evaluator.language.types import Type

__all__ = ["Field", "Schema"]


@frozen
class Field:
    """One column, or one nested field, of a table.

    nullable   False where no file can hold a NULL; it is believed wherever statistics have no NULL to show
    unit       of a timestamp, what its numbers in the files count: millis, micros or nanos; "" where it is not known
    """

    name: str
    type: Type
    nullable: bool = True
    unit: str = ""


class Schema:
    """An ordered set of fields."""

    __slots__ = ("_exact", "_folded", "fields")

    def __init__(self, fields: Iterable[Field]) -> None:
        self.fields = tuple(fields)
        self._exact = {field.name: field for field in self.fields}
        self._folded: dict[str, list[Field]] = {}
        for field in self.fields:
            self._folded.setdefault(field.name.lower(), []).append(field)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{f.name}: {f.type}' for f in self.fields)})"

    def resolve(self, name: str, *, case_sensitive: bool = False) -> Field | None:
        """The field of this name; None when there is none or, where case is ignored, more than one."""
        if case_sensitive:
            return self._exact.get(name)
        candidates = self._folded.get(name.lower(), [])
        return candidates[0] if len(candidates) == 1 else None

    def candidates(self, name: str) -> tuple[Field, ...]:
        """The fields of this name, letter case apart."""
        return tuple(self._folded.get(name.lower(), ()))

    def has_parts(self, field: Field) -> bool:
        """Whether nested fields of this one stand beside it."""
        return any(one.name.startswith(f"{field.name}.") for one in self.fields)

    def seen_as(self, names: Mapping[str, str]) -> Schema:
        """The same schema, in which each of these columns resolves to a field of the other name given for it.

        Statistics of the stored column are then not those of the field that a filter names (contract C11).
        """
        if not names:
            return self
        made = Schema(self.fields)
        made._exact = {name: _seen_as(field, names) for name, field in self._exact.items()}
        made._folded = {name: [_seen_as(field, names) for field in fields] for name, fields in self._folded.items()}
        return made


def _seen_as(field: Field, names: Mapping[str, str]) -> Field:
    return replace(field, name=names[field.name]) if field.name in names else field
