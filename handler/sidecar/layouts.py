"""How a table spreads its rows over buckets: its index's options, checked against its files.

    the table, by the options                                       answer
    -------------------------------------------------------------   ---------------------------------------------
    has a simple bucket index of one number of buckets              the number, and the hashed columns
    has none, consistent hashing, or numbers by partition           why there are no buckets
    contradicts its options: the id of a file, or a key             why there are no buckets
    cannot be read, or not in time                                  why there are no buckets

The answer lets an engine plan. It does not make sure that each row is in its bucket, which the engine checks when it
reads the row.

Source of the checks: ``index_store.kinds.bucket_index.table_buckets``; facts: docs/facts/hudi-buckets.md.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Final
from weakref import WeakKeyDictionary

from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from handler.recently_used import RecentlyUsed
from handler.sidecar.idl import LayoutRequest, Refused
from handler.sidecar.requests import require
from handler.sidecar.roots.allowed_roots import AllowedRoots, AllowedTable
from handler.sidecar.tables import Tables
from handler.sidecar.view import View
from index_store.kinds.bucket_index.table_buckets import table_buckets

__all__ = ["BucketLayout", "LayoutQuestion", "Layouts", "read_layout_request"]

#: The bytes of a request's options, and the layouts that are remembered of a view.
_MAX_OPTIONS_BYTES: Final = 64 << 10
_MAX_REMEMBERED: Final = 16
_FAMILIES = ("hoodie.index.", "hoodie.bucket.index.")


@frozen
class LayoutQuestion:
    """A checked request: a table, and the options of its index that the engine knows."""

    location: AllowedTable
    options: tuple[tuple[str, str], ...]


@frozen
class BucketLayout:
    """The number of buckets of each partition and the hashed columns, in order; or ``why`` there are none."""

    buckets: int | None = None
    columns: tuple[str, ...] = ()
    why: str | None = None
    instant: str | None = None


def read_layout_request(request: LayoutRequest | None, roots: AllowedRoots) -> LayoutQuestion:
    """The question of a call of layout(). Raises Refused."""
    checked = require(request, {"table": str, "options": bytes | memoryview})
    if len(checked.options) > _MAX_OPTIONS_BYTES:
        raise Refused("limit", f"the options may have up to {_MAX_OPTIONS_BYTES} bytes")
    try:
        lines = bytes(checked.options).decode().split("\n")
    except UnicodeDecodeError:
        raise Refused("request", "the options are not UTF-8") from None
    if lines.pop():
        raise Refused("request", "the options do not end with a line feed")
    options: dict[str, str] = {}
    for line in lines:
        name, separator, value = line.partition("=")
        if not separator or not name.startswith(_FAMILIES) or name in options:
            raise Refused("request", "the options are not lines of NAME=VALUE about an index")
        options[name] = value
    return LayoutQuestion(roots.locate(checked.table), tuple(sorted(options.items())))


class Layouts:
    """The layouts of the open tables, remembered for as long as their views are. Used on the event loop only."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known: WeakKeyDictionary[View, RecentlyUsed[tuple[tuple[str, str], ...], BucketLayout]] = (
            WeakKeyDictionary()
        )

    async def answer(self, question: LayoutQuestion) -> BucketLayout:
        """The layout of the table as it is now. Raises TableUnavailable and Refused."""
        view = (await self._tables.view(question.location)).view
        known = self._known.setdefault(view, RecentlyUsed(_MAX_REMEMBERED))
        layout = known.get(question.options)
        if layout is None:
            layout = await self._tables.with_view(
                question.location, view, f"layout {question.options}", lambda: bucket_layout(view, question.options)
            )
            known.put(question.options, layout)
        return layout


def bucket_layout(view: View, options: tuple[tuple[str, str], ...]) -> BucketLayout:
    """The layout of a view by options that come before those of the table. Errors of the table are reasons (C4)."""
    try:
        return _checked(view, dict(options))
    except SargoError as error:
        return BucketLayout(why=str(error), instant=view.instant)


def _checked(view: View, options: Mapping[str, str]) -> BucketLayout:
    """Raises StatsError when the table contradicts its options."""
    table = copy.copy(view.opened.table)
    table.options = {**table.options, **options}
    buckets = table_buckets(table, view.files.slices)
    if buckets is None:
        why = "its options do not tell of buckets of its record key, or the text of its record keys is not known"
        return BucketLayout(why=why, instant=view.instant)
    if not buckets.is_simple:
        why = "consistent hashing: buckets are ranges of a hash, which differ by partition"
        return BucketLayout(why=why, instant=view.instant)
    if buckets.rules:
        return BucketLayout(why="the number of buckets differs by partition", instant=view.instant)
    buckets.check()
    return BucketLayout(buckets.number, buckets.hashed.fields, instant=view.instant)
