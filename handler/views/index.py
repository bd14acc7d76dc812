"""``sargo index``: the state of an index, and the result and cost of an operation; for people and for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluator.language.value_texts import ordinal_text
from handler.indexes.benefit import benefit_rows, benefits_as_plain
from handler.indexes.operations import Report, Staleness
from handler.views.texts import count_text, minute_text, size_text
from index_store.own.advice.benefit import Benefit
from index_store.own.builders.aggregates import united
from index_store.own.definition import SECONDARY_INDEX, Entry
from index_store.own.sketches.values import decoded
from index_store.own.store.locations import IndexLocation
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import Version
from index_store.storage.errors import TableError
from index_store.table.file_types import FileType

__all__ = ["place_report", "report_of", "show_place", "show_places", "show_reports"]


def report_of(done: Report) -> dict[str, Any]:
    """The result of an operation as plain values for JSON."""
    document: dict[str, Any] = {"index": done.name, "folder": done.folder, "changed": False}
    if done.note:
        document["note"] = done.note
    if done.change is not None:
        change = done.change
        document.update(
            changed=change.committed,
            operation=change.operation,
            version=change.version.number,
            instant=change.version.instant,
            files=change.version.files,
            built=change.built,
            built_bytes=change.built_bytes,
            unread=change.unread,
            gone=change.gone,
            index_bytes=change.size,
            seconds=round(change.seconds, 3),
            tries=change.tries,
            unread_files=dict(done.unread),
        )
        if change.logged:
            document.update(
                slices_with_logs=change.logged, merged_slices=change.version.merged, not_merged=dict(done.not_merged)
            )
    if done.benefits:
        document["effectiveness"] = benefits_as_plain(done.benefits)
    if done.removed is not None:
        removed = done.removed
        document.update(
            changed=bool(removed.versions or removed.files),
            removed_versions=removed.versions,
            removed_files=removed.files,
            removed_bytes=removed.size,
        )
    return document


def show_reports(reports: Sequence[Report], console: Console) -> None:
    """Print the result and the cost of an operation on each index."""
    for done in reports:
        if done.change is not None:
            _show_change(done, console)
        elif done.removed is not None:
            removed = done.removed
            console.print(
                Text(
                    f"{done.name}: removed {count_text(removed.versions, 'version')} and "
                    f"{count_text(removed.files, 'other file')}, {size_text(removed.size)}"
                )
            )
        else:
            console.print(Text(f"{done.name}: nothing to do" + (f": {done.note}" if done.note else "")))


def _show_change(done: Report, console: Console) -> None:
    assert done.change is not None
    change = done.change
    version = change.version
    operation = change.operation if change.committed else "nothing to do"
    console.print(
        Text(
            f"{done.name}: {operation}, version {version.number}, as of {version.instant or 'no commit'}", style="bold"
        )
    )
    rows = [("knows", f"{count_text(version.files, 'file')}"), *_entries_known(version)]
    if change.built:
        rows.append(("read", f"{count_text(change.built, 'file')}, {size_text(change.built_bytes)}"))
    if change.gone:
        rows.append(("gone", count_text(change.gone, "file")))
    if change.unread:
        rows.append(("not read", f"{count_text(change.unread, 'file')}, never skipped by this index"))
        rows += [("such as", f"{path}: {why}") for path, why in list(done.unread.items())[:1]]
    if change.logged:
        rows += _merged_known(version.merged, change.logged)
        rows += [("not merged", f"{path}: {why}") for path, why in list(done.not_merged.items())[:1]]
    rows.append(("size", f"{size_text(change.size)} in {count_text(len(version.stored), 'file')}"))
    rows.append(
        (
            "took",
            f"{change.seconds:.3g} s"
            + (f", begun {change.tries} times because others were first" if change.tries > 1 else ""),
        )
    )
    _print_pairs([*rows, *benefit_rows(done.benefits)], console)


def place_report(
    place: IndexLocation, behind: Staleness | None = None, benefits: Sequence[Benefit] = ()
) -> dict[str, Any]:
    """An index as plain values for JSON; ``behind``: how far it is behind the table, ``benefits``: its scores."""
    document: dict[str, Any] = {"index": place.name, "folder": place.folder.path}
    if place.index is None:
        return {**document, "fault": place.fault}
    version = place.index.version
    document.update(
        kind=version.definition.kind,
        entries=[{"on": one.on, "sketch": one.sketch} for one in version.definition.entries],
        version=version.number,
        operation=version.operation,
        written=minute_text(version.written),
        instant=version.instant,
        files=version.files,
        tombstones=version.tombstones,
        statistics_files=len(version.statistics),
        bytes=version.size,
        faults=list(place.index.faults),
    )
    if version.generations:
        document.update(
            secondary_entries=version.entries,
            generations=len(version.generations),
            shards=len(version.generations[0].shards),
        )
    if behind is not None:
        document.update(
            unknown_files=behind.unknown,
            gone_files=behind.gone,
            slices_with_logs=behind.logged,
            merged_slices=behind.merged,
            partitions=None,
            effectiveness=benefits_as_plain(benefits),
        )
        try:
            document["partitions"] = None if version.generations else _partitions(place.index)
        except TableError as error:
            document["faults"].append(str(error))
    return document


def _partitions(index: OwnIndex) -> list[dict[str, Any]] | None:
    """The statistics of whole partitions in an index of sketches; None when the index does not have all files.

    Raises TableError when it cannot be read.
    """
    if not index.is_aggregated:
        return None
    rows = united(index.partition_aggregates()).to_pylist()
    return [
        {
            "partition": row["partition"],
            "on": row["on"],
            "files": row["files"],
            "rows": row["rows"],
            "nulls": row["nulls"],
            "type": row["type"],
            "lo": _bound_text(row["lo"], row["type"]),
            "hi": _bound_text(row["hi"], row["type"]),
        }
        for row in rows
    ]


def _bound_text(stored: bytes | None, file_type: str | None) -> str | None:
    if stored is None or file_type is None:
        return None
    bound_type = FileType(file_type).type
    return ordinal_text(decoded(pa.array([stored], pa.large_binary()), bound_type)[0], bound_type)


def show_places(places: Sequence[IndexLocation], table: str, console: Console) -> None:
    """Print the indexes of a table, one per line."""
    if not places:
        console.print(Text(f"{table} has no index of its own: make one with 'sargo index create'"))
        return
    rows = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    rows.add_column("index", no_wrap=True)
    rows.add_column("of", overflow="fold")
    for name in ("version", "files", "size"):
        rows.add_column(name, justify="right", no_wrap=True)
    rows.add_column("as of", no_wrap=True)
    for place in places:
        if place.index is None:
            rows.add_row(Text(place.name), Text(f"cannot be read: {place.fault}", style="red"), "", "", "", "")
            continue
        version = place.index.version
        rows.add_row(
            Text(place.name),
            Text(_entries_text(version.definition.entries)),
            str(version.number),
            str(version.files),
            size_text(version.size),
            version.instant or "·",
        )
    console.print(rows)


def show_place(place: IndexLocation, behind: Staleness, console: Console, benefits: Sequence[Benefit] = ()) -> None:
    """Print everything about one index that can be read."""
    assert place.index is not None
    version = place.index.version
    console.print(Text(f"{place.name}: {_entries_text(version.definition.entries)}", style="bold"))
    ahead = (
        "up to date"
        if not (behind.unknown or behind.gone)
        else (
            f"{count_text(behind.unknown, 'file')} not known yet, which are read; {behind.gone} known that are gone: "
            "run 'sargo index refresh'"
        )
    )
    rows = [
        ("kind", version.definition.kind),
        ("folder", place.folder.path),
        ("version", f"{version.number} ({version.operation}, {minute_text(version.written)})"),
        ("as of", version.instant or "no commit"),
        ("knows", count_text(version.files, "file")),
        *_entries_known(version),
        ("table", ahead),
        *_merged_known(behind.merged, behind.logged),
        ("tombstones", str(version.tombstones)),
        (
            "size",
            f"{size_text(version.size)} in {count_text(len(version.stored), 'file')}"
            if version.generations
            else f"{size_text(version.size)}: {count_text(len(version.statistics), 'file')} of statistics, "
            f"{size_text(sum(one.size for one in version.statistics))}",
        ),
    ]
    rows += [("passed over", fault) for fault in place.index.faults]
    _print_pairs([*rows, *benefit_rows(benefits)], console)


def _merged_known(merged: int, logged: int) -> list[tuple[str, str]]:
    """How many of the slices with log files an index knows the merged rows of."""
    return [("merged", f"{merged} of {count_text(logged, 'slice')} with log files")] if logged else []


def _entries_known(version: Version) -> list[tuple[str, str]]:
    """The number of entries of a secondary index."""
    if not version.generations:
        return []
    kept = count_text(len(version.generations), "generation")
    return [("entries", f"{version.entries} in {kept}, {count_text(len(version.generations[0].shards), 'shard')}")]


def _entries_text(entries: Iterable[Entry]) -> str:
    """``bloom_filter(fpp=0.01) of city; min_max of ts, fare``; ``secondary_index of city, rider``."""
    by_sketch: dict[str, list[str]] = {}
    for one in entries:
        by_sketch.setdefault(one.sketch, []).append(one.on)
    return "; ".join(f"{sketch or SECONDARY_INDEX} of {', '.join(columns)}" for sketch, columns in by_sketch.items())


def _print_pairs(rows: Sequence[tuple[str, str]], console: Console) -> None:
    pairs = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    pairs.add_column(style="dim", no_wrap=True)
    pairs.add_column(overflow="fold")
    for name, value in rows:
        pairs.add_row(f"  {name}", Text(value))
    console.print(pairs)
