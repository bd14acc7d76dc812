"""Texts that differ from one analysed before in their constants alone: Spark's answer, with those constants in it.

    text      amount < 15.0 AND dt > '2009-01-02'
    shape     amount < decimal(3,1) AND dt > string      what Spark's analyser knows of the constants
    nodes     of the text that was analysed; its literals, in the order of the text, become those of the new one

The types of an analysed comparison depend on the types of its constants, and on the digits of a number. They depend on
no value but where a boolean is compared with a number. So only comparisons of ``_CLASSES`` have a shape, and only of
columns of ``_TYPES``; and the literals of the nodes have to be the constants of the text, one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from evaluator.language.records import frozen
from handler.catalyst.tree import class_name
from handler.spark.catalyst.constants import Items, has_constants
from handler.spark.catalyst.known_settings import KnownSettings
from handler.spark.catalyst.plain_texts import plain_tokens

__all__ = ["Shape", "shape_of"]

_COMPARISONS = {"EqualTo", "LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "In"}
_CLASSES = _COMPARISONS | {"And", "Or", "Not", "IsNull", "IsNotNull", "AttributeReference", "Literal", "Cast"}
_TYPES = re.compile(r"string|byte|short|integer|long|float|double|date|timestamp(_ntz)?|decimal\(\d+,\d+\)")
#: Java writes a smaller decimal with an exponent.
_MAX_SCALE, _MAX_DIGITS = 6, 18
_INT = 2**31
_MAX_SHAPES = 256


@frozen
class _Constant:
    """A literal of Catalyst's JSON, and its type with what else the analyser knows of it."""

    data_type: str
    value: str
    kind: str


@frozen
class Shape:
    """``key``: the same for texts of one shape, over one relation and in one zone."""

    key: tuple[Any, ...]
    constants: tuple[_Constant, ...]

    def recall(self, settings: KnownSettings) -> Items | None:
        """The nodes of the text, if one of its shape was remembered with these settings, which are current."""
        known = _shapes(settings).get(self.key)
        if known is None:
            return None
        constants = iter(self.constants)
        return [{**item, "value": next(constants).value} if _is_literal(item) else item for item in known]

    def remember(self, settings: KnownSettings, items: Items) -> None:
        """Remember the nodes of a text of this shape, where those of another one would differ in literals alone."""
        literals = [item for item in items if _is_literal(item)]
        if (
            all(map(_is_plain, items))
            and not has_constants(items)
            and [(one.data_type, one.value) for one in self.constants]
            == [(one["dataType"], one["value"]) for one in literals]
        ):
            shapes = _shapes(settings)
            if len(shapes) >= _MAX_SHAPES:
                shapes.clear()
            shapes[self.key] = items


def shape_of(text: str, columns: Iterable[str], beside: tuple[Any, ...]) -> Shape | None:
    """The shape of a text over columns; None where it has none. ``beside``: what else the meaning depends on."""
    # Spark replaces variables, in strings as well.
    tokens = None if "${" in text or not text.isascii() else plain_tokens(text, columns)
    if tokens is None:
        return None
    key: list[str] = []
    constants = []
    for kind, value in tokens:
        if kind not in ("number", "string"):
            key.append(value)
            continue
        constant = _Constant("string", value, "string") if kind == "string" else _number(value)
        if constant is None or not constant.value.isprintable():
            return None
        key.append(f"'{constant.kind}'")
        constants.append(constant)
    return Shape((*beside, *key), tuple(constants))


def _number(text: str) -> _Constant | None:
    """A number as Spark reads it; None where that is not plain."""
    whole, _, fraction = text.partition(".")
    if len(text) > _MAX_DIGITS or len(fraction) > _MAX_SCALE:
        return None
    unscaled = int(whole + fraction)
    if unscaled == 0 and text.startswith("-"):
        return None
    digits = len(str(abs(unscaled)))
    if fraction:
        data_type = f"decimal({max(digits, len(fraction))},{len(fraction)})"
    else:
        data_type = "integer" if -_INT <= unscaled < _INT else "long"
    return _Constant(data_type, f"{Decimal(text):f}", f"{data_type} of {digits}")


def _is_literal(item: Mapping[str, Any]) -> bool:
    return class_name(item) == "Literal"


def _is_plain(item: Mapping[str, Any]) -> bool:
    name = class_name(item)
    return name in _CLASSES and (name != "AttributeReference" or _TYPES.fullmatch(str(item["dataType"])) is not None)


def _shapes(settings: KnownSettings) -> dict[Any, Items]:
    shapes: dict[Any, Items] = settings.remembered.setdefault(Shape, {})
    return shapes
