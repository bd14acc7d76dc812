"""Columns by id (``hoodie.schema.on.read.enable``): where reading by name, as Sargo does, would give other rows."""

from __future__ import annotations

from evaluator.language.errors import UnsupportedError
from handler.spark.pruning.read_options import BY_ID
from index_store import Table
from index_store.table.schema_history import read_name_history

__all__ = ["check_names_stay"]


def check_names_stay(table: Table, instead: str) -> None:
    """Raise UnsupportedError for a table with columns that were renamed, or dropped and added again."""
    history = read_name_history(table.storage)
    names = sorted(history.reused | history.renamed)
    if names:
        raise UnsupportedError(
            f"{table.path}: {BY_ID} is set, and columns were renamed, or dropped and added again: {', '.join(names)}. "
            f"Hudi's own reader tells them apart ({instead}); without the setting columns are read by name"
        )
