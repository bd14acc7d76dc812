"""Which rows of a slice are hidden by records in its log files, for every reader (``table.row_precedence``).

    key   base row       log files, in their order          hidden
    ----  -------------  ---------------------------------  --------------------------------------------------------
    a     a, ordering 5  7                                   the base row
    b     b, ordering 5  3                                   nothing: one reader shows the base row, another the record
    c     c, ordering 5  7, then 8                           the base row and the record of 7
    d     d, ordering 5  a deletion without an ordering      the base row
    e     e, ordering 5  such a deletion, then 3             nothing: a reader that merges log files first shows e again

A deletion without an ordering value has the integer 0 instead. It hides everything before it, and anything may come
after it: so the other records of its key decide nothing, unless it is the last one. The same holds for a record
whose ordering value is NULL, 0 or of another type. What is not hidden is not always shown: a row more does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen

__all__ = ["LoggedRecords", "LoggedVersions", "Orderings", "orderings_of", "versions_of"]

Mask = npt.NDArray[np.bool_]
#: Ordering values of text that are longer are not compared.
MAX_TEXT = 64


@frozen(slots=False, eq=False)
class Orderings:
    """``(n,)`` ordering values: int64, or the bytes of ASCII text. ``known``: those that can be compared."""

    values: npt.NDArray[Any]
    known: Mask

    @classmethod
    def none(cls, n: int) -> Orderings:
        """No ordering value is known."""
        return cls(np.zeros(n, np.int64), np.zeros(n, np.bool_))


@frozen(slots=False, eq=False)
class LoggedRecords:
    """The records of one block of a log file.

    keys        ``(n,) large_binary``: the record keys
    orderings   of the records
    instant     that wrote the block
    final       of a DELETE block, ``(n,)``: its records without an ordering value of their own
    """

    keys: pa.Array
    orderings: Orderings
    instant: str
    final: Mask | None = None


@frozen(slots=False, eq=False)
class LoggedVersions:
    """What the records of all blocks hide.

    keys      ``(k,) large_binary``: every key once
    always    ``(k,)``: its base row is hidden
    newest    ``(k,)``: a base row whose ordering value is not greater is hidden, where ``compared``
    hidden    for each block ``(n,)``: the records that a later one hides
    """

    keys: pa.Array
    always: Mask
    newest: npt.NDArray[Any]
    compared: Mask
    hidden: tuple[Mask, ...]

    def indices(self, keys: pa.Array) -> npt.NDArray[np.int64]:
        """``(n,)``: the number of each key among ``keys``, -1 for a key that no log file has."""
        found = pc.fill_null(pc.index_in(keys, value_set=self.keys), -1)
        numbers: npt.NDArray[np.int64] = found.to_numpy(zero_copy_only=False).astype(np.int64)
        return numbers

    def hides(self, indices: npt.NDArray[np.int64], orderings: Orderings) -> Mask:
        """``(n,)``: which base rows are hidden, if no other base row has the key; ``indices``: of their keys."""
        hidden = np.zeros(len(indices), np.bool_)
        logged = np.flatnonzero(indices >= 0)
        number = indices[logged]
        hidden[logged] = self.always[number]
        compared = np.flatnonzero(orderings.known[logged] & self.compared[number])
        if len(compared):
            logged, number = logged[compared], number[compared]
            hidden[logged] = self.newest[number] >= orderings.values[logged]
        return hidden


def orderings_of(values: pa.Array) -> Orderings:
    """The ordering values of a column in plain form (``sketches.values``): int64, or large_binary of text."""
    known = values.is_valid().to_numpy(zero_copy_only=False).copy()
    if pa.types.is_large_binary(values.type):
        filled = pc.fill_null(values, b"")
        short = pc.less_equal(pc.binary_length(filled), MAX_TEXT).to_numpy(zero_copy_only=False)
        plain = pc.string_is_ascii(filled.cast(pa.large_string())).to_numpy(zero_copy_only=False)
        known &= short & plain
        texts = [one if ok else b"" for one, ok in zip(filled.to_pylist(), known.tolist(), strict=True)]
        known &= np.array([b"\0" not in one for one in texts], np.bool_)  # numpy drops NULs at the end
        return Orderings(np.array(texts, f"S{MAX_TEXT}"), known)
    return Orderings(values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), known)


def versions_of(blocks: Sequence[LoggedRecords], *, by_commit: bool, has_ordering: bool) -> LoggedVersions:
    """The versions in the blocks of a slice's log files, in the order in which readers apply them.

    ``by_commit``: a record hides the base row whatever its ordering value is. ``has_ordering``: the table has an
    ordering field.
    """
    keys = pa.concat_arrays([pa.array([], pa.large_binary()), *(block.keys for block in blocks)]).dictionary_encode()
    code = keys.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    k = len(keys.dictionary)
    records = _Records.of(blocks, code, has_ordering=has_ordering)
    unsure = np.zeros(k, np.bool_)
    if not by_commit:
        unsure[code[~records.plain]] = True
    always = np.full(k, by_commit)
    hidden = np.zeros(len(code), np.bool_)
    newest = np.zeros(k, records.values.dtype)
    counts = np.bincount(code, minlength=k)
    single = np.flatnonzero(counts[code] == 1)
    newest[code[single]] = records.values[single]
    always[code[single[records.final[single]]]] = True
    for rows in _by_key(code, records.instant, np.flatnonzero(counts[code] > 1)):
        number = code[rows[0]]
        if not unsure[number]:
            newest[number] = max(records.values[rows].tolist())
        last = records.instant[rows] == records.instant[rows[-1]]
        if records.in_order and last.sum() == 1 and records.final[rows[-1]]:
            always[number] = True
            hidden[rows[:-1]] = True
        elif records.in_order and not unsure[number]:
            hidden[rows] = _hidden(records, rows, compares=has_ordering)
    ends = np.cumsum([len(block.keys) for block in blocks])
    parts = tuple(np.split(hidden, ends[:-1])) if blocks else ()
    return LoggedVersions(keys.dictionary, always, newest, ~unsure & ~always, parts)


@frozen(slots=False, eq=False)
class _Records:
    """All records side by side. ``plain``: the ordering value is known and none that stands for "no value"."""

    values: npt.NDArray[Any]
    plain: Mask
    instant: npt.NDArray[np.int64]
    final: Mask
    in_order: bool

    @classmethod
    def of(cls, blocks: Sequence[LoggedRecords], code: npt.NDArray[np.int64], *, has_ordering: bool) -> _Records:
        texts = any(block.orderings.values.dtype.kind == "S" for block in blocks)
        n, dtype = len(code), np.dtype(f"S{MAX_TEXT}") if texts else np.dtype(np.int64)
        known = np.concatenate([np.zeros(0, np.bool_), *(block.orderings.known for block in blocks)])
        values = np.zeros(n, dtype)
        start = 0
        for block in blocks:
            end = start + len(block.keys)
            if block.orderings.values.dtype.kind == dtype.kind:
                values[start:end] = block.orderings.values
            else:
                known[start:end] = False
            start = end
        zero = (values == b"") | (values == b"0") if texts else values == 0
        ranks = {instant: rank for rank, instant in enumerate(sorted({block.instant for block in blocks}))}
        of_block = np.array([ranks[block.instant] for block in blocks], np.int64)
        finals = [np.zeros(len(one.keys), np.bool_) if one.final is None else one.final for one in blocks]
        return cls(
            values,
            known & ~zero if has_ordering else np.ones(n, np.bool_),
            np.repeat(of_block, [len(block.keys) for block in blocks]),
            np.concatenate([np.zeros(0, np.bool_), *finals]),
            bool((np.diff(of_block) >= 0).all()),
        )


def _by_key(
    code: npt.NDArray[np.int64], instant: npt.NDArray[np.int64], rows: npt.NDArray[np.intp]
) -> list[npt.NDArray[np.intp]]:
    """The rows of each key, by instant."""
    rows = rows[np.lexsort((instant[rows], code[rows]))]
    return np.split(rows, np.flatnonzero(np.diff(code[rows])) + 1) if len(rows) else []


def _hidden(records: _Records, rows: npt.NDArray[np.intp], *, compares: bool) -> Mask:
    """``(n,)``: which records of one key, by instant, a record of a later instant hides."""
    hidden = np.zeros(len(rows), np.bool_)
    best: Any = None
    ended = len(rows)  # records from here on are of later instants than the one that is looked at
    for position in range(len(rows) - 1, -1, -1):
        row = rows[position]
        if position + 1 < len(rows) and records.instant[rows[position + 1]] > records.instant[row]:
            for later in rows[position + 1 : ended]:
                if records.plain[later] and (best is None or records.values[later] > best):
                    best = records.values[later]
            ended = position + 1
        if ended < len(rows):
            hidden[position] = not compares or (
                best is not None and bool(records.plain[row]) and bool(best >= records.values[row])
            )
    return hidden
