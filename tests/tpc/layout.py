"""One Hudi table of a benchmark: which of its tables, in what order, in how many files, with which updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Layout:
    """``files``: in a large table, and in a small one. ``update``: rows and their new values.

    ``sample`` is the condition on the rows that a small table has.
    """

    name: str
    table: str
    keys: str
    columns: str
    order: str
    files: tuple[int, int]
    partition: str = ""
    merge_on_read: bool = False
    update: tuple[str, Mapping[str, str]] | None = None
    sample: str = ""

    @property
    def kind(self) -> str:
        return ("MOR" if self.merge_on_read else "COW") + (f" by {self.partition}" if self.partition else "")


def by_name(*layouts: Layout) -> Mapping[str, Layout]:
    return {layout.name: layout for layout in layouts}
