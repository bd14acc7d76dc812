"""The view that all scans of one query share: a commit between two scans of a query does not show in the second one.

What is kept is bounded. A query whose view was given up sees the state of its next scan, as with Hudi's own listing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from handler.sidecar.view import View

__all__ = ["MAX_QUERIES", "QueryViews"]

#: The tables of queries that are remembered.
MAX_QUERIES = 1000


class QueryViews:
    """The view of each table that the latest queries began with. Used on the event loop only."""

    def __init__(self, max_bytes: int, is_latest: Callable[[str, View], bool], max_queries: int = MAX_QUERIES) -> None:
        """``max_bytes``: of views that are not the latest of their table (``is_latest(table, view)``)."""
        self._views: OrderedDict[tuple[str, str], View] = OrderedDict()
        self._max_bytes, self._max_queries = max_bytes, max_queries
        self._is_latest = is_latest

    def __len__(self) -> int:
        return len(self._views)

    @property
    def nbytes(self) -> int:
        """The bytes of memory of those that only queries hold."""
        return sum(view.nbytes for view in {id(view): view for _, view in self._older()}.values())

    def get(self, query_id: str, table: str) -> View | None:
        """The view that the query's first scan of the table was answered from."""
        return self._views.get((query_id, table)) if query_id else None

    def keep(self, query_id: str, table: str, view: View) -> None:
        """Remember it for the query's other scans."""
        if not query_id:
            return
        self._views[query_id, table] = view
        self._views.move_to_end((query_id, table))
        while len(self._views) > self._max_queries:
            self._views.popitem(last=False)
        while self.nbytes > self._max_bytes:
            del self._views[self._older()[0][0]]

    def _older(self) -> list[tuple[tuple[str, str], View]]:
        return [(key, view) for key, view in self._views.items() if not self._is_latest(key[1], view)]
