"""Records that are frozen for the type checker and mutable at run time.

They are for what is constructed for each filter, and for the classes that every command defines.

Their construction is ten times as fast as that of frozen dataclasses. Binding and searching construct about six records
per condition of a filter, and a filter over a small table is answered within some 50 microseconds. Defining one takes
half of the time, because fewer functions are compiled: a short command defines some 200 classes.

What users get is frozen at run time, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, TypeVar

from typing_extensions import dataclass_transform

__all__ = ["entity", "record"]

C = TypeVar("C")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[C]) -> type[C]:
    """A slotted dataclass with equality and hash; assigning to a field is an error of the type checker."""
    return _shown(dataclass(slots=True, repr=False, unsafe_hash=True)(cls))


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def entity(cls: type[C]) -> type[C]:
    """The same with identity: each object is equal to itself only."""
    return _shown(dataclass(slots=True, repr=False, eq=False)(cls))


def _shown(cls: type[C]) -> type[C]:
    if cls.__repr__ is object.__repr__:
        cls.__repr__ = _repr  # type: ignore[method-assign]
    return cls


@recursive_repr()
def _repr(self: Any) -> str:
    """The text that a dataclass generates, by one function for all."""
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"
