"""Pieces of a scan for Ray, Dask, Daft and multiprocessing: each pickles, and reads its rows where it arrives.

    with ProcessPoolExecutor(4) as pool:
        tables = pool.map(ReadTask.to_table, plan.tasks(4))

Slices go to the tasks largest first, each to the one that has the fewest bytes yet. A task holds what opening the files
needs, the options of the file system with their secrets among it.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from evaluator.language.records import frozen
from handler.engines.slice_scan import ScanSlice, SliceScan
from index_store.table.slice_paths import common_uri

__all__ = ["ReadTask", "tasks_of"]


@frozen(slots=False, eq=False)
class ReadTask:
    """Some slices of a scan. ``bytes``: the size of their files, 0 for files of unknown size."""

    scan: SliceScan = field(repr=False)
    bytes: int = 0

    @property
    def slices(self) -> int:
        """The number of slices."""
        return len(self.scan.slices)

    @property
    def paths(self) -> list[str]:
        """The URIs of the files."""
        root = common_uri(self.scan.source.storage().root)
        alone = self.scan.read_optimized
        return [
            f"{root}/{path}"
            for one in self.scan.slices
            for path in ((one.item.base_file,) if alone else one.item.files)
            if path is not None
        ]

    def to_batches(self) -> Iterator[Any]:
        """Record batches of the rows."""
        return self.scan.to_batches()

    def to_table(self) -> Any:
        """The rows as an Arrow table."""
        return self.scan.to_table()

    __call__ = to_table


def tasks_of(scan: SliceScan, n: int) -> list[ReadTask]:
    """At most n tasks, which share the slices evenly by bytes. Raises ValueError, and UnsupportedError as reading does.

    A slice is not divided, so there are no more tasks than slices.
    """
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"a scan is divided into one task or more, not {n}")
    scan.check()
    sizes = scan.sizes or {}
    weights = [(sum(sizes.get(path, 0) for path in one.item.files), number) for number, one in enumerate(scan.slices)]
    shares: list[tuple[int, int, list[int]]] = [(0, number, []) for number in range(min(n, len(weights)))]
    for size, number in sorted(weights, key=lambda pair: (-pair[0], pair[1])):
        total, share, members = shares[0]
        members.append(number)
        # without sizes, tasks share the slices evenly by number
        heapq.heapreplace(shares, (total + (size or 1), share, members))
    made = []
    for _, _, members in sorted(shares, key=lambda share: share[1]):
        slices: list[ScanSlice] = [scan.slices[number] for number in sorted(members)]
        size = sum(weights[number][0] for number in members)
        made.append(ReadTask(scan.part(slices), size))
    return made
