"""Plans for more buckets: each bucket splits into new ones, so that no file group has to be shuffled (RFC-29).

    n -> k * n    bucket b splits into b, b + n, b + 2n, ... b + (k - 1)n: a hash that leaves b when it is divided by n
                  leaves one of these when it is divided by k * n
                  2 -> 4: 0 into 0 and 2, 1 into 1 and 3

    a ring        each node by itself: the hashes after the node before it up to the middle go to a new node, the others
                  stay (``Ring.middle``)

Any other number is refused: each new bucket would get rows of several old ones.
Sizes are those of the file groups' files; new buckets are expected to get equal shares, for hashes are spread evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from typing import TYPE_CHECKING

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from index_store.buckets.layouts import Ring
from index_store.kinds.bucket_index.table_buckets import TableBuckets, table_buckets

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["BucketSplit", "GroupSplit", "NodeSplit", "RebucketPlan", "plan_rebucket", "plan_ring_split"]


@frozen
class BucketSplit:
    """A bucket, and the buckets that its rows go to."""

    bucket: int
    into: tuple[int, ...]


@frozen
class GroupSplit:
    """The same for a file group of a table: ``bytes`` in its files now, ``rows`` where ``column_stats`` count them."""

    partition: str
    file_id: str
    bucket: int
    into: tuple[int, ...]
    bytes: int
    rows: int | None

    @property
    def bytes_each(self) -> float:
        """The expected share of each new bucket."""
        return self.bytes / len(self.into)

    @property
    def rows_each(self) -> float | None:
        """The expected share of each new bucket."""
        return None if self.rows is None else self.rows / len(self.into)


@frozen
class RebucketPlan:
    """From ``old`` to ``new`` buckets: what every bucket splits into, and the file groups of the table that do.

    ``kept``: partitions that a rule gives a number of buckets of their own, which stays as it is.
    """

    old: int
    new: int
    splits: tuple[BucketSplit, ...]
    groups: tuple[GroupSplit, ...] = ()
    kept: tuple[str, ...] = ()


@frozen(kw_only=True)
class NodeSplit:
    """A node of a partition's ring, and where Hudi would split it: None when it is too small.

    Hashes h with start < h <= middle go to a new node, those with middle < h <= value to another; a node whose
    ``start`` is not below its ``value`` goes round the end of the ring.
    ``file_id``: the node's file group; None when nothing was written to it yet.
    """

    partition: str
    prefix: str
    start: int
    middle: int | None
    value: int
    file_id: str | None
    bytes: int
    rows: int | None


def plan_rebucket(old: int, new: int, table: Table | None = None) -> RebucketPlan:
    """Which of ``old`` buckets splits into which of ``new``; with a table, also which of its file groups does.

    Raises UnsupportedError when ``new`` is no multiple of ``old``, or the table's buckets are nodes of rings;
    StatsError when the table does not have ``old`` buckets, by its options or its files.
    """
    if old < 1 or new <= old:
        raise UnsupportedError(f"{old} buckets to {new}: buckets are split, so there have to be more of them")
    if new % old:
        common = gcd(old, new)
        raise UnsupportedError(
            f"{old} buckets to {new}: {new} is no multiple of {old}. The rows of a bucket would go to {new // common} "
            f"buckets, and those of a new bucket come from {old // common}: everything would have to be shuffled. Next "
            f"multiples: {(new // old + 1) * old}" + (f" and {new // old * old}" if new // old > 1 else "")
        )
    plan = RebucketPlan(old, new, tuple(BucketSplit(bucket, _into(bucket, old, new)) for bucket in range(old)))
    return plan if table is None else _of_table(plan, table)


def plan_ring_split(table: Table) -> tuple[NodeSplit, ...]:
    """Where each node of a table's rings would be split, by partition and place on the ring.

    Raises UnsupportedError when the options do not set consistent hashing, StatsError when a ring is missing, being
    resized, or not that of the partition's file groups.
    """
    buckets = _buckets_of(table)
    if buckets.is_simple:
        raise UnsupportedError(
            f"{table.path}: the options do not tell of consistent hashing "
            "(hoodie.index.bucket.engine=CONSISTENT_HASHING); plan_rebucket is for its buckets"
        )
    buckets.check()
    sizes = _Sizes(table, buckets)
    slice_of_node = {
        (buckets.slices[slice_index].partition, bucket): slice_index for slice_index, bucket in buckets.named.items()
    }
    found = []
    for partition, ring in sorted(buckets.layouts.items()):
        assert isinstance(ring, Ring)
        for bucket, (value, prefix) in enumerate(zip(ring.values, ring.prefixes, strict=True)):
            slice_index = slice_of_node.get((partition, bucket))
            file_id = None if slice_index is None else buckets.slices[slice_index].file_id
            size, rows = (0, None) if slice_index is None else (sizes.bytes(slice_index), sizes.rows(slice_index))
            found.append(
                NodeSplit(
                    partition=partition,
                    prefix=prefix,
                    start=ring.start(bucket),
                    middle=ring.middle(bucket),
                    value=value,
                    file_id=file_id,
                    bytes=size,
                    rows=rows,
                )
            )
    return tuple(found)


def _into(bucket: int, old: int, new: int) -> tuple[int, ...]:
    return tuple(range(bucket, new, old))


def _buckets_of(table: Table) -> TableBuckets:
    found = table_buckets(table, table.slices())
    if found is None:
        raise UnsupportedError(
            f"{table.path}: its options do not tell of buckets (hoodie.index.type=BUCKET), or its "
            "record keys are of another form than is known"
        )
    return found


def _of_table(plan: RebucketPlan, table: Table) -> RebucketPlan:
    buckets = _buckets_of(table)
    if not buckets.is_simple:
        raise UnsupportedError(
            f"{table.path}: its buckets are nodes of rings, which are split one by one: plan_ring_split shows where"
        )
    if buckets.number != plan.old:
        raise buckets.fault(f"it has {buckets.number} buckets, not {plan.old}")
    buckets.check()
    sizes = _Sizes(table, buckets)
    groups, kept = [], set()
    for slice_index, bucket in buckets.named.items():
        one = buckets.slices[slice_index]
        if buckets.has_rule(one.partition):
            kept.add(one.partition)
        else:
            groups.append(
                GroupSplit(
                    one.partition,
                    one.file_id,
                    bucket,
                    _into(bucket, plan.old, plan.new),
                    sizes.bytes(slice_index),
                    sizes.rows(slice_index),
                )
            )
    return RebucketPlan(plan.old, plan.new, plan.splits, tuple(groups), tuple(sorted(kept)))


class _Sizes:
    """Bytes and rows of the slices of a table."""

    def __init__(self, table: Table, buckets: TableBuckets) -> None:
        self._table, self._slices = table, buckets.slices
        self._rows = buckets.row_counts()
        self._bytes: dict[str, Mapping[str, int]] = {}

    def bytes(self, slice_index: int) -> int:
        one = self._slices[slice_index]
        if one.partition not in self._bytes:
            self._bytes[one.partition] = {file.name: file.size for file in self._table.files(one.partition)}
        names = self._bytes[one.partition]
        return sum(names.get(file.rpartition("/")[2], 0) for file in one.files)

    def rows(self, slice_index: int) -> int | None:
        return self._rows.get(slice_index)
