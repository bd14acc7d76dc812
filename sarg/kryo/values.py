"""The Java values that the Kryo reader yields, with the names of their classes.

    =============================================  ==================================================
    Java                                           here
    =============================================  ==================================================
    a String, byte[], primitive or null            str, bytes, bool, int, float, None
    a wrapper where its class is declared          the same
    a wrapper in a slot of type Object             Boxed, because Integer 1 and Long 1 are different
    an enum constant                               its name
    a collection, an array, a map                  JavaList
    any other object                               JavaObject
    =============================================  ==================================================

A graph may be cyclic and 40,000 objects deep, so the classes here neither compare nor print the values below them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Boxed", "JavaList", "JavaObject"]


@dataclass(slots=True, eq=False, repr=False)
class JavaObject:
    """An object: its class name, its fields by name, and the offset of its body in the input."""

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
    """A collection, an array, or a map with its keys and values alternating."""

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
