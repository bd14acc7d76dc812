"""Entries: in file group ``group`` there is a row with this secondary key and this record key.

    order    sorted by              used for                       columns, in this order
    -------  ---------------------  -----------------------------  ----------------------------
    key      key, record, group     look-ups                       key, record, group, deleted
    group    group, record, key     the old entries of a slice     group, record, key, deleted

``deleted`` marks a tombstone (RFC-77): the same entry of an older generation no longer holds. Two entries are the same
when their key, record and group are; within a file group that is RFC-77's (secondary key, record key). Two file groups
may have the same record key, so the group belongs to it: a tombstone of one group never removes an entry of another.
"""

from __future__ import annotations

from typing import Literal

import pyarrow as pa

__all__ = ["ENTRIES", "REVERSE", "Order", "schema_of"]

Order = Literal["key", "group"]

_KEY, _RECORD, _GROUP = (
    pa.field("key", pa.binary(), False),
    pa.field("record", pa.binary(), False),
    pa.field("group", pa.int32(), False),
)
_DELETED = pa.field("deleted", pa.bool_(), False)
#: ``key`` is encoded (``keys``), ``record`` the UTF-8 of ``_hoodie_record_key``.
ENTRIES = pa.schema([_KEY, _RECORD, _GROUP, _DELETED])
REVERSE = pa.schema([_GROUP, _RECORD, _KEY, _DELETED])


def schema_of(order: Order) -> pa.Schema:
    """The columns of entries in this order. Entries are sorted by all but the last column."""
    return ENTRIES if order == "key" else REVERSE
