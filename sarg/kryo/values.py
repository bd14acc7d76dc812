"""What the Kryo reader yields: Java values by class name, never by class.

A graph may be cyclic and 40,000 deep, so nothing here compares or prints what is below it.

``str``, ``bytes``, ``bool``, ``int``, ``float`` and ``None`` stand for themselves where the slot declares the class; a
wrapper in a slot of type Object is ``Boxed``, so that Integer 1 and Long 1 stay apart. An enum is its constant's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Boxed", "JavaList", "JavaObject"]


@dataclass(slots=True, eq=False, repr=False)
class JavaObject:
    """An object: its class name, its fields by name, and where its body began."""

    java: str
    fields: dict[str, Any]
    offset: int

    def __repr__(self) -> str:
        return f"<{self.java} at {self.offset}>"

    @property
    def simple_name(self) -> str:
        return self.java.rpartition(".")[2]


@dataclass(slots=True, eq=False, repr=False)
class JavaList:
    """A collection, an array, or a map as keys and values in turn."""

    java: str
    items: list[Any]
    offset: int

    def __repr__(self) -> str:
        return f"<{self.java} at {self.offset}>"


@dataclass(slots=True)
class Boxed:
    """A Boolean, Byte, Short, Integer, Long, Float, Double or Character."""

    java: str
    value: bool | int | float
