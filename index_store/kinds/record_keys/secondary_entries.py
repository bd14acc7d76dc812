r"""The entries of a secondary index as text: ``escape(text of the value) + $ + escape(record key)``.

A backslash stands before ``\``, ``$`` and U+0000 in both parts. Which text a value has depends on the version:

                            version 1 (tables of version 8)     version 2 (version 9)
    a date                  2019-06-15                          days since 1970
    a timestamp             not known here                      microseconds since 1970, of a column of those
    text and integers       itself, decimal digits              the same

Source: ``SecondaryIndexKeyUtils``, docs/facts/hudi-record-and-secondary-index.md#secondary-index.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.distrust import ANCIENT_DAY, ANCIENT_MICROS
from index_store.storage.errors import FormatError

__all__ = ["escape", "split_entry", "texts_of"]

_EPOCH = date(1970, 1, 1)
#: The escaped value with its ``$``, and the escaped record key.
_ENTRY = re.compile(r"((?:[^\\$]|\\.)*\$)(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)


def escape(text: str) -> str:
    """A value or record key as it stands in an entry."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("\0", "\\\0")


def split_entry(key: bytes) -> tuple[str, str]:
    """The escaped value with its ``$``, and the plain record key. Raises FormatError for anything else."""
    try:
        text = key.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise FormatError("an entry of a secondary index is not text") from error
    if "\\" not in text and "$" in text:
        value, _, rest = text.partition("$")
        return f"{value}$", rest
    found = _ENTRY.fullmatch(text)
    if found is None:
        raise FormatError("an entry of a secondary index has no $ between value and record key")
    return found[1], _ESCAPED.sub(r"\1", found[2])


def texts_of(value: object, column: Field, version: int, unit: str) -> tuple[str, ...]:
    """Every text that an index of this version may hold for a non-null value; () when that is not certain.

    ``unit``: of the column's timestamps in the files. Dates of version 1 may have been written in either form. Of old
    dates and times the calendar of the writer is not known.
    """
    kind = column.type.kind
    if isinstance(value, str):
        return (value,) if kind in (Kind.STRING, Kind.VARCHAR) else ()
    if not isinstance(value, int) or isinstance(value, bool):
        return ()
    if kind is Kind.TIMESTAMP_LTZ:
        return (str(value),) if version == 2 and unit == "micros" and value >= ANCIENT_MICROS else ()
    if kind.is_integer:
        return (str(value),)
    if kind is not Kind.DATE or value < ANCIENT_DAY:
        return ()
    if version == 2:
        return (str(value),)
    try:
        day = _EPOCH + timedelta(days=value)
    except OverflowError:
        return ()
    return (day.isoformat(), str(value))
