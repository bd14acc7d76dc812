"""The table of one round: rows, the slices that contain them, and the statistics of one or two index kinds.

A slice is a base file and maybe log files. Its rows are those of its files and, since a merged row may take each column
from another file (C3), mixtures of them. The statistics come from ``tests.prove.writers`` through the real rules:

    rows -> stored records -> FileStatistics.of -> believe -> unite -> ColumnStatistics

Slices of a table share few distinct rows, so that the oracle is asked once for each.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.leaves import Lookup
from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.language.errors import UnsupportedError
from evaluator.language.types import INT, STRING, Kind, Type
from evaluator.reference.row_functions import call
from evaluator.statistics.columns import ColumnStatistics, from_values
from evaluator.statistics.indexing import with_index, with_ranks
from evaluator.statistics.layers import Layers
from index_store.formats.avro_columns import StatsRecord
from index_store.formats.parquet_footers import Proof
from index_store.kinds.column_stats.file_rules import FileStatistics, believe
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite
from index_store.table.file_slices import FileSlice, FileSlices
from tests.evaluator.arrow_form import mapped, stored
from tests.prove.values import TYPES, draw
from tests.prove.writers import Writer

__all__ = ["Table"]

Row = dict[str, Any]
SLICES, STORED_ROWS, MIXED_ROWS, PALETTE = 320, 36, 20, 7
#: Slices of a wide table: more than the searches look at one by one.
WIDE = 5000


@dataclass(frozen=True)
class _File:
    """One file of a slice: its rows, each so many times (a Parquet row group has up to 100)."""

    name: str
    slice_index: int
    rows: tuple[int, ...]
    copies: int
    is_log: bool


@dataclass(frozen=True, kw_only=True)
class Table:
    """``holds`` is ``(slices, rows) bool``. ``statistics`` are those of the first source, by column.

    ``sources`` are all the sources: the index with its parts, and in some rounds a second kind. ``indexed`` are the
    sources with an index for searching. ``wide`` is the first one, indexed, over ``wide_rows`` of its slices, each many
    times. In half of the rounds the indexed ones are in Arrow form. ``layered`` are ``sources`` in the two ``layers``.
    ``palettes`` are the values of each column, for the filters; ``fault_counts`` counts the writers' faults.
    """

    rows: tuple[Row, ...]
    holds: npt.NDArray[np.bool_]
    statistics: Mapping[str, ColumnStatistics]
    sources: tuple[StatisticsProvider, ...]
    palettes: Mapping[str, Sequence[Any]]
    fault_counts: Counter[str]
    indexed: tuple[StatisticsProvider, ...] = ()
    wide: StatisticsProvider | None = None
    wide_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    layers: Layers = field(default_factory=lambda: Layers(0, np.zeros(0, np.int64), 0))
    layered: tuple[LayeredProvider, ...] = ()

    @classmethod
    def drawn(cls, rng: random.Random) -> Table:
        palettes = {name: [draw(rng, sql_type) for _ in range(PALETTE)] for name, sql_type in TYPES.items()}
        rows = _rows(rng, palettes)
        slices = _slices(rng, rows)
        files = [file for slice_files in slices for file in slice_files]
        holds = np.zeros((SLICES, STORED_ROWS + MIXED_ROWS), np.bool_)
        for file in files:
            holds[file.slice_index, list(file.rows)] = True
        custom_merge = rng.random() < 0.04
        merged = [slice_files for slice_files in slices if len(slice_files) > 1]
        for place in range(STORED_ROWS, STORED_ROWS + MIXED_ROWS):
            files_of_one = rng.choice(merged)
            held = [row for file in files_of_one for row in file.rows]
            rows.append({name: rows[rng.choice(held)][name] for name in TYPES} if held else dict(rows[0]))
            holds[files_of_one[0].slice_index, place] = bool(held)
        if custom_merge:
            with_logs = [
                slice_files[0].slice_index for slice_files in slices if any(file.is_log for file in slice_files)
            ]
            holds[with_logs] = True
        version = rng.choice((6, 9))
        fault_counts: Counter[str] = Counter()
        known = _slice_files(slices)
        statistics = {}
        for name, sql_type in TYPES.items():
            writer = Writer.drawn(rng, sql_type, version)
            column = _statistics(rng, writer, name, rows, files, known, custom_merge=custom_merge)
            fault_counts += writer.fault_counts
            if column is not None:
                statistics[name] = column
        fault_counts["not parquet"] += int(known.is_other.sum())
        table = cls(
            rows=tuple(rows),
            holds=holds,
            statistics=statistics,
            sources=(StatisticsProvider("column_stats", statistics),),
            palettes=palettes,
            fault_counts=fault_counts,
        )
        if rng.random() < 0.35:
            table = replace(table, sources=(*table.sources, _second_kind(rng, table)))
        return _in_layers(rng, _with_indexes(rng, table))


def _rows(rng: random.Random, palettes: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Stored rows, sorted by one column, so that slices of neighbouring rows have narrow ranges of it."""
    nulls = {name: rng.choice((0.0, 0.0, 0.15, 0.6)) for name in palettes}
    rows: list[Row] = []
    for _ in range(STORED_ROWS):
        row = {name: None if rng.random() < nulls[name] else rng.choice(values) for name, values in palettes.items()}
        if rng.random() < 0.15:
            row["st.x"] = row["st.s"] = None  # the struct itself is NULL
        rows.append(row)
    by = rng.choice(list(palettes))
    rows.sort(key=lambda row: _in_order(row[by]))
    return rows


def _in_order(value: Any) -> tuple[bool, Any]:
    """A key for sorting the values of one column: NULL and NaN last."""
    return (True, 0) if value is None or value != value else (False, value)


def _slices(rng: random.Random, rows: Sequence[Row]) -> list[list[_File]]:
    slices: list[list[_File]] = []
    for index in range(SLICES):
        files: list[_File] = []
        has_base = rng.random() < 0.95
        logs = 0 if rng.random() < 0.7 and has_base else rng.choice((1, 1, 2))
        suffix = "orc" if rng.random() < 0.02 else "parquet"
        names = [f"b{index}-0_0-1-1_2.{suffix}"] * has_base + [
            f".b{index}-0_3.log.{j}_0-1-1" for j in range(1, logs + 1)
        ]
        for name in names:
            size = rng.choice((1, 1, 1, 2, 2, 3, 4, 6)) if rng.random() < 0.96 else 0
            start = rng.randrange(len(rows) - size + 1)
            chosen = range(start, start + size) if rng.random() < 0.6 else rng.sample(range(len(rows)), size)
            is_log = name.startswith(".")
            files.append(_File(name, index, tuple(chosen), 1 if is_log else rng.choice((1, 1, 101)), is_log))
        slices.append(files)
    return slices


def _slice_files(slices: Sequence[Sequence[_File]]) -> SliceFiles:
    items = []
    for index, files in enumerate(slices):
        bases = [file.name for file in files if not file.is_log]
        logs = tuple(file.name for file in files if file.is_log)
        items.append(FileSlice("", f"b{index}-0", bases[0] if bases else None, logs))
    return SliceFiles.of(FileSlices("3", "file listing", tuple(items)))


def _statistics(
    rng: random.Random,
    writer: Writer,
    name: str,
    rows: Sequence[Row],
    files: Sequence[_File],
    known: SliceFiles,
    *,
    custom_merge: bool,
) -> ColumnStatistics | None:
    if rng.random() < 0.02:
        return None
    records: list[StatsRecord] = []
    places: list[int] = []
    deleted: list[int] = []
    proofs: dict[str, Proof] = {}
    good = rng.random() < 0.4  # a column without drawn faults
    for file in files:
        fault = "exact" if good else writer.fault()
        cells = [rows[row][name] for row in file.rows]
        file_records, proof = writer.record(
            file.name, cells, file.copies, fault, log=file.is_log, counts_nulls="." not in name
        )
        place = known.by_name[file.name.encode()]
        proofs[known.paths[place]] = proof if file.name.endswith(".parquet") else Proof()
        records += file_records
        places += [place] * len(file_records)
        if fault == "deleted" and not file_records:
            deleted.append(place)
    if not records:
        return None
    stored = FileStatistics.of(records, np.array(places, np.intp), writer.type, writer.unit, writer.version)
    believed = believe(stored, known, lambda path: proofs[path])
    return unite(believed, known, np.array(deleted, np.intp), custom_merge=custom_merge)


def _with_indexes(rng: random.Random, table: Table) -> Table:
    """Few edges and small blocks, so that codes tie and blocks are met; or as many as a real index has; or ranks."""
    edges, block = rng.choice(((1, 4), (2, 8), (3, 16), (7, 32), (60_000, 1024)))
    in_arrow, ranked = rng.random() < 0.5, rng.random() < 0.3

    def index(statistics: ColumnStatistics) -> ColumnStatistics:
        if ranked:
            return with_ranks(stored(statistics) if in_arrow else statistics)
        indexed_statistics = with_index(statistics, edges, block)
        if not in_arrow or indexed_statistics.index is None:
            return indexed_statistics
        index_in_arrow = mapped(indexed_statistics.index, indexed_statistics.type)
        return replace(stored(indexed_statistics), index=index_in_arrow)

    indexed = tuple(
        replace(source, statistics={name: index(s) for name, s in source.statistics.items()})
        for source in table.sources
    )
    if rng.random() < 0.8:
        return replace(table, indexed=indexed)
    rows = np.sort(np.array(rng.choices(range(SLICES), k=WIDE)))
    if rng.random() < 0.5:
        np.random.default_rng(rng.randrange(1 << 30)).shuffle(rows)
    wide = {name: index(replace(s, parts=None).take(rows)) for name, s in table.statistics.items()}
    return replace(table, indexed=indexed, wide=StatisticsProvider("column_stats", wide), wide_rows=rows)


def _in_layers(rng: random.Random, table: Table) -> Table:
    """The same slices as a base, indexed or not, some of whose slices are tombstoned, and a delta."""
    delta, tombstoned = rng.choice((0, 1, 40, 250, SLICES)), rng.choice((0, 1, 60))
    base = SLICES - delta + tombstoned
    layers = Layers(base, np.array(sorted(rng.sample(range(base), tombstoned)), np.int64), delta)
    edges, block = rng.choice(((1, 4), (60_000, 1024)))
    layered = []
    for source in table.sources:
        halves = LayeredProvider.split(layers, source)
        if rng.random() < 0.3:
            layered.append(halves)
            continue
        base_of = {name: _raised(rng, layers, s) for name, s in halves.base.statistics.items()}
        if rng.random() < 0.7:
            base_of = {name: with_index(s, edges, block) for name, s in base_of.items()}
        delta_of = dict(halves.delta.statistics)
        layered.append(
            LayeredProvider.joined(
                layers,
                StatisticsProvider(source.name, base_of),
                StatisticsProvider(source.name, delta_of),
                source.might_contain,
            )
        )
    return replace(table, layers=layers, layered=tuple(layered))


def _raised(rng: random.Random, layers: Layers, statistics: ColumnStatistics) -> ColumnStatistics:
    """With statistics of other slices where the tombstoned ones are: no answer may depend on them."""
    rows = np.arange(len(statistics))
    alive = np.setdiff1d(rows, layers.tombstoned)
    if not len(alive):
        return statistics
    rows[layers.tombstoned] = rng.choices(alive.tolist(), k=len(layers.tombstoned))
    return replace(replace(statistics, parts=None).take(rows), parts=statistics.parts)


def _second_kind(rng: random.Random, table: Table) -> StatisticsProvider:
    """Another kind: exact bounds of a few columns in some slices, and a filter of keys with false positives."""
    held = [[table.rows[row] for row in np.flatnonzero(mask).tolist()] for mask in table.holds]
    statistics: dict[str, ColumnStatistics] = {}
    for name in rng.sample(list(TYPES), 8):
        if TYPES[name].kind.is_fractional:
            continue
        knows = [rng.random() < 0.6 and bool(rows) for rows in held]
        cells = [
            [row[name] for row in rows if row[name] is not None] if known else []
            for rows, known in zip(held, knows, strict=True)
        ]
        counts = [
            (sum(row[name] is None for row in rows), len(rows)) if known else (None, None)
            for rows, known in zip(held, knows, strict=True)
        ]
        statistics[name] = from_values(
            TYPES[name],
            [min(c, default=None) for c in cells],
            [max(c, default=None) for c in cells],
            [c[0] for c in counts],
            [c[1] for c in counts],
        )
    lucky = np.array([rng.random() < 0.3 for _ in held])

    def might_contain(lookup: Lookup, candidates: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | None:
        del candidates
        name, wanted = lookup.column.name, set(lookup.values)
        if name not in TYPES or TYPES[name].kind.is_timestamp:
            return None
        if lookup.function:
            result = _OF_FUNCTIONS.get((lookup.function, TYPES[name].kind))
            return (
                None
                if result is None
                else lucky
                | np.array(
                    [
                        any(_yields(lookup.function, row[name], TYPES[name], result, wanted) for row in rows)
                        for rows in held
                    ]
                )
            )
        return np.array([any(row[name] in wanted for row in rows) for rows in held]) | lucky

    return StatisticsProvider("keys", statistics, might_contain)


#: Functions whose values an index may know, by the kind of the column, and what they yield.
_OF_FUNCTIONS = {
    **dict.fromkeys((("year", Kind.DATE), ("month", Kind.DATE), ("day", Kind.DATE), ("length", Kind.STRING)), INT),
    **dict.fromkeys((("lower", Kind.STRING), ("upper", Kind.STRING), ("trim", Kind.STRING)), STRING),
}


def _yields(function: str, value: Any, sql_type: Type, result: Type, wanted: set[object]) -> bool:
    """Whether a function of a value yields one of these, or may."""
    try:
        return call(function, [(value, sql_type)], result) in wanted
    except UnsupportedError:
        return True
