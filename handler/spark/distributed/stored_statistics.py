"""The files of one state of a table in a shared folder: its slices, and the statistics that its index kinds have.

Statistics are stored by question. A question is one part of a filter's required statistics
(``RequiredStatistics.parts``): bounds or NULL counts of a column, or bounds of a function of it. Executors write slices
and statistics (``write_slices``, ``write_statistics``), in runs of slices. An evaluation on an executor reads one run;
explanations on the driver read all of them.
"""

from __future__ import annotations

import json
from dataclasses import KW_ONLY
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

import index_store
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import ColumnStatistics
from handler.spark.distributed.chunks import (
    join_statistics,
    slices_from_arrow,
    slices_to_arrow,
    statistics_from_arrow,
    statistics_to_arrow,
)
from handler.spark.distributed.shared_folder import SharedFolder
from index_store import Table
from index_store.own.store.locations import version_names
from index_store.snapshots.state import state_of
from index_store.storage.errors import TableError
from index_store.table.file_slices import FileSlice, FileSlices

__all__ = [
    "StateFolder",
    "StoredProviders",
    "StoredSlices",
    "StoredStatistics",
    "name_of",
    "write_slices",
    "write_statistics",
]

#: Rises with every change of what is stored.
FORMAT = 2
_SLICES, _PARTITIONS = "slices.json", "partitions.json"


@frozen(slots=False)
class StateFolder:
    """A table as of an instant, and the folder of its statistics. It is small: every task carries it.

    ``run`` is the number of slices in a file.
    """

    path: str
    as_of: str | None
    options: tuple[tuple[str, str], ...]
    storage_options: tuple[tuple[str, str], ...]
    folder: SharedFolder
    run: int

    def __repr__(self) -> str:
        return f"StateFolder({self.path!r}, {self.as_of!r}, {self.folder.path!r})"

    def open(self) -> Table:
        """The table as it is now."""
        return index_store.open_table(self.path, options=dict(self.options), storage_options=dict(self.storage_options))

    def of_table(self, table: Table) -> SharedFolder:
        """The folder of all states of the table."""
        return self.folder.below(_digest(str(table.path)))

    def state(self, table: Table) -> str | None:
        """The name of the table's state at the instant; None when no metadata table describes the table."""
        state = state_of(table)
        return (
            None
            if state is None
            else _digest(
                json.dumps([FORMAT, state.digest, self.as_of, self.run, version_names(table.storage, table.options)])
            )
        )

    def state_by_names(self, table: Table, slices: FileSlices) -> str:
        """The name of the state of a table without a metadata table, by everything that its statistics depend on."""
        names = [(one.partition, one.file_id, one.base_file, one.log_files) for one in slices]
        instants = [(one.requested, one.completed, one.action) for one in table.timeline.instants]
        return _digest(
            json.dumps(
                [
                    FORMAT,
                    self.run,
                    slices.instant,
                    slices.note,
                    names,
                    instants,
                    sorted(table.properties.items()),
                    sorted(self.options),
                    table.schema_text,
                    version_names(table.storage, table.options),
                ]
            )
        )


@frozen(slots=False)
class StoredSlices:
    """The slices of a state: ``folder`` is its folder, ``files`` hold ``run`` slices each but the last."""

    folder: SharedFolder
    n: int
    run: int
    _: KW_ONLY
    instant: str | None
    source: str
    note: str
    files: tuple[str, ...]

    @classmethod
    def find(cls, folder: SharedFolder) -> StoredSlices | None:
        """The slices that were written for a state; None when none were."""
        plain = folder.read_json(_SLICES)
        if plain is None:
            return None
        return cls(
            folder,
            plain["n"],
            plain["run"],
            instant=plain["instant"],
            source=plain["source"],
            note=plain["note"],
            files=tuple(plain["files"]),
        )

    def read(self, number: int) -> list[FileSlice]:
        """The slices of a file."""
        return slices_from_arrow(self.folder.read_table(self.files[number]))

    def partitions(self) -> tuple[str, ...]:
        """The paths of the slices' partitions, each once. Raises TableError where they are not stored."""
        plain = self.folder.read_json(_PARTITIONS)
        if plain is None:
            raise TableError(f"{self.folder.path}/{_PARTITIONS}", "it is missing or damaged: remove this folder")
        return tuple(plain["partitions"])

    def named(self, number: int) -> pa.Table:
        """The names of the slices of a file, as ``slices_to_arrow`` writes them."""
        return self.folder.read_packed(self.files[number])

    def all(self) -> FileSlices:
        """All slices, as objects."""
        items = [one for number in range(len(self.files)) for one in self.read(number)]
        return FileSlices(self.instant, self.source, items, self.note)


@frozen(slots=False)
class StoredStatistics:
    """The statistics of one index kind for a question: columns in ``files``, if the kind has any.

    order     the position of the kind among the kinds of the table
    columns   (function, column, type) of each; for the column itself the function is ""
    failure   why the kind failed, if it did
    """

    kind: str
    order: int
    columns: tuple[tuple[str, str, Type], ...] = ()
    files: tuple[str, ...] = ()
    failure: str = ""

    def read(self, folder: SharedFolder, number: int) -> list[ColumnStatistics]:
        """The statistics of the columns in one run of slices."""
        types = tuple(of for _, _, of in self.columns)
        return folder.read_kept(self.files[number], partial(statistics_from_arrow, types=types), types)

    def read_all(self, folder: SharedFolder) -> list[ColumnStatistics]:
        """The same in all slices."""
        runs = [self.read(folder, number) for number in range(len(self.files))]
        return [join_statistics(columns) for columns in zip(*runs, strict=True)]

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        columns = [
            [function, name, of.kind.value, of.precision, of.scale, of.name] for function, name, of in self.columns
        ]
        return {
            "kind": self.kind,
            "order": self.order,
            "columns": columns,
            "files": list(self.files),
            "failure": self.failure,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> StoredStatistics:
        """The reverse of ``to_plain``."""
        columns = tuple(
            (function, name, Type(Kind(kind), precision, scale, of))
            for function, name, kind, precision, scale, of in plain["columns"]
        )
        return cls(plain["kind"], plain["order"], columns, tuple(plain["files"]), plain["failure"])


@frozen(slots=False)
class StoredProviders:
    """The statistics of all index kinds of a table for some questions."""

    folder: SharedFolder
    stored: tuple[StoredStatistics, ...]

    def providers(self, number: int) -> list[StatisticsProvider]:
        """The statistics of one run of slices, by kind, in the order of the table's kinds."""
        kinds: dict[tuple[int, str], tuple[dict[str, ColumnStatistics], dict[tuple[str, str], ColumnStatistics]]] = {}
        for one in self.stored:
            statistics, expressions = kinds.setdefault((one.order, one.kind), ({}, {}))
            if one.columns:
                for (function, name, _), column in zip(one.columns, one.read(self.folder, number), strict=True):
                    if function:
                        expressions[function, name] = column
                    else:
                        statistics[name] = column
        return [
            StatisticsProvider(kind, kinds[order, kind][0], None, kinds[order, kind][1])
            for order, kind in sorted(kinds)
        ]


def name_of(question: RequiredStatistics) -> str:
    """The file name of a question, the same for equal questions."""
    parts: list[Any] = [
        [name, one.name, str(one.type)]
        for name, columns in (("bounds of", question.bounds), ("nulls of", question.nulls))
        for one in columns
    ]
    parts += [[function, one.name, str(one.type)] for function, one in question.functions]
    return _digest(json.dumps(parts))


def write_slices(state_folder: StateFolder) -> str:
    """List the table's slices and store them, unless they are stored already. Returns the name of the state.

    Raises TableError when they cannot be listed or written.
    """
    table = state_folder.open()
    state = state_folder.state(table)
    states = state_folder.of_table(table)
    if state is not None and states.below(state).read_json(_SLICES) is not None:
        return state
    slices = table.slices(state_folder.as_of)
    if state is None:
        state = state_folder.state_by_names(table, slices)
    folder = states.below(state)
    count = -(-len(slices) // state_folder.run)

    def run(number: int) -> pa.Table:
        rows = np.arange(number * state_folder.run, min((number + 1) * state_folder.run, len(slices)))
        return slices_to_arrow(slices.some(rows))

    if folder.read_json(_SLICES) is None:
        folder.write_json(_PARTITIONS, {"partitions": slices.partitions})
        folder.write_json(
            _SLICES,
            {
                "n": len(slices),
                "run": state_folder.run,
                "instant": slices.instant,
                "source": slices.source,
                "note": slices.note,
                "files": folder.write_runs(run, count),
            },
        )
        states.tidy(state)
    return state


def write_statistics(
    state_folder: StateFolder, slices: StoredSlices, question: RequiredStatistics
) -> list[StoredStatistics]:
    """Ask all index kinds of the table for their statistics, and store those. Returns one record per kind.

    The record of a kind that fails holds the failure, and the question is not stored then. Raises TableError when the
    table is in another state by now.
    """
    table = state_folder.open()
    state = state_folder.state(table)
    if state is not None and state_folder.of_table(table).below(state) != slices.folder:
        raise TableError(state_folder.path, "the table changed while its statistics were read: ask again")
    records = []
    for order, kind in enumerate(table.kinds(slices.all())):
        try:
            required = kind.requires(question)
            provider = kind.provide(required) if required else StatisticsProvider(kind.name, {})
            record = _written(kind.name, order, provider, slices)
        except Exception as error:
            text = " ".join(str(error).split())
            failure = text if isinstance(error, SargoError) else f"{type(error).__name__} {text}".strip()
            record = StoredStatistics(kind.name, order, failure=failure)
        records.append(record)
    if not any(record.failure for record in records):
        slices.folder.write_json(f"{name_of(question)}.json", {"answers": [record.to_plain() for record in records]})
    return records


def _written(kind: str, order: int, provider: StatisticsProvider, slices: StoredSlices) -> StoredStatistics:
    columns = [("", name, statistics) for name, statistics in provider.statistics.items()]
    columns += [(function, name, statistics) for (function, name), statistics in provider.expressions.items()]
    if not columns:
        return StoredStatistics(kind, order)

    def run(number: int) -> pa.Table:
        rows = np.arange(number * slices.run, min((number + 1) * slices.run, slices.n))
        return statistics_to_arrow([statistics.take(rows) for _, _, statistics in columns])

    files = slices.folder.write_runs(run, len(slices.files))
    return StoredStatistics(
        kind,
        order,
        tuple((function, name, statistics.type) for function, name, statistics in columns),
        tuple(files),
    )


def _digest(text: str) -> str:
    return xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))
