"""The integers of a long list in a filter document: their differences in ascending order, deflated.

    {"type": "integer", "differences": text}

``text`` is Base64 of a zlib stream: the least value, then the distance from each value to the next one, each as eight
bytes, the lowest first. ``type`` is Spark's name of the type; dates are days and timestamps microseconds since 1970.

A join may have hundreds of thousands of keys, of which each takes two bytes or three then, and no object in Python.
"""

from __future__ import annotations

import base64
import binascii
import zlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.expression import Cast, Column, HudiExpression, In, InKeys, Literal, Operand, Unknown
from evaluator.language.key_set import KeySet
from evaluator.language.records import frozen
from evaluator.language.types import Kind, Type
from handler.catalyst.literals import type_of

__all__ = ["MAX_KEYS", "SortedKeys", "in_sorted_keys", "read_sorted_keys"]

#: More than the extension ever sends.
MAX_KEYS = 1_000_000
_TYPES = ("byte", "short", "integer", "long", "date", "timestamp", "timestamp_ntz")
_LONG = (-(1 << 63), (1 << 63) - 1)
_INTEGER = (-(1 << 31), (1 << 31) - 1)
#: Of the types that are narrower than 64 bits.
_WIDTHS = {"byte": (-128, 127), "short": (-(1 << 15), (1 << 15) - 1), "integer": _INTEGER, "date": _INTEGER}
#: Up to so many keys are a list of literals, which every index understands.
_FEW = 1000


@frozen(slots=False, eq=False)
class SortedKeys:
    """Distinct values in ascending order, in Spark's internal form, of the type of this name in Spark."""

    type_name: str
    values: npt.NDArray[np.int64]


def read_sorted_keys(type_name: str, text: str) -> SortedKeys:
    """Raises ValueError for a text of another form, for more than ``MAX_KEYS`` values, and for one beyond the type.

    >>> import base64, zlib, struct
    >>> text = base64.b64encode(zlib.compress(struct.pack("<3q", 7, 3, 90))).decode()
    >>> read_sorted_keys("integer", text).values.tolist()
    [7, 10, 100]
    """
    if type_name not in _TYPES:
        raise ValueError(f"values of type {type_name:.30} are no integers")
    stream = zlib.decompressobj()
    try:
        inflated = stream.decompress(base64.b64decode(text, validate=True), 8 * MAX_KEYS + 1)
    except (binascii.Error, zlib.error) as error:
        raise ValueError("the values are no zlib stream in Base64") from error
    if len(inflated) > 8 * MAX_KEYS or not stream.eof or stream.unused_data:
        raise ValueError("the values are more than are read, or end early")
    if len(inflated) % 8:
        raise ValueError("the values are not of eight bytes each")
    differences = np.frombuffer(inflated, "<i8").astype(np.int64)
    values = np.cumsum(differences)
    # A sum beyond 64 bits comes out lower than the one before it.
    if len(values) > 1 and not bool((values[1:] > values[:-1]).all()):
        raise ValueError("the values are not ascending")
    least, greatest = _WIDTHS.get(type_name, _LONG)
    if len(values) and not (least <= values[0] and values[-1] <= greatest):
        raise ValueError(f"the values are not all of type {type_name}")
    return SortedKeys(type_name, values)


def in_sorted_keys(operand: Operand, keys: SortedKeys) -> HudiExpression:
    """``operand IN (keys)``: literals if they are few, else one array; unknown for too many of another type.

    A column that Spark has cast to a wider integer, whose values it keeps, is compared by its own type.
    """
    key_type = type_of(keys.type_name)
    if 0 < len(keys.values) <= _FEW:
        return In(operand, tuple(Literal(value, key_type) for value in keys.values.tolist()))
    column = _own_column(operand, key_type)
    if column is None or column.type is None or not len(keys.values):
        return Unknown("a long list of keys is looked up in a column alone")
    values = keys.values
    if column.type.kind.is_integer:
        least, greatest = column.type.integer_range()
        values = values[(values >= least) & (values <= greatest)]
    if not len(values):
        return In(operand, (Literal(int(keys.values[0]), key_type),))
    return InKeys(column, KeySet(column.type, pa.array(values)))


def _own_column(operand: Operand, key_type: Type) -> Column | None:
    """The column of an operand of the keys' type, below a cast between integers that keeps every value."""
    if isinstance(operand, Column):
        return operand if operand.type == key_type else None
    if isinstance(operand, Cast) and isinstance(operand.operand, Column) and operand.operand.type is not None:
        source = operand.operand.type
        widths = (Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT)
        is_wider = (
            source.kind in widths
            and operand.type == key_type
            and key_type.kind in widths
            and widths.index(source.kind) <= widths.index(key_type.kind)
        )
        return operand.operand if is_wider else None
    return None
