"""The sums of single files, of the own indexes of a table that keep them: for aggregates, not for filters.

index "totals": sum of fare            file f1: 120 rows, 4 NULLs, 3150

A base file is written once, so what an index of any instant knows of it holds. A file of which the column has another
type that does not fit, or whose rows were not counted, has no sum here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from index_store.own.builders.sketching import ROWS, nulls_field, sketch_field, type_field
from index_store.own.definition import Entry
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.sketches.sums import SUM, TOTAL
from index_store.own.store.own_index import OwnIndex, StatisticsRows
from index_store.table.file_types import FileType, fit_of

__all__ = ["FileSum", "file_sums"]


@frozen
class FileSum:
    """The values of one column in one file: ``total`` is unscaled, in the scale of the table's column."""

    rows: int
    nulls: int
    total: int


def file_sums(own: OwnIndexes, column: Field, paths: Sequence[str]) -> dict[str, FileSum]:
    """The sums of a column of integers or decimals in base files, by path, of those that an index knows.

    Of several indexes the first that knows a file answers. One that cannot be read answers nothing.
    Raises TableError when the indexes cannot be listed.
    """
    found: dict[str, FileSum] = {}
    for index in own.sketches:
        if isinstance(index, OwnIndex) and Entry(column.name, SUM) in index.definition.entries:
            left = [path for path in paths if path not in found]
            with suppress(SargoError):
                found.update(_sums_in(index, column, left))
    return found


def _sums_in(index: OwnIndex, column: Field, paths: Sequence[str]) -> dict[str, FileSum]:
    rows = index.find(paths)
    path_of = dict(zip(rows.tolist(), paths, strict=True))
    wanted = np.zeros(index.files.num_rows, np.bool_)
    wanted[rows[rows >= 0]] = True
    names = [ROWS, type_field(column.name), nulls_field(column.name), sketch_field(column.name, SUM, TOTAL)]
    return {
        path_of[row]: known
        for part in index.statistics(names, wanted)
        if set(names) <= set(part.columns.column_names)
        for row, known in _known_sums(part, wanted, names, column)
    }


def _known_sums(
    part: StatisticsRows, wanted: npt.NDArray[np.bool_], names: Sequence[str], column: Field
) -> Iterator[tuple[int, FileSum]]:
    """The row in the index of each wanted file that has a sum, with that."""
    chosen = np.flatnonzero(wanted[part.index_rows])
    places = part.index_rows[chosen].tolist()
    values: list[list[Any]] = [part.columns[name].take(pa.array(chosen)).to_pylist() for name in names]
    for row, rows, text, nulls, total in zip(places, *values, strict=True):
        if total is None or rows is None or nulls is None or rows < 0 or nulls < 0 or text is None:
            continue
        of = FileType(text)
        if of.is_known and isinstance(fit_of(of, column.type, ""), bool):
            factor = 10 ** (column.type.scale - of.type.scale) if column.type.kind is Kind.DECIMAL else 1
            yield row, FileSum(rows, nulls, int(total) * factor)
