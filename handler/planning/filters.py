"""The three forms of a filter, and how they are recognised.

    HudiExpression   taken as it is
    bytes            a Hive filter: Kryo bytes, or their Base64 as Hive puts it into a configuration
    str              Base64 of a Hive filter if it looks like one, else SQL text

A text is a Hive filter when it is nothing but Base64 characters and starts with byte 1, as every object does that Kryo
writes with references. SQL text of that kind would be one bare word of at least ``SHORTEST_FILTER`` letters.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping

import sarg
from evaluator.language.expression import HudiExpression
from evaluator.language.records import record
from evaluator.language.schema import Schema
from handler.planning.hive_filter import columns_of_hive
from handler.planning.qualified_names import leading_parts, qualifier_of
from handler.sql.parsing import Engine, parse_condition

__all__ = [
    "SHORTEST_FILTER",
    "Filter",
    "ReadFilter",
    "default_engine",
    "is_hive_filter",
    "is_of_hive",
    "named_by_table",
    "read_filter",
    "read_named_filter",
]

Filter = HudiExpression | bytes | str

#: The shortest Hive filter has at least so many characters of Base64.
SHORTEST_FILTER = 40

_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]+={0,2}")
_FIRST_BYTE = 1


def is_hive_filter(text: str) -> bool:
    """True when the text is the Base64 form of a Hive filter rather than SQL."""
    compact = "".join(text.split())
    if len(compact) < SHORTEST_FILTER or not _BASE64.fullmatch(compact):
        return False
    try:
        return base64.urlsafe_b64decode(compact[:4].replace("+", "-").replace("/", "_"))[0] == _FIRST_BYTE
    except binascii.Error:
        return False


def default_engine(filter_: Filter) -> Engine:
    """The engine whose rules a filter follows by default: Hive for a Hive filter, else Spark."""
    return "hive" if is_of_hive(filter_) else "spark"


def is_of_hive(filter_: Filter) -> bool:
    """Whether Hive wrote a filter: it is bytes, or their Base64."""
    return isinstance(filter_, bytes) or (isinstance(filter_, str) and is_hive_filter(filter_))


@record
class ReadFilter:
    """A filter as an expression, and the columns that its SQL text names, also in parts that are not decided.

    ``text`` and ``engine`` are those of SQL text; other filters have no text. ``of_hive``: the partition and virtual
    columns of a filter from Hive, in lower case; their values are those of the metastore.
    """

    expression: HudiExpression
    columns: tuple[str, ...] = ()
    text: str | None = None
    engine: Engine | None = None
    of_hive: frozenset[str] = frozenset()


def named_by_table(read: ReadFilter, schema: Schema, alias: str | None, *, case_sensitive: bool) -> ReadFilter:
    """SQL text whose columns may be named by the table (``qualified_names``), with their own names.

    Raises TwoTablesError when the text names columns of two tables and no alias is given.
    """
    if read.text is None or read.engine is None or not any("." in name for name in read.columns):
        return read
    qualifier = qualifier_of(read.columns, schema, alias, case_sensitive=case_sensitive)
    if qualifier is None:
        return read
    leading = leading_parts(read.columns, schema, qualifier, case_sensitive=case_sensitive)
    return read_condition(read.text, read.engine, leading) if leading else read


def read_filter(given: Filter, engine: Engine) -> HudiExpression:
    """Read a filter of any form. Raises SqlError or DecodeError when it cannot be read."""
    return read_named_filter(given, engine).expression


def read_named_filter(given: Filter, engine: Engine) -> ReadFilter:
    """``read_filter``, with the columns that the text names."""
    match given:
        case HudiExpression():
            return ReadFilter(given)
        case bytes():
            return _decode(given)
        case str() if is_hive_filter(given):
            return _decoded("".join(given.split()))
        case _:
            return read_condition(given, engine)


def read_condition(text: str, engine: Engine, leading: Mapping[str, int] | None = None) -> ReadFilter:
    """Read SQL text. Raises SqlError."""
    parsed = parse_condition(text, engine, leading)
    return ReadFilter(parsed.expression, parsed.columns, text, engine)


def _decode(given: bytes) -> ReadFilter:
    try:
        return _decoded(given)
    except sarg.DecodeError as error:
        if given and given.isascii() and not given.startswith(b"\x01") and given.decode("ascii").isprintable():
            raise sarg.DecodeError(error.offset, f"{error.why}; SQL text is given as str, not as bytes") from None
        raise


def _decoded(given: bytes | str) -> ReadFilter:
    decoded = sarg.decode_detailed(given)
    of_hive = frozenset() if decoded.exprnode is None else columns_of_hive(decoded.exprnode)
    return ReadFilter(decoded.expression, of_hive=of_hive)
