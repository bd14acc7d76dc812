"""Which names of a list may be skipped, given which file slices a plan skips (contracts C3, C4).

The list was made by Hudi inside of Hive, at its own moment; the plan holds for the slices of the sidecar's view, which
may be older or newer. So an answer must rest on what is true of the very files in the list.

What a skipped slice says. Its statistics are united over its files, or taken file by file, before anything is
evaluated (``kinds.column_stats.slice_union``): no row that is put together from values of *these* files satisfies the
filter. That holds for the rows of its base file alone too, for they are such rows. Indexes of keys keep the same: a
key that stands in a log file is looked for in every slice whose base or log files have it (``kinds.logged_keys``).

A base file says by its name which instant and file group it belongs to, and is never written again. Its rows are the
same in every view that has it.

    table          list                        a name gets its bit when
    COPY_ON_WRITE  all kinds of query          it is the base file of a skipped slice. Older and newer versions have
                                               other names, and no bit. An incremental query filters rows further
    MERGE_ON_READ  read-optimised              the same: only base files are read
    MERGE_ON_READ  snapshot, as-of             the list names *exactly* the files of a skipped slice for its file group:
                                               with one log file more, a row that nobody looked at may match; with one
                                               less, what is merged need not be what was evaluated (a partial update
                                               without its base has NULLs that the base has not)
    MERGE_ON_READ  incremental                 never: it merges the log files of its range by rules of its own

A log file of table version 6 may be appended to by a later commit, under the same name, on file systems that can. A
list that was made before the sidecar looked at the timeline cannot hold such a commit unseen: for tables that append,
the view must be *fresh*, looked at after the request arrived. From version 8 on every log file is written once.

A base file that a bootstrap made holds only Hudi's own columns, the others are in a file elsewhere: no bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from handler.sidecar.names import NOT_KNOWN, FileNames, ListedNames, Places
from index_store import FileSlices
from index_store.table.file_slices import parse_base_name, parse_log_name

__all__ = [
    "BASE_SKIPPED",
    "FULL",
    "QUERY_TYPES",
    "SLICE_SKIPPED",
    "MatchedNames",
    "QueryType",
    "Verdicts",
    "ViewFiles",
    "names_to_skip",
    "needs_fresh_view",
]

QueryType = Literal["snapshot", "read_optimized", "incremental", "as_of"]
QUERY_TYPES: tuple[QueryType, ...] = ("snapshot", "read_optimized", "incremental", "as_of")
Mask = npt.NDArray[np.bool_]

Verdicts = npt.NDArray[np.uint8]

MERGE_ON_READ = "MERGE_ON_READ"
#: What a plan says of a file, as bits: its slice is skipped; it is a base file of such a slice, which may be skipped
#: by itself; every row of its slice matches.
SLICE_SKIPPED, BASE_SKIPPED, FULL = np.uint8(1), np.uint8(2), np.uint8(4)
#: Hudi names bootstrap instants 00000000000001 and the like: no time of this century has so few digits.
_MAX_BOOTSTRAP_DIGITS = 6


@dataclass(frozen=True)
class ViewFiles:
    """The files of all slices of a view, each at its place.

    slice_of   ``(f,) int32``: the slice of each file
    is_base    ``(f,) bool``: it is a base file that a bootstrap did not make
    count      ``(n,) int32``: how many files a slice has; -1 if one of them cannot be decided on
    """

    slices: FileSlices
    names: FileNames
    slice_of: npt.NDArray[np.int32]
    is_base: Mask
    count: npt.NDArray[np.int32]

    @classmethod
    def of(cls, slices: FileSlices) -> ViewFiles:
        paths: list[str] = []
        slice_of: list[int] = []
        is_base: list[bool] = []
        count = np.zeros(len(slices), np.int32)
        for i, item in enumerate(slices):
            files = item.files
            whole = item.base_file is not None and not _is_bootstrapped(item.base_file)
            paths.extend(files)
            slice_of.extend([i] * len(files))
            is_base.extend([whole] * (item.base_file is not None) + [False] * len(item.log_files))
            count[i] = len(files) if whole or item.base_file is None else -1
        return cls(slices, FileNames(paths), np.array(slice_of, np.int32), np.array(is_base, np.bool_), count)

    @cached_property
    def groups(self) -> Mapping[tuple[str, str], int]:
        """The slice of each file group (partition, file id)."""
        return {(item.partition, item.file_id): i for i, item in enumerate(self.slices)}

    @property
    def nbytes(self) -> int:
        return self.names.nbytes + self.slice_of.nbytes + self.is_base.nbytes + self.count.nbytes

    def verdicts(self, skipped: Mask, full: Mask) -> Verdicts:
        """``(f + 1,) uint8``: what a plan says of each file, and last, of ``NOT_KNOWN``: nothing.

        skipped, full   ``(n,) bool``: the slices that the plan skips, and those of which every row matches
        """
        by_slice = skipped * (SLICE_SKIPPED | BASE_SKIPPED) | full * FULL
        by_file = by_slice[self.slice_of] if len(self.slice_of) else np.zeros(0, np.uint8)
        by_file[~self.is_base] &= ~BASE_SKIPPED
        return np.append(by_file, np.uint8(0))

    def match(self, listed: ListedNames, table_type: str) -> MatchedNames:
        """A list of names held against these files. Raises Refused as ``ListedNames``."""
        places = self.names.places(listed)
        is_known = places != NOT_KNOWN
        covered = int(np.count_nonzero(is_known))
        if table_type != MERGE_ON_READ:
            return MatchedNames(places, listed.digest, covered)
        others = _groups_of(listed.at(np.flatnonzero(~is_known).tolist()), self)
        is_listed = np.zeros(len(self.slice_of) + 1, np.bool_)
        is_listed[places] = True
        met = np.bincount(self.slice_of[is_listed[:-1]], minlength=len(self.count))
        complete = (met == self.count) & (others is not None)
        complete[np.array(others or (), np.intp)] = False
        whole = np.append(complete[self.slice_of] if len(self.slice_of) else [], False).astype(np.bool_)[places]
        return MatchedNames(
            places, listed.digest, covered, whole, np.flatnonzero((met > 0) & ~complete), others is None
        )


@dataclass(frozen=True, eq=False)
class MatchedNames:
    """What of an answer depends on the list only.

    places    ``(count,) int32``: where the names stand in the known files
    digest    CRC32 of the list as it was sent
    covered   how many of the names are known
    whole     ``(count,) bool``, of MERGE_ON_READ tables: the list names exactly the files of the slice that it is of
    partly    the slices of which it names some files, but not exactly all
    is_odd    a name is no file of Hudi
    """

    places: Places
    digest: int
    covered: int
    whole: Mask | None = None
    partly: npt.NDArray[np.intp] | None = None
    is_odd: bool = False

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.places, self.whole, self.partly) if array is not None)


def _is_bootstrapped(path: str) -> bool:
    name = parse_base_name(path.rpartition("/")[2])
    return name is None or len(name.instant.lstrip("0")) <= _MAX_BOOTSTRAP_DIGITS


def needs_fresh_view(table_type: str, version: int, query_type: QueryType) -> bool:
    """Whether a log file of a known name may have been appended to since the view was made."""
    return table_type == MERGE_ON_READ and version < 8 and query_type in ("snapshot", "as_of")


def names_to_skip(
    skipped: Mask,
    verdicts: Verdicts,
    matched: MatchedNames,
    query_type: QueryType,
) -> tuple[Mask, str | None]:
    """``(count,) bool``: the names that may be skipped, and why some are not although their slices are.

    skipped    ``(n,) bool``: the slices that the plan skips
    verdicts   ``(count,) uint8``: what it says of each name (``ViewFiles.verdicts`` at ``matched.places``)
    """
    if matched.whole is None or query_type == "read_optimized":
        return (verdicts & BASE_SKIPPED).astype(np.bool_), None
    if query_type == "incremental":
        return np.zeros(len(verdicts), np.bool_), "incremental queries of MERGE_ON_READ tables are not pruned"
    if matched.is_odd:
        return np.zeros(len(verdicts), np.bool_), "the list holds a name that is no file of Hudi"
    held_back = int(np.count_nonzero(skipped[matched.partly]))
    why = f"{held_back} file groups are listed with other files than this view of the table has" if held_back else None
    return (verdicts & SLICE_SKIPPED).astype(np.bool_) & matched.whole, why


def _groups_of(names: Sequence[bytes], known: ViewFiles) -> list[int] | None:
    """The slices of the groups of names that are not known; None when a name does not say its group."""
    found = []
    for name in names:
        partition, _, file = name.decode("utf-8", "replace").rpartition("/")
        parsed: Any = parse_log_name(file) if file.startswith(".") else parse_base_name(file)
        if parsed is None:
            return None
        place = known.groups.get((partition, parsed.file_id))
        if place is not None:
            found.append(place)
    return found
