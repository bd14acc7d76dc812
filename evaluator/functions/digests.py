"""Digests of text and bytes: of one value the digest itself, of several the texts or numbers that digests are.

    md5(s)        s in ['abc', 'abc']    ->  '900150983cd24fb0d6963f7d28e17f72'
    md5(s)        s in ['abc', 'abd']    ->  ['000...0', 'fff...f'], 32 digits
    crc32(s)      any s                  ->  [0, 2^32 - 1]

Hive and Spark digest the bytes of a text in UTF-8 and write digits in lower case. ``sha2`` of a length that is none of
its own is NULL.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Sequence

from evaluator.functions.base import Argument, RangeFunction, constant_of, strict
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, STRING, Kind, Type

__all__ = ["FUNCTIONS"]

_SHA2 = {0: hashlib.sha256, 224: hashlib.sha224, 256: hashlib.sha256, 384: hashlib.sha384, 512: hashlib.sha512}


def _of_bytes(result: Type) -> Callable[[Sequence[Type]], Type]:
    def check(types: Sequence[Type]) -> Type:
        if types[0].kind not in (Kind.STRING, Kind.VARCHAR, Kind.BINARY):
            raise UnsupportedError(f"a digest of {types[0]} is not decided")
        return result

    return check


def _bytes_of(argument: Argument) -> bytes | None:
    """The one value of the argument as bytes; None where it has several, or half a surrogate pair."""
    value = argument.interval.lo if argument.interval.is_point else None
    if not isinstance(value, str):
        return value if isinstance(value, bytes) else None
    try:
        return value.encode()
    except UnicodeEncodeError:
        return None


def _digits(arguments: Sequence[Argument], made_by: Callable[..., hashlib._Hash]) -> Interval:
    value = _bytes_of(arguments[0])
    if value is None:
        count = made_by().digest_size * 2
        return strict(arguments, "0" * count, "f" * count)
    digits = made_by(value).hexdigest()
    return strict(arguments, digits, digits)


def _digest(made_by: Callable[..., hashlib._Hash]) -> RangeFunction:
    def compute(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
        return _digits(arguments, made_by)

    return RangeFunction(_of_bytes(STRING), compute)


def _sha2_type(types: Sequence[Type]) -> Type:
    """Engines cast a length of another type to INT: '256' is one, and so is 256.5."""
    if not any(t.kind in (Kind.TINYINT, Kind.SMALLINT, Kind.INT) for t in types[1:]):
        raise UnsupportedError("a digest of a length that is no INT is not decided")
    return _of_bytes(STRING)(types)


def _sha2(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    made_by = _SHA2.get(constant_of(arguments[1], "the length of a digest"))
    return Interval(null=True, value=False) if made_by is None else _digits(arguments, made_by)


def _crc32(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    value = _bytes_of(arguments[0])
    if value is None:
        return strict(arguments, 0, (1 << 32) - 1)
    return strict(arguments, zlib.crc32(value), zlib.crc32(value))


FUNCTIONS = {
    "md5": _digest(hashlib.md5),
    "sha1": _digest(hashlib.sha1),
    "sha2": RangeFunction(_sha2_type, _sha2),
    "crc32": RangeFunction(_of_bytes(BIGINT), _crc32),
}
