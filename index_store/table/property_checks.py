"""Damage in ``hoodie.properties`` that can be told from what Hudi writes (C10): the file has no checksum of its own.

``hoodie.table.checksum`` covers the table's name only. So each line must be a property, and a property that decides how
the table is read must not have vanished by one changed byte:

    a key               that is one byte away from a key that decides something, or the first part of one
    a line break        that is gone: a value or a comment holds another property
    a line break more   a line without ``=``, the end of a list
    versions            the table's, its first one and its timeline's layout must fit each other
    yes or no           ``true`` or ``false``, nothing else
    the end             a line ends there, and no byte is NUL
    the checksum        that of the names of database and table

A value that is another value of the same sort (the name of another column, say) cannot be told from the right one.
Source: ``HoodieTableConfig``, ``TimelineLayoutVersion``.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

__all__ = ["find_damage"]

_SWITCHES = (
    "hoodie.populate.meta.fields",
    "hoodie.datasource.write.drop.partition.columns",
    "hoodie.datasource.write.hive_style_partitioning",
    "hoodie.datasource.write.partitionpath.urlencode",
    "hoodie.datasource.write.slash.separated.date.partitioning",
    "hoodie.table.cdc.enabled",
    "hoodie.table.multiple.base.file.formats.enable",
)
#: What decides how a table is read.
_DECIDING = (
    *_SWITCHES,
    "hoodie.compaction.payload.class",
    "hoodie.compaction.record.merger.strategy",
    "hoodie.record.merge.mode",
    "hoodie.record.merge.strategy.id",
    "hoodie.table.base.file.format",
    "hoodie.table.create.schema",
    "hoodie.table.index.defs.path",
    "hoodie.table.initial.version",
    "hoodie.table.keygenerator.class",
    "hoodie.table.keygenerator.type",
    "hoodie.table.legacy.payload.class",
    "hoodie.table.metadata.partitions",
    "hoodie.table.metadata.partitions.inflight",
    "hoodie.table.name",
    "hoodie.table.ordering.fields",
    "hoodie.table.partial.update.mode",
    "hoodie.table.partition.fields",
    "hoodie.table.precombine.field",
    "hoodie.table.recordkey.fields",
    "hoodie.table.type",
    "hoodie.table.version",
    "hoodie.timeline.history.path",
    "hoodie.timeline.layout.version",
    "hoodie.timeline.path",
)
_WITHOUT_EQUALS = frozenset(_DECIDING) - {"hoodie.table.create.schema", "hoodie.table.name"}
_LAYOUTS = {"6": ("0", "1"), "8": ("2",), "9": ("2",)}
_MODES = ("EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING", "CUSTOM")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9._-]+")
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyz_."
_TWICE = re.compile(r"([^=: \t\f]*)[=: \t\f][^=]*=")
_HIDDEN = re.compile(r"[#!].?oodie\.[a-z_.]+=")


def find_damage(text: str, found: Mapping[str, str]) -> str:
    """What is wrong with a properties file, of which ``found`` was read; "" when nothing is."""
    if not text.endswith(("\n", "\r")):
        return "its last line has no end: it may be cut off"
    if "\0" in text:
        return "it holds a NUL"
    for line in text.strip("\r\n").splitlines():
        plain = line.lstrip(" \t\f")
        if not plain:
            continue
        if plain[:1] in ("#", "!"):
            if _holds_property(plain) or _HIDDEN.match(plain):
                return f"a comment holds a property: {plain[:60]}"
        elif "=" not in plain and ":" not in plain:
            return f"a line is no property: {plain[:60]}"
        elif (twice := _TWICE.match(plain)) is not None and twice[1] in _WITHOUT_EQUALS:
            return f"a line is two properties: {plain[:60]}"
    for key, value in found.items():
        if not _PLAIN_KEY.fullmatch(key):
            return f"a property has no name: {key[:60]!r}"
        meant = None if key in _DECIDING else next((one for one in _DECIDING if _is_like(key, one)), None)
        if meant is not None and (meant not in found or not meant.startswith(key)):
            return f"{key[:60]} seems to be {meant}"
        if _holds_property(value):
            return f"{key[:60]} holds another property"
        if key in _WITHOUT_EQUALS and (value != value.strip() or value.endswith(",") or value.startswith(",")):
            return f"{key} is cut off: {value[:60]!r}"
    return _contradiction(found) or _wrong_checksum(found)


def _wrong_checksum(found: Mapping[str, str]) -> str:
    """The checksum is that of the table's name, with the database where there is one."""
    checksum, name = found.get("hoodie.table.checksum"), found.get("hoodie.table.name", "")
    names = (f"{found.get('hoodie.database.name', '')}.{name}", name)
    if checksum is None or checksum in (str(zlib.crc32(one.encode("utf-8"))) for one in names):
        return ""
    return f"hoodie.table.checksum is not that of the table's name {name[:60]}"


def _holds_property(text: str) -> bool:
    """Whether ``hoodie.``, name letters and ``=`` follow one another. One pass: a search would try each ``hoodie.``."""
    start, end = 0, text.find("=")
    while end >= 0:
        name = text[start:end]
        if "hoodie." in name[len(name.rstrip(_NAME_LETTERS)) : -1]:
            return True
        start = end + 1
        end = text.find("=", start)
    return False


def _contradiction(found: Mapping[str, str]) -> str:
    for key in _SWITCHES:
        if found.get(key, "").strip().lower() not in ("", "true", "false"):
            return f"{key} is {found[key][:60]}, neither true nor false"
    version, layout = found.get("hoodie.table.version", ""), found.get("hoodie.timeline.layout.version")
    if layout is not None and layout not in _LAYOUTS.get(version, (layout,)):
        return f"table version {version} has no timeline of layout {layout[:60]}"
    initial = found.get("hoodie.table.initial.version", "0")
    if version in _LAYOUTS and (not initial.isdecimal() or int(initial[:4]) > int(version)):
        return f"the table's first version is {initial[:60]}, its version is {version}"
    mode = found.get("hoodie.record.merge.mode")
    if mode and mode not in _MODES:
        return f"merge mode {mode[:60]} is not known"
    return ""


def _is_like(key: str, meant: str) -> bool:
    """Whether one changed byte may have made a key of another: a letter changed or gone, or a separator put in."""
    if len(key) == len(meant):
        return sum(one != other for one, other in zip(key, meant, strict=True)) == 1
    if len(key) == len(meant) - 1:
        return any(meant[:place] + meant[place + 1 :] == key for place in range(len(meant)))
    if len(key) < len(meant):
        return meant.startswith(key)
    return key.startswith(meant) and key[len(meant)] != "."
