"""The slices that a filter leaves open because something is not known of its columns, and statistics of just these.

    evaluate by all index kinds  ->  kept slices  ->  those without bounds or null counts  ->  their footers  ->  again

A table whose indexes know everything that a filter asks pays a look at a few flags.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.evaluation.evaluate import Evaluation
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.language.records import entity
from evaluator.language.schema import Field
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.layers import Layers
from index_store.kinds.footer_statistics import OPEN_LIMIT, FooterStatistics

__all__ = ["OpenSlices"]

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[Any]


@entity
class OpenSlices:
    """What footers can add to the statistics that a filter requires. ``on_failure`` takes the error of reading them."""

    kind: FooterStatistics
    required: RequiredStatistics
    on_failure: Callable[[Exception], None]

    def provide(
        self, evaluation: Evaluation, layers: Layers | None, layered: Sequence[LayeredProvider]
    ) -> StatisticsProvider | None:
        """Statistics of the slices that stay open while not all of their columns is known; None where there are none.

        ``layered``: the providers of a table in layers, which are looked at by layer, as the whole is not made for it.
        """
        kept = evaluation.kept_rows
        if not 0 < len(kept) <= OPEN_LIMIT:
            return None
        try:
            columns = self.kind.requires(self.required)
            if layers is None:
                known = _known(columns, evaluation.providers, kept)
            else:
                in_base = kept < layers.live
                base, delta = layers.split_rows(kept)
                known = np.empty(len(kept), np.bool_)
                known[in_base] = _known(columns, [one.base for one in layered], base)
                known[~in_base] = _known(columns, [one.delta for one in layered], delta)
            return None if known.all() else self.kind.provide_open(columns, kept[~known])
        except Exception as error:  # a fault of the kind skips nothing (C4)
            self.on_failure(error)
            return None


def _known(required: RequiredStatistics, providers: Sequence[StatisticsProvider], rows: Rows) -> Mask:
    """``(k,) bool``: the slices of which everything that is required of columns is known."""
    known: Mask = np.ones(len(rows), np.bool_)
    for column in required.bounds:
        known &= _knows(column, providers, rows, bounds=True)
    for column in required.nulls:
        known &= _knows(column, providers, rows, bounds=False)
    return known


def _knows(column: Field, providers: Sequence[StatisticsProvider], rows: Rows, *, bounds: bool) -> Mask:
    """Where some provider has the null count of a column and, of a slice that may have values, both bounds."""
    known: Mask = np.zeros(len(rows), np.bool_)
    for provider in providers:
        if column.name not in provider.statistics:
            continue
        statistics = provider.statistics[column.name]
        found = statistics.null_count[rows] != UNKNOWN_COUNT
        if bounds and found.any():
            found &= statistics.knows_range(rows)
        known |= found
    return known
