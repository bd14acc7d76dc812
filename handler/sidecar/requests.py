"""Requests as they arrive: what is checked before a question is worked on, and what is left of it then.

A request that is malformed, too large, of another protocol, or about a table outside of the roots is refused.
``server`` has checked the secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any

from evaluator.language.records import frozen
from evaluator.language.zones import zone_named
from handler.catalyst.document import without_run_numbers
from handler.catalyst.time_zones import zone_of_java
from handler.planning.engine_filters import filter_form
from handler.sidecar.idl import PROTOCOL_VERSION, PlanRequest, PruneRequest, Refused
from handler.sidecar.names import ListedNames
from handler.sidecar.request_matching import QUERY_TYPES, QueryType
from handler.sidecar.roots.allowed_roots import AllowedRoots, AllowedTable
from handler.sidecar.settings import Settings
from handler.sidecar.view import FilterQuery
from handler.sql.parsing import Engine
from index_store.table.timeline import parse_as_of

__all__ = ["PlanQuestion", "PruneQuestion", "Question", "read_plan_request", "read_prune_request", "require"]

#: Who may ask prune(), and who plan(): only Hive's side reads the files that the sidecar lists.
_LISTED_FOR: Mapping[str, Engine] = {"hive": "hive", "hive3": "hive3", "hive4": "hive4"}
_ENGINES: Mapping[str, Engine] = {
    **_LISTED_FOR,
    "spark-ansi": "spark-ansi",
    "spark-try": "spark-try",
    "spark-legacy": "spark-legacy",
}
#: The length of an instant in a request, and of a text that only reports and logs show.
_MAX_INSTANT, _MAX_SHOWN = 64, 200
_BYTES = bytes | memoryview


@frozen(slots=False, kw_only=True)
class Question:
    """A checked request about a table. ``notes``: reasons that belong into its answer."""

    location: AllowedTable
    query: FilterQuery
    query_type: QueryType
    query_id: str
    user: str
    notes: tuple[str, ...] = ()


@frozen(slots=False, kw_only=True)
class PruneQuestion(Question):
    """Which of the listed files may be skipped? ``as_of``: the instant of an as-of query."""

    as_of: str | None
    listed: ListedNames


@frozen(slots=False, kw_only=True)
class PlanQuestion(Question):
    """Which files are to be read?

    instant, instant_count   the state of the timeline that the client sees
    partitions               the partitions to list; None: all
    accepts_unknown          whether the answer may leave out partitions that the table does not have
    has_filter               whether the query's filter was sent
    """

    instant: str
    instant_count: int
    partitions: ListedNames | None
    accepts_unknown: bool
    has_filter: bool


def read_prune_request(request: PruneRequest | None, settings: Settings, roots: AllowedRoots) -> PruneQuestion:
    """The question of a call of prune(). Raises Refused."""
    checked = require(request, {"table": str, "filter": _BYTES, "engine": str, "names": _BYTES, "name_count": int})
    common = _common(checked, checked.filter, settings, roots, _ENGINES)
    if common["query_type"] == "incremental" and filter_form(common["query"].engine) == "spark":
        raise Refused("request", "an incremental query of Spark is not pruned")
    return PruneQuestion(
        **common,
        as_of=_as_of(checked) if common["query_type"] == "as_of" else None,
        listed=_list(checked.names, checked.names_compressed, checked.name_count, settings),
    )


def read_plan_request(request: PlanRequest | None, settings: Settings, roots: AllowedRoots) -> PlanQuestion:
    """The question of a call of plan(). Raises Refused."""
    checked = require(request, {"table": str, "engine": str, "instant": str, "instant_count": int})
    instant = checked.instant
    if not (0 < len(instant) <= _MAX_INSTANT and instant.isascii() and instant.isdigit()):
        raise Refused("request", "the instant is not one of a timeline")
    partitions = None
    if checked.partitions is not None:
        require(checked, {"partitions": _BYTES, "partition_count": int})
        if checked.partition_count < 1:
            raise Refused("request", "no partition is asked for")
        partitions = _list(checked.partitions, checked.partitions_compressed, checked.partition_count, settings)
    has_filter = checked.filter is not None
    if has_filter:
        require(checked, {"filter": _BYTES})
    common = _common(checked, checked.filter if has_filter else b"", settings, roots, _LISTED_FOR)
    if common["query_type"] not in ("snapshot", "read_optimized"):
        raise Refused("listing", f"a query of the type {common['query_type']} is listed by Hudi")
    return PlanQuestion(
        **common,
        instant=instant,
        instant_count=checked.instant_count,
        partitions=partitions,
        accepts_unknown=bool(checked.accepts_unknown),
        has_filter=has_filter,
    )


def require(request: Any, fields: Mapping[str, type | UnionType]) -> Any:
    """The request, if its protocol version is ours and it has these fields. Raises Refused."""
    if request is None or not isinstance(request.protocol_version, int):
        raise Refused("request", "the request is missing or has no protocol version")
    if request.protocol_version != PROTOCOL_VERSION:
        raise Refused("version", f"this sidecar speaks version {PROTOCOL_VERSION} of the protocol")
    for name, kind in fields.items():
        if not isinstance(getattr(request, name), kind):
            raise Refused("request", f"{name} is missing")
    return request


def _common(
    request: Any, filter_: bytes | memoryview, settings: Settings, roots: AllowedRoots, engines: Mapping[str, Engine]
) -> dict[str, Any]:
    """The fields of ``Question``. ``engines``: those that may ask."""
    if request.engine not in engines:
        raise Refused("request", f"the engine is none of {', '.join(engines)}")
    if len(filter_) > settings.max_filter_bytes:
        raise Refused("limit", f"a filter may have up to {settings.max_filter_bytes} bytes")
    query_type = request.query_type or "snapshot"
    if query_type not in QUERY_TYPES:
        raise Refused("request", f"the query type is none of {', '.join(QUERY_TYPES)}")
    is_spark = filter_form(engines[request.engine]) == "spark"
    merges = bool(request.merges_rows) and query_type in ("snapshot", "as_of")
    zone, notes = _zone(zone_of_java(request.time_zone or "") if is_spark else request.time_zone)
    return {
        "location": roots.locate(request.table),
        "query": FilterQuery(
            _filter(bytes(filter_), engines[request.engine]),
            engines[request.engine],
            zone,
            "merged" if merges else "stored",
        ),
        "query_type": query_type,
        "query_id": (request.query_id or "")[:_MAX_SHOWN],
        "user": (request.user or "")[:_MAX_SHOWN],
        "notes": notes,
    }


def _filter(filter_: bytes, engine: Engine) -> bytes:
    """The filter, the same for the same query of another run, so that its plan is found again."""
    return without_run_numbers(filter_) if filter_form(engine) == "spark" else filter_


def _list(blob: bytes | memoryview, compressed: bool | None, count: int, settings: Settings) -> ListedNames:
    if not 0 <= count <= settings.max_names:
        raise Refused("limit", f"a request may list up to {settings.max_names} names")
    return ListedNames(blob, bool(compressed), count, settings.max_names_bytes)


def _zone(name: str | None) -> tuple[str | None, tuple[str, ...]]:
    """The session's time zone if it was sent and is known, else None and a note for the answer."""
    if not name:
        return None, ()
    try:
        zone_named(name)
    except (OSError, ValueError, KeyError):
        return None, ("the session's time zone is not known: conditions on timestamps are left undecided",)
    return name, ()


def _as_of(request: PruneRequest) -> str:
    instant = request.instant or ""
    try:
        if len(instant) > _MAX_INSTANT:
            raise ValueError("too long")
        return parse_as_of(instant)
    except ValueError as error:
        raise Refused("request", "an as-of query needs an instant (yyyyMMddHHmmssSSS) or a date") from error
