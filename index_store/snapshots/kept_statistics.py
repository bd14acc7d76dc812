"""What one index kind has made of its stored records, kept beside the columns of a snapshot.

    expression_index     an expression index: bounds of a function of a column
    own_index            a column, or an expression, in the own indexes of sketches
    own_merged_rows      the same of merged rows

They are files of columns (``column_file``) that hold a version, too. Other than ``column_stats`` they are not carried
over a commit: the first filter after one reads them as a whole. They are not shared either.

Arrays of another form, the Bloom filters of own indexes, are a file in the table's folder, of the latest state that
they were made for. Those that are larger than a share of the folder's limit are not kept.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.packed_texts import PackedTexts
from index_store.kinds.base import IndexKind
from index_store.kinds.statistics_memory import KeptArrays, MakeArrays, MakeStatistics
from index_store.snapshots.arrays_file import ArraysFile, UnusableError, write_arrays
from index_store.snapshots.column_file import column_file_name
from index_store.snapshots.snapshot import Snapshot
from index_store.snapshots.stored_kind import with_snapshot

__all__ = ["KeptStatistics"]

#: Arrays of more bytes than this share of the folder's limit are not kept.
_LARGEST_SHARE = 1 / 16
_MORE = "more"


class KeptStatistics:
    """The statistics of one kind in a snapshot (``kinds.statistics_memory.StatisticsMemory``)."""

    def __init__(self, snapshot: Snapshot, kind: str) -> None:
        self._snapshot, self._kind = snapshot, kind

    def statistics(self, of: Field, version: str, make: MakeStatistics) -> ColumnStatistics | None:
        """The kept ones; what ``make`` gives where there are none, or damaged ones, or those of another version."""
        if of.type.kind is Kind.OTHER:
            return make()
        with suppress(UnusableError, ValueError):
            return self._read(of, version)
        made = make()
        with suppress(OSError, UnusableError, ValueError):
            self._snapshot.keep(self._kind, of, made, None, version)
            return self._read(of, version)
        return made

    def arrays(self, of: Field, version: str, make: MakeArrays) -> KeptArrays | None:
        """The same of arrays, for the latest state."""
        state, cache = self._snapshot.manifest.state, self._snapshot.cache
        file = cache.of_table(state).file(column_file_name(f"{self._kind}-arrays", of.name))
        about = {"what": "arrays", "kind": self._kind, "of": of.name, "type": str(of.type), "version": version}
        about |= {"table": state.table, "state": state.digest}
        with suppress(UnusableError, KeyError):
            stored = ArraysFile.open(file, about)
            more = stored.about[_MORE]
            return None if more is None else KeptArrays({name: _plain(stored.get(name)) for name in stored.names}, more)
        made = make()
        arrays, more = ({}, None) if made is None else (made.arrays, made.about)
        if sum(one.nbytes for one in arrays.values()) <= _LARGEST_SHARE * cache.limit:
            with suppress(OSError, ValueError):
                write_arrays(file, arrays, {**about, _MORE: more})
        return made

    def in_front_of(self, kind: IndexKind) -> IndexKind:
        """The kind, whose columns the snapshot has."""
        return with_snapshot([kind], self._snapshot)[0]

    def _read(self, of: Field, version: str) -> ColumnStatistics | None:
        """Raises UnusableError, and ValueError for layers that do not fit together."""
        kept, layers = self._snapshot.column(self._kind, of, version), self._snapshot.layers
        if layers is None or kept.base is None:
            return kept.base
        if kept.delta is None:
            raise UnusableError(f"{of.name}: kept of one layer")
        return layers.join_statistics(kept.base, kept.delta)


def _plain(stored: Any) -> Any:
    return stored.arrow() if isinstance(stored, PackedTexts) else np.asarray(stored)
