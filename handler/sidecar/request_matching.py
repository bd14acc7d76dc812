"""Which of the listed file names may be skipped, given the file slices that a plan skips (contracts C3, C4).

Hudi makes the list inside of Hive at one moment, and the plan is of the sidecar's view, which may be older or newer. An
answer therefore rests only on facts about the files in the list.

A skipped slice guarantees that no row that is merged from values of *its* files satisfies the filter, because
statistics are united over the files of a slice before they are evaluated (``kinds.column_stats.slice_union``). The rows
of its base file are such rows. Indexes of keys give the same guarantee: a key in a log file is looked up in every slice
whose base or log files contain it (``kinds.record_keys.logged_keys``).

The name of a base file includes its instant and file group, and a base file is written once. Its rows are the same in
every view that contains it.

    table          query             a name may be skipped when
    -------------  ----------------  ---------------------------------------------------------------------------------
    COPY_ON_WRITE  every type        it is the base file of a skipped slice. Other versions of the file have other names
                                     and are read. An incremental query only filters rows further
    MERGE_ON_READ  read-optimised    the same: only base files are read. For Spark, which ``handler.spark.prune`` plans
                                     alike, only of slices without log files (``bits_of_lone_files``)
    MERGE_ON_READ  snapshot, as-of   the list contains *exactly* the files of a skipped slice of its file group. With
                                     one more log file, a row without statistics may match. With one file less, the
                                     merged row may differ from the evaluated one: a partial update without its base
                                     file has NULLs where the base file has values
    MERGE_ON_READ  incremental       never: the log files of its range are merged by other rules

Fresh views. In table version 6 a later commit may append to a log file under the same name, on file systems that can
append. For such tables the view must be fresh: its timeline was read after the request arrived, so that it includes
every commit that the list can contain. From table version 8 on every log file is written once.

A base file of a bootstrap contains only Hudi's own columns; the others are in a file elsewhere. It is never skipped.

Facts: docs/facts/hudi-timeline.md#file-slices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from bitarray import bitarray, frozenbitarray

from evaluator.evaluation.bit_sets import are_set, bits_of_mask
from evaluator.language.records import frozen
from handler.sidecar.names import NOT_KNOWN, FileIndices, FileNames, ListedNames, computed_once
from index_store import FileSlices
from index_store.table.file_slices import file_id_of, instant_of

__all__ = [
    "BASE_SKIPPED",
    "FULL",
    "QUERY_TYPES",
    "SLICE_SKIPPED",
    "MatchedNames",
    "QueryType",
    "SelectedNames",
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
#: Names of a MERGE_ON_READ list that are not among the view's files, beside as many as it has: more skip nothing.
MAX_UNKNOWN = 10_000
#: The bytes of an entry of ``groups``; its texts are those of the slices.
_GROUP_BYTES = 180
#: Look-up tables of so many files are made in milliseconds.
_FEW_FILES = 5_000
#: The verdict on a file, as bits: its slice is skipped; it is a base file of a skipped slice, which may be skipped
#: by itself; every row of its slice matches.
SLICE_SKIPPED, BASE_SKIPPED, FULL = np.uint8(1), np.uint8(2), np.uint8(4)
#: Hudi names bootstrap instants 00000000000001 and the like: no time of this century has so few digits.
_MAX_BOOTSTRAP_DIGITS = 6


@frozen(slots=False)
class ViewFiles:
    """The f files of the n slices of a view.

    slice_of   ``(f,) int32``: the index of each file's slice
    is_base    ``(f,) bool``: whether the file is a base file that no bootstrap made
    count      ``(n,) int32``: the number of files of each slice; -1 if one of them is a bootstrapped base file
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
            has_data = item.base_file is not None and not _is_bootstrapped(item.base_file)
            paths.extend(files)
            slice_of.extend([i] * len(files))
            is_base.extend([has_data] * (item.base_file is not None) + [False] * len(item.log_files))
            count[i] = len(files) if has_data or item.base_file is None else -1
        return cls(slices, FileNames(paths), np.array(slice_of, np.int32), np.array(is_base, np.bool_), count)

    @computed_once
    def groups(self) -> Mapping[tuple[str, str], int]:
        """The slice of each file group (partition, file id)."""
        return {(item.partition, item.file_id): i for i, item in enumerate(self.slices)}

    @computed_once
    def digest(self) -> bytes:
        """16 bytes that identify the files of all slices in their order."""
        return hashlib.blake2b(self.names.digest + self.slice_of.tobytes(), digest_size=16).digest()

    @computed_once
    def bits_of_lone_files(self) -> frozenbitarray:
        """Bit i: slice i has one file."""
        return bits_of_mask(self.count == 1)

    def matches_quickly(self, table_type: str) -> bool:
        """Whether a short list is matched in milliseconds: the tables to look names up in are small, or made."""
        is_ready = self.names.is_indexed and (table_type != MERGE_ON_READ or "groups" in self.__dict__)
        return is_ready or len(self.names) <= _FEW_FILES

    @property
    def nbytes(self) -> int:
        groups = _GROUP_BYTES * len(self.slices) if "groups" in self.__dict__ else 0
        return self.names.nbytes + self.slice_of.nbytes + self.is_base.nbytes + self.count.nbytes + groups

    def match(self, listed: ListedNames, table_type: str) -> MatchedNames:
        """Match a list of names with these files. Raises Refused as ``ListedNames`` does."""
        indices = self.names.indices(listed)
        is_known = indices != NOT_KNOWN
        covered = int(np.count_nonzero(is_known))
        slices = self.slice_of[indices] if len(self.slice_of) else np.zeros(len(indices), np.int32)
        bases = self.is_base[indices] & is_known if len(self.is_base) else is_known
        if table_type != MERGE_ON_READ:
            return MatchedNames(indices, slices, bases, listed.digest, covered)
        unknown_slices = None
        if listed.count - covered <= MAX_UNKNOWN + len(self.names):
            unknown_slices = _slices_of_groups(listed.at(np.flatnonzero(~is_known).tolist()), self)
        is_listed = np.zeros(len(self.slice_of) + 1, np.bool_)
        is_listed[indices] = True
        listed_files = np.bincount(self.slice_of[is_listed[:-1]], minlength=len(self.count))
        is_complete = (listed_files == self.count) & (unknown_slices is not None)
        is_complete[np.array(unknown_slices or (), np.intp)] = False
        complete = np.append(is_complete[self.slice_of] if len(self.slice_of) else [], False).astype(np.bool_)[indices]
        return MatchedNames(
            indices,
            slices,
            bases,
            listed.digest,
            covered,
            complete,
            np.flatnonzero((listed_files > 0) & ~is_complete),
            unknown_slices is None,
        )


@frozen(slots=False, eq=False)
class MatchedNames:
    """The part of an answer that depends only on the list and the view's files.

    indices           ``(count,) int32``: the index of each name in ``ViewFiles``
    slices            ``(count,) int32``: the index of its slice; any one where the name is not known
    bases             ``(count,) bool``: it is a known base file that no bootstrap made
    digest            CRC32 of the list as it was sent
    covered           the number of names that are known
    complete          ``(count,) bool``, for MERGE_ON_READ: the list contains exactly the files of the name's slice
    partial_slices    the slices of which the list contains some files, but not exactly all
    has_other_files   whether a name is not the name of a Hudi file, or too many names are unknown to compare them
    """

    indices: FileIndices
    slices: npt.NDArray[np.int32]
    bases: Mask
    digest: int
    covered: int
    complete: Mask | None = None
    partial_slices: npt.NDArray[np.intp] | None = None
    has_other_files: bool = False

    @property
    def nbytes(self) -> int:
        arrays = (self.indices, self.slices, self.bases, self.complete, self.partial_slices)
        return sum(array.nbytes for array in arrays if array is not None)

    def verdicts(self, skipped: bitarray, full: bitarray) -> Verdicts:
        """``(count,) uint8``: the verdict on each listed file, and 0 where the name is not known.

        skipped, full   bit i: the plan skips slice i; every row of slice i matches
        """
        if not len(skipped):
            return np.zeros(len(self.indices), np.uint8)
        is_skipped = are_set(skipped, self.slices)
        verdicts: Verdicts = is_skipped * SLICE_SKIPPED | (is_skipped & self.bases) * BASE_SKIPPED
        verdicts |= are_set(full, self.slices) * FULL
        verdicts[self.indices == NOT_KNOWN] = 0
        return verdicts


def _is_bootstrapped(path: str) -> bool:
    instant = instant_of(path)
    return not instant.isdecimal() or len(instant.lstrip("0")) <= _MAX_BOOTSTRAP_DIGITS


def needs_fresh_view(table_type: str, version: int, query_type: QueryType) -> bool:
    """Whether a later commit may have appended to a log file since the view's timeline was read."""
    return table_type == MERGE_ON_READ and version < 8 and query_type in ("snapshot", "as_of")


def names_to_skip(
    skipped: bitarray,
    verdicts: Verdicts,
    matched: MatchedNames,
    query_type: QueryType,
) -> tuple[Mask, str | None]:
    """``(count,) bool``: the names that may be skipped, and the reason if names of skipped slices are not among them.

    skipped    bit i: the plan skips slice i
    verdicts   ``(count,) uint8``: the verdict on each name (``MatchedNames.verdicts``)
    """
    if matched.complete is None or query_type == "read_optimized":
        return (verdicts & BASE_SKIPPED).astype(np.bool_), None
    if query_type == "incremental":
        return np.zeros(len(verdicts), np.bool_), "incremental queries of MERGE_ON_READ tables are not pruned"
    if matched.has_other_files:
        return np.zeros(len(verdicts), np.bool_), "the list holds a name that is no file of Hudi, or too many others"
    assert matched.partial_slices is not None  # it comes with ``complete``
    held_back = int(np.count_nonzero(are_set(skipped, matched.partial_slices)))
    why = f"{held_back} file groups are listed with other files than this view of the table has" if held_back else None
    return (verdicts & SLICE_SKIPPED).astype(np.bool_) & matched.complete, why


@frozen(slots=False, eq=False)
class SelectedNames:
    """The part of an answer that is the same for all questions with this list, decision and query type.

    may_skip   ``(count,) bool``: the names that may be skipped, and ``skip``, the same as packed bits
    count      the number of them
    full       the number of names of which every row matches
    why        the reason if names of skipped slices are not among them
    """

    matched: MatchedNames
    may_skip: Mask
    skip: bytes
    count: int
    full: int
    why: str | None

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with those of the match."""
        return self.matched.nbytes + self.may_skip.nbytes + len(self.skip)

    @classmethod
    def of(cls, matched: MatchedNames, skipped: bitarray, full: bitarray, query_type: QueryType) -> SelectedNames:
        """Of the bits of a plan, as ``MatchedNames.verdicts`` takes them."""
        verdicts = matched.verdicts(skipped, full)
        may_skip, why = names_to_skip(skipped, verdicts, matched, query_type)
        may_skip.flags.writeable = False  # it is shared
        return cls(
            matched=matched,
            may_skip=may_skip,
            skip=np.packbits(may_skip, bitorder="little").tobytes(),
            count=int(np.count_nonzero(may_skip)),
            full=int(np.count_nonzero(verdicts & FULL)),
            why=why,
        )


def _slices_of_groups(names: Sequence[bytes], files: ViewFiles) -> list[int] | None:
    """The slices of the file groups of these names; None when a name is not the name of a Hudi file."""
    slices = []
    for name in names:
        partition, _, file = name.decode("utf-8", "replace").rpartition("/")
        file_id = file_id_of(file)
        if file_id is None:
            return None
        index = files.groups.get((partition, file_id))
        if index is not None:
            slices.append(index)
    return slices
