"""Which blocks of the metadata table's log files count, cross-checked (C10): an instant in a block has no checksum.

What a block's header says is held against three other sources:

    the name of the log file      from table version 8 on it carries the instant of all its blocks
    the timelines                 an instant that is in none, neither pending nor taken back by a rollback block, nor
                                  older than the timelines, is damage
    the metadata table's commits  a block counts in a file in which its commit says it wrote, and is as many records
                                  as that says; what a commit wrote is there

Where two disagree, FormatError is raised: nobody knows which records are meant, and the caller lists directories or
uses no statistics of the partition (C4).

Facts: docs/facts/hudi-metadata-table.md#which-log-blocks-count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evaluator.language.records import record
from index_store.formats.hfile import HFile
from index_store.formats.log_file import COMMAND, DELETE, HFILE_DATA, LogBlock, deleted_keys, read_log_blocks
from index_store.storage.byte_source import Bytes
from index_store.storage.errors import FormatError, TableError, naming_table

__all__ = [
    "Deletes",
    "LoggedBlock",
    "Records",
    "Written",
    "check_counts",
    "read_layers",
    "refuse_deletes",
    "without_rolled_back",
]


@record
class Records:
    """An HFile of one file group: the records of its base file, or of one log block. ``path`` is for messages."""

    path: str
    hfile: HFile


@record
class Deletes:
    """Keys that a log block removes."""

    path: str
    keys: tuple[str, ...]


@record
class Written:
    """What a commit of the metadata table says it wrote into one file; None where it does not say."""

    records: int | None
    deletes: int | None


@record
class LoggedBlock:
    """A block of a log file: the instant that wrote it, and its records or deletions.

    ``file``: the log file's name. ``target``: of a rollback block (which has no layer) the instant that it takes back.
    """

    file: str
    path: str
    instant: str
    layer: Records | Deletes | None
    target: str = ""

    @property
    def count(self) -> int:
        """The number of its records or deletions."""
        match self.layer:
            case Records(hfile=hfile):
                return hfile.entry_count
            case Deletes(keys=keys):
                return len(keys)
        return 0


def read_layers(data: bytes, file: str, path: str, instant: str) -> list[LoggedBlock]:
    """The blocks of a log file. ``instant``: the one that all of them must have; "" when they may have any.

    Raises TableError for damage, and for blocks that do not belong into the metadata table.
    """
    with naming_table(path):
        found = [_logged(block, file, path) for block in read_log_blocks(data)]
        for block in found:
            if instant and not block.target and block.instant != instant:
                raise FormatError(f"a block of instant {block.instant} in a log file of {instant}")
    return found


def _logged(block: LogBlock, file: str, path: str) -> LoggedBlock:
    if block.type == COMMAND:
        return LoggedBlock(file, path, block.instant, None, block.target)
    if block.type == DELETE:
        return LoggedBlock(file, path, block.instant, Deletes(path, tuple(deleted_keys(block.content))))
    if block.type != HFILE_DATA:
        raise FormatError(f"a block of type {block.type} does not belong into the metadata table")
    return LoggedBlock(file, path, block.instant, Records(path, HFile.open(Bytes(block.content))))


def without_rolled_back(blocks: Iterable[LoggedBlock]) -> tuple[list[LoggedBlock], set[str]]:
    """The blocks that no later rollback block takes back, and the instants that some rollback block takes back."""
    found: list[LoggedBlock] = []
    targets: set[str] = set()
    for block in blocks:
        if block.target:
            found = [one for one in found if one.instant != block.target]
            targets.add(block.target)
        else:
            found.append(block)
    return found, targets


def refuse_deletes(blocks: Iterable[LoggedBlock]) -> None:
    """Raises TableError for a block that removes a key of ``files``, all files of a partition of the table.

    Hudi removes files, and partitions, by records; and a key in such a block has no checksum.
    """
    for block in blocks:
        if isinstance(block.layer, Deletes) and block.count:
            raise TableError(block.path, f"a delete block removes the record of {block.layer.keys[0]}")


@dataclass(slots=True)
class _Counts:
    records: int = 0
    deletes: int = 0
    blocks: list[LoggedBlock] = field(default_factory=list)


def check_counts(
    blocks: Iterable[LoggedBlock],
    files: Mapping[str, str],
    written: Mapping[str, Mapping[str, Written]],
    instants: frozenset[str],
) -> None:
    """Hold blocks that were not rolled back against the commits that wrote them. Raises TableError if they disagree.

    Blocks of an instant that is pending in the table are among them: the metadata table's commit comes first.

    files      the log files that were read: their names, and their paths for messages
    written    for each log file the instants that say they wrote it, and how much
    instants   those whose commits are in ``written``
    """
    found: dict[tuple[str, str], _Counts] = {}
    for block in blocks:
        counts = found.setdefault((block.file, block.instant), _Counts())
        if isinstance(block.layer, Deletes):
            counts.deletes += block.count
        else:
            counts.records += block.count
        counts.blocks.append(block)
    for file, path in files.items():
        with naming_table(path):
            for instant, said in written.get(file, {}).items():
                here = found.get((file, instant))
                if here is None:
                    raise FormatError(f"it has no block of {instant}, which says it wrote one")
                if said not in (Written(here.records, here.deletes), Written(None, None)):
                    raise FormatError(f"its blocks of {instant} are not as long as their commit says")
    for (file, instant), here in found.items():
        if (here.records or here.deletes) and instant in instants and instant not in written.get(file, {}):
            with naming_table(files[file]):
                raise FormatError(f"a block of {instant}, which does not say it wrote one")
