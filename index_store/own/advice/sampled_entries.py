"""What a secondary index would answer for the look-ups of a filter, asked of the rows of a sample.

The rows are read by the code that builds secondary indexes, and keys are compared in the form in which an index stores
them. So a slice that the index would not know is not known here either.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.binding.leaves import Lookup
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language import arrow_functions as pc
from index_store.own.advice.sample import Sample
from index_store.own.definition import SECONDARY_INDEX
from index_store.own.secondary.constraints import pieces_of_values
from index_store.own.secondary.slice_entries import read_slice

__all__ = ["sampled_entries"]

Mask = npt.NDArray[np.bool_]


def sampled_entries(sample: Sample, lookups: Sequence[Lookup], deadline: float) -> StatisticsProvider | None:
    """The answers to look-ups in one column; None when they cannot be given, or not before ``deadline``.

    ``deadline``: on the clock of ``time.perf_counter``; it is looked at after each slice.
    """
    column = lookups[0].column
    pieces = [pieces_of_values(one.values, column) for one in lookups]
    if any(one is None for one in pieces):
        return None
    sought = [pa.array(one or (), pa.binary()) for one in pieces]
    might_contain = np.zeros((len(lookups), len(sample.slices)), np.bool_)
    for index, item in enumerate(sample.slices):
        if time.perf_counter() > deadline:
            return None

        def see(batch: pa.RecordBatch, index: int = index) -> None:
            about = batch.column("about").drop_null()
            if len(about) and json.loads(about[0].as_py())["why"]:
                might_contain[:, index] = True
            for number, values in enumerate(sought):
                found = pc.any(pc.is_in(batch.column("key").drop_null(), value_set=values)).as_py()
                might_contain[number, index] |= bool(found)

        read_slice(sample.table.storage, index, item.files, [column.name], see)

    def answer(lookup: Lookup, candidates: Mask) -> Mask | None:
        del candidates  # all slices were looked at
        return might_contain[lookups.index(lookup)] if lookup in lookups else None

    return StatisticsProvider(f"{SECONDARY_INDEX} of {column.name}", {}, answer)
