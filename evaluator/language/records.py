"""Dataclasses whose functions are compiled when they are first called.

A short command defines some 200 of these classes, and makes objects of 90. A dataclass compiles its constructor,
equality, hash and text when it is defined: a fifth of the CPU time of such a command.

``record`` and ``entity`` are frozen for the type checker and mutable at run time: their construction is ten times as
fast as that of a class that is frozen. They are for what is constructed for each filter. Binding and searching
construct about six per condition, and a filter over a small table is answered within some 50 microseconds.

``frozen`` is for what users get. It is frozen at run time, too.
"""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError, dataclass, field, fields, make_dataclass
from reprlib import recursive_repr
from typing import Any, TypeVar, overload

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:
    from typing_extensions import dataclass_transform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["entity", "frozen", "record"]

C = TypeVar("C")

_REFUSING = ("__setattr__", "__delattr__")
#: Copying and unpickling an object with slots sets them one by one, unless it says how.
_COPYING = ("__getstate__", "__setstate__")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[C]) -> type[C]:
    """A slotted dataclass with equality and hash; assigning to a field is an error of the type checker."""
    return _completed(dataclass(slots=True, init=False, repr=False, eq=False)(cls), "__init__", "__eq__", "__hash__")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def entity(cls: type[C]) -> type[C]:
    """The same with identity: each object is equal to itself only."""
    return _completed(dataclass(slots=True, init=False, repr=False, eq=False)(cls), "__init__")


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[C], /) -> type[C]: ...


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    *, slots: bool = True, eq: bool = True, shown: bool = True, kw_only: bool = False
) -> Callable[[type[C]], type[C]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: type[C] | None = None, /, *, slots: bool = True, eq: bool = True, shown: bool = True, kw_only: bool = False
) -> Any:
    """A dataclass; assigning to a field raises ``dataclasses.FrozenInstanceError``.

    ``slots=False``: with room for cached properties. ``shown=False``: its text has no fields, which may be secrets.
    What extends such a class is defined by ``frozen``, too: ``dataclass(frozen=True)`` refuses to.
    """

    def defined(cls: type[C]) -> type[C]:
        made = dataclass(slots=slots, init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        for name in (*_REFUSING, *(_COPYING if slots else ())):
            if name not in made.__dict__:
                setattr(made, name, getattr(_Frozen, name))
        return _completed(made, "__init__", *(("__eq__", "__hash__") if eq else ()), shown=shown)

    return defined if cls is None else defined(cls)


def _completed(cls: type[C], *names: str, shown: bool = True) -> type[C]:
    for name in names:
        if cls.__dict__.get(name) is None:  # a class with ``__eq__`` of its own has ``__hash__ = None``
            setattr(cls, name, _Compiled(cls, name))
    if shown and cls.__repr__ is object.__repr__:
        cls.__repr__ = _repr  # type: ignore[method-assign]
    return cls


class _Compiled:
    """Stands for a function of a class until somebody asks for it; then the function takes its place."""

    __slots__ = ("_cls", "_name")

    def __init__(self, cls: type, name: str) -> None:
        self._cls, self._name = cls, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        function = _compiled(self._cls, self._name)
        setattr(self._cls, self._name, function)
        return function.__get__(instance, owner)


def _compiled(cls: Any, name: str) -> Any:
    """The function that ``dataclasses`` makes for a class with the same fields."""
    twin = make_dataclass(
        cls.__name__,
        [
            (
                one.name,
                one.type,
                field(
                    default=one.default,
                    default_factory=one.default_factory,
                    init=one.init,
                    hash=one.hash,
                    compare=one.compare,
                    kw_only=one.kw_only,
                ),
            )
            for one in fields(cls)
        ],
        namespace={"__doc__": cls.__name__} | ({"__post_init__": None} if hasattr(cls, "__post_init__") else {}),
        init=name == "__init__",
        repr=False,
        eq=name != "__init__",
        frozen=cls.__setattr__ is _Frozen.__setattr__,
        unsafe_hash=name == "__hash__",
    )
    function = twin.__dict__[name]
    function.__qualname__ = f"{cls.__qualname__}.{name}"
    function.__module__ = cls.__module__
    return function


class _Frozen:
    """What ``frozen`` gives a class."""

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self: Any) -> list[object]:
        return [getattr(self, one.name) for one in fields(self)]

    def __setstate__(self: Any, state: list[object]) -> None:
        for one, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, one.name, value)


@recursive_repr()
def _repr(self: Any) -> str:
    """The text that a dataclass generates, by one function for all."""
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"
