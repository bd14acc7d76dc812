"""Builds and splits the text of a record key of several fields, byte for byte as Hudi does.

    id = "a", n = 5          id:a,n:5
    id = "", n = NULL        id:__empty__,n:__null__       a key of such parts only is refused
    one field                its text as it is; NULL and "" are refused

Taking it apart is not always the reverse: a value may hold colons and commas. Hudi 1.x looks for the last comma before
the next colon, ``split_key``; Hudi 0.x splits at every comma and colon, and says the same where no value has one.

Source: ``KeyGenerator.constructRecordKey``, ``KeyGenUtils.extractRecordKeysByFields`` of Hudi 0.15.0, 1.0.2, 1.1.1 and
1.2.0 (the last three alike); checked on the files that they wrote.
"""

from __future__ import annotations

from collections.abc import Container

__all__ = ["EMPTY", "NULL", "split_key"]

#: What stands for an empty text and for NULL among several fields.
EMPTY, NULL = "__empty__", "__null__"


def split_key(key: str, fields: Container[str]) -> tuple[str | None, ...] | None:
    """The values of some fields of a record key, in the key's order; the whole key where it is not of several fields.

    Hudi 1.x does not tell a field from a value that looks like one. None: it fails on this key, or never ends.
    """
    if "," not in key or ":" not in key:
        return (key,)
    found: list[str | None] = []
    start = 0
    while start < len(key):
        colon = key.find(":", start)
        if colon < 0:
            return None  # Hudi fails: text after the last field
        is_wanted = key[start:colon] in fields
        end = _end_of_value(key, colon)
        if end < 0 and not is_wanted and ":" in key[colon + 1 :]:
            return None  # Hudi looks for the comma for ever
        value = key[colon + 1 :] if end < 0 else key[colon + 1 : end]
        if is_wanted:
            found.append({NULL: None, EMPTY: ""}.get(value, value))
        start = len(key) if end < 0 else end + 1
    return tuple(found) or (key,)


def _end_of_value(key: str, colon: int) -> int:
    """Where the comma is that ends the value after a colon; -1 when it is the key's last."""
    after = key.find(":", colon + 1)
    while after >= 0:
        comma = key.rfind(",", colon, after)
        if comma >= 0:
            return comma
        after = key.find(":", after + 1)
    return -1
