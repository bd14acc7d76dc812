"""Writers of column statistics, with their known faults: the records of one file that the index then reads.

    ==================  ==================================================================================
    fault               what is stored
    ==================  ==================================================================================
    exact               least and greatest value, null count, row count
    no lo, no hi        one bound only
    no bounds           counts only
    no counts           bounds only
    wide                bounds that are true, but not tight
    no record           nothing at all
    deleted             a tombstone
    inverted            the lower bound above the upper one (hudi#7032)
    bad counts          more nulls than rows
    twice               two records, of which the later widens the first
    nan                 a row group with NaN counts as 0.0 .. 0.0 (hudi#18754)
    long                a row group with too long text counts as all null, without bounds (hudi#18755)
    utf-16              text in the order of Java (SQL orders by code points)
    narrow              FLOAT or INT in the file, DOUBLE or BIGINT in the table
    cut                 timestamps cut to milliseconds, or in nanoseconds
    rescaled            decimals at another scale
    rebased             dates and times of before 1582 and 1900, in another calendar
    no statistics       zeros and nulls = rows for every file of the column
    not parquet         a base file of another format
    deletions           a log file without rows
    ==================  ==================================================================================

The last ones come with the values themselves or with the file; the first ones are drawn for each file and column.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from evaluator.language.types import Kind, Type
from evaluator.statistics.distrust import ANCIENT_DAY, ANCIENT_MICROS
from index_store.formats.avro_columns import StatsRecord
from index_store.formats.parquet_footers import Proof
from tests.prove.values import ZERO

__all__ = ["FAULTS", "Writer"]

DRAWN = (
    "exact",
    "exact",
    "exact",
    "exact",
    "exact",
    "exact",
    "no lo",
    "no hi",
    "no bounds",
    "no counts",
    "wide",
    "wide",
    "no record",
    "deleted",
    "inverted",
    "bad counts",
    "twice",
)
FAULTS = (
    *dict.fromkeys(DRAWN),
    "nan",
    "long",
    "utf-16",
    "narrow",
    "cut",
    "rescaled",
    "rebased",
    "no statistics",
    "not parquet",
    "deletions",
)
#: Longer text has no bounds in Parquet.
LONGEST = 1000
_UNITS = ("millis", "micros", "nanos")
Bounds = tuple[Any, Any]


@dataclass
class Writer:
    """The writer of one column in a table: its settings, and how often each fault occurred."""

    rng: random.Random
    type: Type
    version: int
    unit: str
    without_statistics: bool
    fault_counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def drawn(cls, rng: random.Random, sql_type: Type, version: int) -> Writer:
        unit = rng.choice(_UNITS) if version >= 8 else "micros"
        return cls(rng, sql_type, version, unit, rng.random() < 0.03)

    def fault(self) -> str:
        """The fault for one file."""
        return self.rng.choice(DRAWN)

    def record(
        self, name: str, cells: Sequence[Any], copies: int, fault: str, *, log: bool, counts_nulls: bool
    ) -> tuple[list[StatsRecord], Proof]:
        """The records of a file with these cells, each ``copies`` times, and the proof of its footer."""
        self.fault_counts[fault] += 1
        groups = [list(cells)]
        if copies > 1 and not log and len(cells) > 1 and self.rng.random() < 0.7:
            cut = self.rng.randint(1, len(cells) - 1)
            groups = [list(cells[:cut]), list(cells[cut:])]
        if log:
            bounds, hidden, proof = self._in_java([c for c in cells if c is not None]), 0, Proof()
        else:
            bounds, hidden, proof = self._in_parquet(groups)
        rows = len(cells) * copies
        nulls = (sum(c is None for c in cells) + hidden) * copies if counts_nulls or hidden else 0
        if self.without_statistics and not log:
            self.fault_counts["no statistics"] += 1
            zero = None if self._is_text else ZERO.get(self.type.kind, 0)
            bounds, nulls, proof, fault = (zero, zero), rows, Proof(read=True), "exact"
        if not cells:
            self.fault_counts["deletions" if log else "exact"] += 1
        shown = proof if proof.read and (self.without_statistics or self.rng.random() < 0.4) else Proof()
        return self._stored(name, bounds, nulls, rows, fault), shown

    @property
    def _is_text(self) -> bool:
        return self.type.kind.is_text or self.type.kind is Kind.BINARY

    # -- bounds

    def _in_java(self, values: list[Any]) -> Bounds:
        """A log file: compared value by value by ``compareTo``; NaN is the greatest."""
        if not values:
            return None, None
        if self.type.kind.is_fractional:
            ordered = sorted(values, key=lambda v: (math.isnan(v), v, math.copysign(1, v)))
            self.fault_counts["nan"] += math.isnan(ordered[-1])
        elif self.type.kind.is_text:
            ordered = sorted(values, key=_utf16)
            self.fault_counts["utf-16"] += ordered != sorted(values)
        else:
            ordered = sorted(values)
        return ordered[0], ordered[-1]

    def _in_parquet(self, groups: list[list[Any]]) -> tuple[Bounds, int, Proof]:
        """A base file: (bounds merged over the row groups, rows that count as null by mistake, the footer's proof)."""
        group_bounds: list[Bounds] = []
        hidden = null_only = 0
        whole = True
        for group in groups:
            values = [cell for cell in group if cell is not None]
            if not values:
                null_only += 1
                if not self._is_text and (len(groups) == 1 or self.rng.random() < 0.3):
                    zero = ZERO.get(self.type.kind, 0)
                    group_bounds.append((zero, zero))
            elif self.type.kind.is_fractional and any(map(math.isnan, values)):
                self.fault_counts["nan"] += 1
                group_bounds.append((0.0, 0.0))
                whole = False
            elif self._is_text and max(map(len, values)) > LONGEST:
                self.fault_counts["long"] += 1
                hidden += len(values)
                whole = False
            else:
                group_bounds.append((min(values), max(values)))
        proof = Proof(read=True)
        if whole and groups != [[]]:
            proof = Proof(bounded=null_only < len(groups), all_null=null_only == len(groups), read=True)
        if not group_bounds or groups == [[]]:
            return (None, None), hidden, proof
        key = _utf16 if self.type.kind.is_text and len(groups) > 1 else None
        return (
            (min((lo for lo, _ in group_bounds), key=key), max((hi for _, hi in group_bounds), key=key)),
            hidden,
            proof,
        )

    # -- how they are stored

    def _stored(self, name: str, bounds: Bounds, nulls: int | None, rows: int | None, fault: str) -> list[StatsRecord]:
        lo, hi = bounds
        match fault:
            case "no record" | "deleted":
                return []
            case "no lo":
                lo = None
            case "no hi":
                hi = None
            case "no bounds":
                lo = hi = None
            case "no counts":
                nulls = None
                rows = rows if self.rng.random() < 0.5 else None
            case "wide" if lo is not None and hi is not None:
                lo, hi = self._wider(lo, hi)
            case "inverted" if lo is not None and hi is not None and lo < hi and self._orders_exactly:
                lo, hi = hi, lo
            case "bad counts":
                nulls, rows = self.rng.choice(((rows + 5, rows), (-7, rows), (nulls, -3)))  # type: ignore[operator]
            case "twice" if lo is not None and hi is not None:
                return [
                    self._encoded(name, lo, hi, nulls, rows),
                    self._encoded(name, *self._wider(lo, hi), nulls, rows),
                ]
            case _:
                pass
        return [self._encoded(name, lo, hi, nulls, rows)]

    @property
    def _orders_exactly(self) -> bool:
        return self.type.kind.is_integer or self.type.kind is Kind.BINARY

    def _wider(self, lo: Any, hi: Any) -> Bounds:
        """True bounds that are not tight: truncated text, a few units more for numbers."""
        match self.type.kind:
            case kind if kind.is_text:
                return lo[:1], hi[:40] + "\U0010ffff" if hi[:1] < "\ud800" else hi
            case Kind.BINARY:
                return lo[:1], hi + b"\xff"
            case kind if kind.is_integer:
                smallest, largest = self.type.integer_range()
                return max(lo - 3, smallest), min(hi + 3, largest)
            case Kind.DATE:
                return lo - 3, hi + 3
            case kind if kind.is_timestamp:
                return lo - 3_000_000, hi + 3_000_000
            case _:
                return lo, hi

    def _encoded(self, name: str, lo: Any, hi: Any, nulls: int | None, rows: int | None) -> StatsRecord:
        present = [bound for bound in (lo, hi) if bound is not None]
        wrapper, ordinal, info, form = self._form(present)
        ordinal = ordinal if self.version >= 8 else 0
        return StatsRecord(
            name.encode(),
            b"c",
            wrapper if lo is not None else "",
            None if lo is None else form(lo),
            wrapper if hi is not None else "",
            None if hi is None else form(hi),
            rows,
            nulls,
            False,
            False,
            ordinal if present else min(ordinal, 1),
            info,
        )

    def _form(self, bounds: list[Any]) -> tuple[str, int, bytes, Any]:
        """(wrapper, V2 ordinal, info, how a bound is written) that can hold these bounds."""
        match self.type.kind:
            case Kind.BOOLEAN:
                return "BooleanWrapper", 2, b"", bool
            case Kind.TINYINT | Kind.SMALLINT | Kind.INT:
                return "IntWrapper", 3, b"", int
            case Kind.BIGINT:
                if all(abs(bound) < 1 << 31 for bound in bounds) and self.rng.random() < 0.3:
                    self.fault_counts["narrow"] += 1
                    return "IntWrapper", 3, b"", int
                return "LongWrapper", 4, b"", int
            case Kind.FLOAT:
                return "FloatWrapper", 5, b"", float
            case Kind.DOUBLE:
                if all(_is_single(bound) for bound in bounds) and self.rng.random() < 0.3:
                    self.fault_counts["narrow"] += 1
                    return "FloatWrapper", 5, b"", float
                return "DoubleWrapper", 6, b"", float
            case Kind.DECIMAL:
                return self._decimal_form(bounds)
            case Kind.DATE:
                wrapper = "IntWrapper" if self.version >= 8 else self.rng.choice(("DateWrapper", "IntWrapper"))
                return wrapper, 12, b"", lambda day: self._rebased(day, ANCIENT_DAY, 10)
            case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
                return self._timestamp_form()
            case Kind.BINARY:
                return "BytesWrapper", 8, b"", bytes
            case _:
                return "StringWrapper", 7, b"", str.encode

    def _decimal_form(self, bounds: list[Decimal]) -> tuple[str, int, bytes, Any]:
        scale = 15
        if self.version >= 8:
            scale = self.type.scale + self.rng.choice((0, 0, 1, 5))
            if all(bound == bound.to_integral_value() for bound in bounds) and self.rng.random() < 0.2:
                scale = 0
            self.fault_counts["rescaled"] += scale != self.type.scale

        def unscaled(bound: Decimal) -> bytes:
            return int(Fraction(bound) * 10**scale).to_bytes(24, "big", signed=True)

        if self.version >= 8:
            return "BytesWrapper", 10, f"38,{scale}".encode(), unscaled
        return self.rng.choice(("DecimalWrapper", "BytesWrapper")), 0, b"", unscaled

    def _timestamp_form(self) -> tuple[str, int, bytes, Any]:
        ordinal = _UNITS.index(self.unit) + (18 if self.type.kind is Kind.TIMESTAMP else 15)
        self.fault_counts["cut"] += self.unit != "micros"
        beyond = self.rng.randrange(1000)

        def written(micros: int) -> int:
            micros = self._rebased(micros, ANCIENT_MICROS, 10 * 86_400_000_000)
            match self.unit:
                case "millis":
                    return micros // 1000
                case "nanos":
                    return micros * 1000 + beyond
                case _:
                    return micros

        if self.unit == "nanos":
            beyond = 0 if self.rng.random() < 0.5 else beyond
        wrapper = "LongWrapper" if self.version >= 8 else self.rng.choice(("LongWrapper", "TimestampMicrosWrapper"))
        return wrapper, ordinal, b"", written

    def _rebased(self, value: int, cutoff: int, by: int) -> int:
        if value >= cutoff:
            return value
        self.fault_counts["rebased"] += 1
        return min(value + by, cutoff - 1)


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _is_single(value: float) -> bool:
    return abs(value) <= 3.4e38 and float(np.float32(value)) == value
