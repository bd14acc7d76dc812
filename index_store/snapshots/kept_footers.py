"""What the footers of a table's base files proved, kept in its folder of snapshots, so that it is read once.

    paths, columns, types     of a base file and a column; without a type the footer proves nothing of it
    rows, nulls               (m,) int64, -1 where not known
    bounds                    JSON: ``["i", "-5", "17"]``, ``["f", "0x1.8p+1", "inf"]``, ``["b", "61", "7a"]`` of bytes
                              in hexadecimal, ``[]`` where not known

The name of a base file is never used again, so what it proves holds for every later state of the table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.language.arrow_arrays import to_binary
from index_store.snapshots.arrays_file import ArraysFile, UnusableError, write_arrays
from index_store.snapshots.snapshot import Snapshot
from index_store.snapshots.state import FORMAT
from index_store.table.file_types import FileType
from index_store.table.footer_values import FooterValues

__all__ = ["KeptFooters"]

_NAME = "footers.arrays"
#: So many pairs of a file and a column are kept; of more, those that were read last.
_MAX_KEPT = 100_000
_TEXTS = ("paths", "columns", "types", "bounds")


class KeptFooters:
    """The file of one table. Reading and writing never raise: what is not there is read from the footers."""

    def __init__(self, snapshot: Snapshot) -> None:
        state = snapshot.manifest.state
        self._file = snapshot.cache.of_table(state).file(_NAME)
        self._about = {"what": "footers", "table": state.table, "fixed": state.fixed, "format": FORMAT}

    def read(self) -> dict[tuple[str, str], FooterValues | None]:
        """By path and column, what the footer proves; nothing from a file that is damaged or about another table."""
        try:
            stored = ArraysFile.open(self._file, self._about)
            texts = [_texts(stored.texts(name).arrow()) for name in _TEXTS]
            counts = [stored.array(name).tolist() for name in ("rows", "nulls")]
            return {
                (path, column): FooterValues(FileType(of), rows, nulls, *_bounds_of(bounds)) if of else None
                for path, column, of, bounds, rows, nulls in zip(*texts, *counts, strict=True)
            }
        except (UnusableError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}

    def write(self, values: Mapping[tuple[str, str], FooterValues | None]) -> None:
        """Keep these, in the place of what was kept."""
        kept = list(islice(values.items(), max(len(values) - _MAX_KEPT, 0), None))
        texts = [(path, column, one.type.text if one else "", _text_of(one)) for (path, column), one in kept]
        arrays = {name: _binary(row[place] for row in texts) for place, name in enumerate(_TEXTS)}
        arrays["rows"] = np.array([one.rows if one else -1 for _, one in kept], np.int64)
        arrays["nulls"] = np.array([one.nulls if one else -1 for _, one in kept], np.int64)
        with suppress(OSError, ValueError, pa.ArrowException):
            write_arrays(self._file, arrays, self._about)


def _texts(array: pa.Array) -> list[str]:
    return [one.decode("utf-8", "surrogatepass") for one in array.to_pylist()]


def _binary(texts: Iterable[str]) -> pa.Array:
    return to_binary([text.encode("utf-8", "surrogatepass") for text in texts])


def _text_of(values: FooterValues | None) -> str:
    if values is None or values.lo is None:
        return "[]"
    ends = (values.lo, values.hi)
    if all(isinstance(end, bytes) for end in ends):
        return json.dumps(["b", *(end.hex() for end in ends)])
    if all(isinstance(end, float) for end in ends):
        return json.dumps(["f", *(end.hex() for end in ends)])
    return json.dumps(["i", *(str(int(end)) for end in ends)])


def _bounds_of(text: str) -> tuple[Any, Any]:
    found = json.loads(text)
    if not found:
        return None, None
    kind, lo, hi = found
    read: Any = {"b": bytes.fromhex, "f": float.fromhex, "i": int}[kind]
    return read(lo), read(hi)
