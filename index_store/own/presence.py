"""Whether a table has own indexes at all, and where it keeps them; nothing of an index is imported to tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from index_store.table.table_options import OTHER_INDEXES

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["DIRECTORY", "OTHERS", "may_have_indexes"]

DIRECTORY, OTHERS = ".sargo", OTHER_INDEXES


def may_have_indexes(table: Table) -> bool:
    """Whether the table has a folder of indexes or an option that names some."""
    return bool(table.options.get(OTHERS) or table.storage.below(DIRECTORY).files(recursive=True))
