"""What the footers of base files say of columns, kept for the next question about the same files.

A footer says it of its file alone. What the schema of a table makes of it is for ``FileValues`` to say. The name of a
base file is never used again, so what was read once holds for every later state of the table.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import record
from index_store.storage.errors import FormatError
from index_store.table.footer_values import FooterValues, footer_values

__all__ = ["ColumnFacts", "FooterFacts", "KeptFacts", "facts_of"]

#: So many bytes of facts are kept: those of some 28,000 files with three columns of numbers.
MAX_BYTES = 32 << 20
#: What a file and a column take, without their texts.
_FILE_BYTES, _COLUMN_BYTES = 400, 300
#: Writers of bounds in the order of the column's type. Older ones of parquet-mr wrote those of decimals in another.
_WRITER = re.compile(r"parquet-mr version (\d+)\.(\d+)|parquet-cpp-arrow version \d")
_OLDEST_MR = 1, 10


@record
class ColumnFacts:
    """Whether the file has the column, and what the footer proves of it, if anything."""

    in_file: bool
    proven: FooterValues | None


@record
class FooterFacts:
    """The number of rows of a base file, and its columns by name, of those that were asked for.

    ``why``: why nothing of it is exact, or "".
    """

    rows: int
    columns: Mapping[str, ColumnFacts]
    why: str = ""


def facts_of(footer: Any, names: Collection[str]) -> FooterFacts:
    """The facts of a footer (``pyarrow.parquet.FileMetaData``) about columns, whether or not the file has them."""
    try:
        if sum(footer.row_group(number).num_rows for number in range(footer.num_row_groups)) != footer.num_rows:
            return FooterFacts(0, {}, "the footer of the base file contradicts itself")
        if not _writes_in_order(str(footer.created_by or "")):
            return FooterFacts(0, {}, "the base file is of a writer whose footers are not known to be exact")
        have = frozenset(footer.schema.to_arrow_schema().names)
        proven = footer_values(footer, list(names))
    except UnsupportedError as error:
        return FooterFacts(0, {}, str(error))
    except (OSError, pa.ArrowException, FormatError, IndexError, ValueError) as error:
        return FooterFacts(0, {}, f"the footer of the base file cannot be understood: {error}")
    return FooterFacts(footer.num_rows, {name: ColumnFacts(name in have, proven.get(name)) for name in names})


def _writes_in_order(created_by: str) -> bool:
    found = _WRITER.match(created_by)
    return found is not None and (found[1] is None or (int(found[1]), int(found[2])) >= _OLDEST_MR)


class KeptFacts:
    """The facts of footers by the absolute path of the base file, those that were used last; for several threads."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._by_path: OrderedDict[str, FooterFacts] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """The number of files."""
        return len(self._by_path)

    @property
    def bytes(self) -> int:
        """What they take, about."""
        return self._bytes

    def of(self, paths: Iterable[str], names: Collection[str]) -> dict[str, FooterFacts]:
        """The facts of these base files, of those of which all these columns were asked for before."""
        wanted, found = frozenset(names), {}
        with self._lock:
            for path in paths:
                facts = self._by_path.get(path)
                if facts is not None and (facts.why or facts.columns.keys() >= wanted):
                    self._by_path.move_to_end(path)
                    found[path] = facts
        return found

    def keep(self, facts: Mapping[str, FooterFacts]) -> None:
        """Add these to what is known of the same files, and forget what was not used for the longest time."""
        with self._lock:
            for path, one in facts.items():
                before = self._by_path.pop(path, None)
                if before is not None:
                    self._bytes -= _bytes_of(path, before)
                    one = FooterFacts(one.rows, {**before.columns, **one.columns}, one.why)
                self._by_path[path] = one
                self._bytes += _bytes_of(path, one)
            while self._bytes > self._max_bytes:
                self._bytes -= _bytes_of(*self._by_path.popitem(last=False))


def _bytes_of(path: str, facts: FooterFacts) -> int:
    bounds = (
        len(bound)
        for one in facts.columns.values()
        if one.proven is not None
        for bound in (one.proven.lo, one.proven.hi)
        if isinstance(bound, bytes)
    )
    return _FILE_BYTES + len(path) + len(facts.why) + _COLUMN_BYTES * len(facts.columns) + sum(bounds)
