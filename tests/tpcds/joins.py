"""Facts by the keys of a dimension: which slices of a fact table a join of a query needs, and which bounds leave open.

The days of a query are a condition on ``date_dim``. Its surrogate keys are what prunes the sales.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tests.tpc.measure import GROUP, Table
from tests.tpc.questions import Question
from tests.tpc.truth import matching, undecidable


@dataclass(frozen=True)
class Join:
    """``scan``: the scan of the dimension. ``fact`` is a layout; ``own`` the scan of the fact table beside the join."""

    scan: str
    dimension: str
    key: str
    fact: str
    column: str
    own: str = ""

    @property
    def name(self) -> str:
        return f"{self.scan} {self.fact}.{self.column}"

    def keys(self, tables: Mapping[str, Table]) -> pa.Array:
        dimension = tables[self.dimension]
        rows = dimension.rows
        mask = matching(_first(dimension, self.scan).literal, rows)
        return pc.unique(rows[self.key].filter(mask)).drop_null()

    def condition(self, tables: Mapping[str, Table]) -> Question | None:
        return _first(tables[self.fact], self.own) if self.own else None

    def ideal(self, tables: Mapping[str, Table]) -> frozenset[str]:
        """The groups with a row that the query joins."""
        rows, own = tables[self.fact].rows, self.condition(tables)
        mask = pc.is_in(rows[self.column], value_set=self.keys(tables).cast(rows[self.column].type))
        if own is not None:
            mask = pc.and_(mask, matching(own.literal, rows))
        return frozenset(pc.unique(rows[GROUP].filter(mask)).to_pylist())

    def by_bounds(self, tables: Mapping[str, Table]) -> frozenset[str]:
        """The groups with a key between their bounds, where the fact's own condition is open, too."""
        keys, own = sorted(self.keys(tables).to_pylist()), self.condition(tables)
        kept = set()
        for group, bounds in tables[self.fact].bounds.items():
            low, high, _ = bounds[self.column]
            place = len(keys) if low is None else bisect_left(keys, low)
            met = place < len(keys) and keys[place] <= high
            if met and (own is None or undecidable(own.literal, bounds)):
                kept.add(group)
        return frozenset(kept)


def _first(table: Table, label: str) -> Question:
    """The scan with the parameters of the qualification run."""
    return next(question for question in table.questions if question.scan.label == label)


def _days(scan: str, fact: str, column: str, own: str = "") -> Join:
    return Join(scan, "date_dim", "d_date_sk", fact, column, own)


JOINS = (
    *(
        _days(scan, "store_sales", "ss_sold_date_sk")
        for scan in ("Q3", "Q5", "Q7", "Q34", "Q46", "Q47", "Q53", "Q58", "Q98")
    ),
    _days("Q13", "store_sales", "ss_sold_date_sk", "Q13"),
    _days("Q49", "store_sales_counts", "ss_sold_date_sk", "Q49"),
    _days("Q98", "store_sales_counts", "ss_sold_date_sk"),
    *(_days(scan, "catalog_sales", "cs_sold_date_sk") for scan in ("Q20", "Q32", "Q39.1", "Q80")),
    _days("Q49", "catalog_sales", "cs_sold_date_sk", "Q49"),
    *(_days(scan, "catalog_sales_days", "cs_sold_date_sk") for scan in ("Q19", "Q20", "Q47")),
    _days("Q37", "inventory_weeks", "inv_date_sk", "Q37"),
    Join("Q3", "item", "i_item_sk", "store_sales", "ss_item_sk"),
    Join("Q1", "store", "s_store_sk", "store_sales_shops", "ss_store_sk"),
    Join("Q24", "store", "s_store_sk", "store_sales_shops", "ss_store_sk"),
)
