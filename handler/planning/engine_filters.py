"""A filter as an engine sends it to the sidecar, read by the rules of that engine.

engine                               the bytes                                read by
===================================  =======================================  ==============================
hive, hive3, hive4                   Base64 of an ExprNodeGenericFuncDesc     ``planning.hive_filter``
spark-ansi, spark-try, spark-legacy  JSON of Catalyst's conditions            ``handler.catalyst.document``

A filter of Spark belongs to a query that runs now: what the optimizer has folded is a constant of it, and a function
of the clock that is left means now or later. Hive has fixed its moment before, and does not say when.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import sarg
from evaluator.language.clock import Clock
from evaluator.language.expression import HudiExpression
from evaluator.language.schema import Schema
from handler.catalyst.document import TooLargeDocumentError, read_document
from handler.planning.clocks import CLOCK_SKEW, clock_of
from handler.planning.hive_filter import read_hive_filter, without_zoned_conditions
from handler.sql.parsing import Engine

__all__ = ["BYTES_FOR_ONE", "TOO_LARGE", "FilterForm", "clock_of_engine", "filter_form", "read_engine_filter"]

FilterForm = Literal["hive", "spark"]

#: What ``read_engine_filter`` raises for a filter beyond its limits.
TOO_LARGE = (sarg.TooLargeError, TooLargeDocumentError)
#: So many bytes of a filter say as much as one of Hive's, and take as long to read.
BYTES_FOR_ONE: Mapping[FilterForm, int] = {"hive": 1, "spark": 8}


def filter_form(engine: Engine) -> FilterForm:
    """The form in which an engine sends a filter."""
    return "spark" if engine.startswith("spark") else "hive"


def read_engine_filter(
    filter_: bytes, engine: Engine, schema: Schema, time_zone: str | None, limits: sarg.Limits | None = None
) -> HudiExpression:
    """Read a filter. ``time_zone``: the session's, or None where it was not sent.

    Raises ``sarg.DecodeError`` and ``DocumentError``, beyond ``limits`` one of ``TOO_LARGE``.
    """
    zone_known = time_zone is not None
    if filter_form(engine) == "hive":
        return read_hive_filter(filter_.decode("ascii"), schema, zone_known=zone_known, limits=limits)
    expression = read_document(filter_, time_zone or "UTC", max_nodes=(limits or sarg.Limits()).nodes)
    return expression if zone_known else without_zoned_conditions(expression, schema)


def clock_of_engine(engine: Engine, time_zone: str | None) -> Clock | None:
    """When the query of a filter runs; None where that is not known."""
    return clock_of(None, CLOCK_SKEW, time_zone) if filter_form(engine) == "spark" else None
