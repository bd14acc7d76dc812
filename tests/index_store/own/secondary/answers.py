"""What a secondary index says, in plain values; and the truth, read from the rows of the files in another way."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.language.types import Type
from index_store.own.definition import SECONDARY_INDEX, Definition, Entry
from index_store.own.secondary.generation import live_groups
from index_store.own.secondary.keys import encode_value, leading_of
from index_store.own.secondary.runs import merge_runs
from index_store.own.secondary.shards import shard_of
from index_store.own.secondary.slice_entries import LocalReader, key_columns
from index_store.own.secondary.sorted_table import read_sorted
from index_store.own.sketches.values import python_values
from index_store.own.store.folder import Folder
from index_store.own.store.versions import latest_versions
from index_store.table.file_rows import read_rows
from index_store.table.table import Table


def by(*columns: str, name: str = "it") -> Definition:
    """A secondary index of these columns."""
    return Definition(name, tuple(Entry(column) for column in columns), SECONDARY_INDEX)


def local(table: Table, definition: Definition) -> LocalReader:
    """Reads in threads."""
    return LocalReader(table.storage, key_columns(definition), threads=2)


def said_by(folder: Folder) -> tuple[dict[str, dict], set[tuple[str, bytes, bytes]]]:
    """The groups by name, and the entries (name, record, key); checked on the way: shards, reverse mapping, order."""
    version = latest_versions(folder).current
    groups = live_groups(folder, version.generations).to_pylist()
    names = {one["group"]: one["name"] for one in groups}
    assert len(names) == len(set(names.values())) == len(groups)
    assert max(names, default=-1) < version.generations[-1].next_group
    found = set()
    count = len(version.generations[0].shards)
    for shard in range(count):
        stored = [one.shards[shard] for one in version.generations]
        runs = [read_sorted(folder, one) for one in stored if one is not None]
        before = None
        for batch in merge_runs(runs, order="key", drop_deleted=True):
            assert (shard_of(leading_of(batch.column("key")), count) == shard).all()
            for row in batch.to_pylist():
                order = row["key"], row["record"], row["group"]
                assert before is None or before < order
                before = order
                found.add((names[row["group"]], row["record"], row["key"]))
    reverse = [read_sorted(folder, one.reverse) for one in version.generations if one.reverse is not None]
    assert found == {
        (names[row["group"]], row["record"], row["key"])
        for batch in merge_runs(reverse, order="group", drop_deleted=True)
        for row in batch.to_pylist()
    }
    assert len(found) == version.entries
    return {one["name"]: {name: value for name, value in one.items() if name != "group"} for one in groups}, found


def truth(table: Table, columns: Sequence[str], known: Sequence[str]) -> set[tuple[str, bytes, bytes]]:
    """The entries of the table's slices of these names, row by row."""
    found = set()
    for one in table.slices():
        name = f"{one.partition}/{one.file_id}"
        if name not in known:
            continue
        for path in one.files:
            for batch in read_rows(table.storage, path, [*columns, "_hoodie_record_key"]):
                if not batch.rows:
                    continue
                pieces = []
                for column in columns:
                    rows = batch.columns[column]
                    values = (
                        [None] * batch.rows if rows.values is None else list(python_values(rows.values, rows.type.type))
                    )
                    of = Type.parse("bigint") if rows.values is None else rows.type.type
                    pieces.append([encode_value(value, of) for value in values])
                records = batch.columns["_hoodie_record_key"].values.to_pylist()
                found |= {(name, record, b"".join(key)) for record, *key in zip(records, *pieces, strict=True)}
    return found
