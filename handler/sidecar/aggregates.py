"""The call aggregate(): what Parquet footers answer of the listed files, which an engine then need not read.

An answered file is, in the list as in the view, all that its slice has: a base file without log files, that no
bootstrap made. A base file is written once (``request_matching``), so its rows are those of the view. Every one of
them satisfies the filter by the view's plan. The values are exact (``handler.aggregates.answers``).

Where nothing is certain (a filter that is not planned, an unknown time zone, shadow mode, a table that is turned off,
no answer in time) no file is answered, with the reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from evaluator.language.types import Kind, Type
from handler.planning.engine_filters import filter_form
from handler.sidecar.idl import AggregateRequest, Refused
from handler.sidecar.request_matching import FULL, needs_fresh_view
from handler.sidecar.requests import PruneQuestion, read_prune_request, require
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.settings import Settings
from handler.sidecar.tables import Tables
from handler.sidecar.view import FilterDecision, View

if TYPE_CHECKING:
    from handler.aggregates.aggregate import Aggregate
    from handler.aggregates.footer_facts import KeptFacts

__all__ = ["AggregateQuestion", "Aggregated", "Aggregates", "read_aggregate_request"]

#: The aggregates of a request, and their bytes.
_MAX_AGGREGATES: Final = 32
_MAX_AGGREGATES_BYTES: Final = 16 << 10
#: How long footers are read for one question. They keep other questions about the table waiting.
_SECONDS: Final = 1.0
_SPARK_NAMES = {
    Kind.STRING: "string",
    Kind.CHAR: "string",
    Kind.VARCHAR: "string",
    Kind.TIMESTAMP: "timestamp_ntz",
    Kind.TIMESTAMP_LTZ: "timestamp",
}


@frozen(slots=False)
class AggregateQuestion:
    """A checked request: what prune() is asked, and the aggregates."""

    of_files: PruneQuestion
    aggregates: tuple[Aggregate, ...]

    @property
    def key(self) -> str:
        """Equal questions about a view have the same."""
        of = self.of_files
        parts = (of.query.key, of.listed.key, of.query_type.encode(), *(str(one).encode() for one in self.aggregates))
        return hashlib.blake2b(b"\0".join(parts), digest_size=16).hexdigest()


@frozen
class Aggregated:
    """``answered``: a packed bit per listed file, or nothing; the values over their rows as the IDL writes them."""

    answered: bytes = b""
    count: int = 0
    values: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


def read_aggregate_request(
    request: AggregateRequest | None, settings: Settings, roots: AllowedRoots
) -> AggregateQuestion:
    """The question of a call of aggregate(). Raises Refused."""
    from handler.aggregates.aggregate import Aggregate

    checked = require(request, {"aggregates": bytes | memoryview})
    question = read_prune_request(checked, settings, roots)
    if filter_form(question.query.engine) != "spark":
        raise Refused("request", "only engines of Spark ask for aggregates")
    if len(checked.aggregates) > _MAX_AGGREGATES_BYTES:
        raise Refused("limit", f"the aggregates may have up to {_MAX_AGGREGATES_BYTES} bytes")
    try:
        aggregates = tuple(map(Aggregate.parse, bytes(checked.aggregates).decode().split("\n", _MAX_AGGREGATES)))
    except (UnicodeDecodeError, SargoError):
        raise Refused(
            "request", f"the aggregates are not up to {_MAX_AGGREGATES} lines of count, min, max and sum"
        ) from None
    if len(aggregates) > _MAX_AGGREGATES:
        raise Refused("request", f"the aggregates are not up to {_MAX_AGGREGATES} lines of count, min, max and sum")
    return AggregateQuestion(question, aggregates)


class Aggregates:
    """Answers the questions of aggregate(). Used on the event loop."""

    def __init__(self, settings: Settings, tables: Tables) -> None:
        self._settings = settings
        self._tables = tables

    async def answer(self, question: AggregateQuestion) -> Aggregated:
        """Raises Refused, TableUnavailable and PlanningFailed."""
        of, tables = question.of_files, self._tables
        if self._settings.shadow:
            return Aggregated(reasons=("the sidecar is in shadow mode",))
        if of.query.engine == "spark-try":
            return Aggregated(reasons=("errors of rows are hidden, and a row that fails would count",))
        if of.query.time_zone is None:
            return Aggregated(reasons=(*of.notes, "without the session's time zone no answer is certain"))
        arrived = tables.now()
        view, _ = await tables.view(of.location, of.as_of)
        # A name may come to mean another column, of which a file has other values.
        if view.evolves_by_id or needs_fresh_view(view.table_type, view.version, of.query_type):
            view, _ = await tables.view(of.location, of.as_of, newer_than=arrived)
        decision = await tables.decide(of.location, view, of.query)
        work: Callable[[], Aggregated] = lambda: aggregated(view, decision, question, self._kept)  # noqa: E731
        return await tables.with_view(of.location, view, f"aggregates {question.key}", work)

    @cached_property
    def _kept(self) -> KeptFacts:
        """What footers of all tables said."""
        from handler.aggregates.footer_facts import KeptFacts

        return KeptFacts()


def aggregated(view: View, decision: FilterDecision, question: AggregateQuestion, kept: KeptFacts) -> Aggregated:
    """The answer of a view. For the thread that makes the table's plans."""
    from handler.aggregates.answers import MAX_FOOTERS, answer_slices

    of = question.of_files
    matched = view.match(of.listed)
    full = matched.verdicts(decision.skipped, decision.planned.full) & FULL
    is_lone = full.astype(np.bool_) & matched.bases & (view.files.count[matched.slices] == 1)
    if matched.complete is not None and of.query_type != "read_optimized":
        is_lone &= matched.complete
        is_lone &= not matched.has_other_files
    every = np.flatnonzero(is_lone)
    places = every[:MAX_FOOTERS].tolist()
    items = [view.files.slices[int(matched.slices[place])] for place in places]
    try:
        found = answer_slices(
            view.opened.table,
            view.opened.at(view.as_of).slices,
            items,
            frozenset(items),
            question.aggregates,
            _SECONDS,
            kept,
        )
    except SargoError as error:
        return Aggregated(reasons=(str(error),))
    reasons = tuple(dict.fromkeys(one.reason for one in found.scanned))
    if len(every) > len(places):
        reasons = (f"the footers of the first {MAX_FOOTERS} files are read", *reasons)
    if not items:
        reasons = ("of no listed file it is certain that the filter holds on every row", *decision.planned.reasons)
    if not found.answered:
        return Aggregated(reasons=reasons)
    known = {one.item for one in found.answered}
    bits = np.zeros(of.listed.count, np.bool_)
    bits[[place for place, item in zip(places, items, strict=True) if item in known]] = True
    return Aggregated(
        answered=np.packbits(bits, bitorder="little").tobytes(),
        count=int(np.count_nonzero(bits)),
        values=tuple(map(_value_text, found.totals)),
        types=tuple("bigint" if of_value is None else spark_type(of_value) for of_value in found.types),
        reasons=reasons,
    )


def _value_text(value: Any) -> str:
    return "" if value is None else f"={int(value) if isinstance(value, bool) else value}"


def spark_type(of: Type) -> str:
    """A type's name in Spark's SQL."""
    return _SPARK_NAMES.get(of.kind) or str(of)
