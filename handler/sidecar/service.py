"""The service: turns a request into an answer, and every failure into "skip nothing" (contract C4).

step      module                          what it does
-------   -----------------------------   -----------------------------------------------------------------------
read      this one, ``allowed_roots``     refuse a wrong protocol version, a table outside of the roots, and a
                                          malformed or too large request. ``server`` has checked the secret
view      ``tables``                      the table at its latest instant, or as of an older one
decide    ``view``, ``planning.prune``    the slices that the filter skips, from the cache for a known filter
answer    ``request_matching``            the listed names that may be skipped, as packed bits
record    ``reports``, ``journal``, ``metrics``, ``filter_log``, ``audit``
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from evaluator.language.semantics import Semantics
from evaluator.language.zones import zone_named
from handler.sidecar.audit import Audits, SkippedFile, Verdict, choose_slices
from handler.sidecar.decisions.planning import MAX_REASON_LENGTH, cut_text, cut_texts
from handler.sidecar.decisions.planning_process import PlanningFailed
from handler.sidecar.filter_log import FilterLog
from handler.sidecar.history import History
from handler.sidecar.idl import PROTOCOL_VERSION, PruneReply, PruneRequest, Refused, forget_frames
from handler.sidecar.journal import Journal
from handler.sidecar.metrics import BECAUSE, Metrics
from handler.sidecar.names import ListedNames
from handler.sidecar.reports import AnswerReport, Reports
from handler.sidecar.request_matching import QUERY_TYPES, QueryType, SelectedNames, needs_fresh_view
from handler.sidecar.roots.allowed_roots import AllowedRoots, AllowedTable
from handler.sidecar.settings import Settings
from handler.sidecar.starting.root_watch import RootWatch
from handler.sidecar.starting.warm_start import WarmStart
from handler.sidecar.tables import Tables, TableUnavailable
from handler.sidecar.view import FilterDecision, FilterQuery, View
from handler.sql.parsing import Engine
from handler.version import VERSION
from index_store import FileSlice
from index_store.table.timeline import parse_as_of

__all__ = ["Service"]

_ENGINES: Mapping[str, Engine] = {"hive": "hive", "hive3": "hive3", "hive4": "hive4"}
#: The number of reasons in a reply. A report contains more of them.
_MAX_REASONS = 8
#: The length of the cause when a table cannot be read: that of a client's whole message.
_MAX_CAUSE_LENGTH = 2000
#: A new list up to this size is matched on the event loop: a change of thread would cost more.
_SHORT_LIST_BYTES = 64 << 10
#: The checksum of a longer list is computed in a thread.
_LONG_LIST_BYTES = 1 << 20
#: The length of an instant in a request; and of a filter that is written into ``filter_log``.
_MAX_INSTANT_LENGTH, _MAX_LOGGED_FILTER = 64, 64 << 10
_ANSWER_THREADS = 2
#: The part of ``request_seconds`` that a question waits for a table that the sidecar opens at its start.
_STARTING_SHARE = 4
#: How long explain() waits in all, and then at most for what would help; below the seconds that ``sargo report`` waits.
_EXPLAIN_SECONDS, _HELP_SECONDS = 4.0, 2.0
#: How long a page of an explanation may take, and the characters of a filter that its report keeps.
_PAGE_SECONDS, _MAX_SHOWN_FILTER = 3.0, 1_000


@dataclass(frozen=True, kw_only=True)
class _CheckedRequest:
    """A checked request. ``notes``: reasons that belong into its answer."""

    location: AllowedTable
    query: FilterQuery
    query_type: QueryType
    as_of: str | None
    listed: ListedNames
    query_id: str
    user: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """The content of a reply and of its report.

    because       the key of ``metrics.BECAUSE`` that says why nothing is skipped, or ""
    skip          one bit per listed name, packed; empty when nothing is skipped
    digest        CRC32 of the list of names
    audited       the skipped files to audit
    covered       how many listed names are known, and ``full`` of how many every row matches
    could_skip    how many names would be skipped if shadow mode were off
    """

    because: str
    skip: bytes = b""
    instant: str | None = None
    digest: int | None = None
    audited: tuple[SkippedFile, ...] = ()
    covered: int = 0
    skipped: int = 0
    could_skip: int = 0
    full: int = 0
    reasons: tuple[str, ...] = ()
    view: View | None = None
    decision: FilterDecision | None = None


class Service:
    """The calls of the IDL. ``threads`` open tables and make plans; long lists and reports have their own threads."""

    def __init__(
        self, settings: Settings, roots: AllowedRoots, metrics: Metrics, journal: Journal, threads: ThreadPoolExecutor
    ) -> None:
        self.settings = settings
        self.metrics = metrics
        self.journal = journal
        self.tables = Tables(settings, threads, options=roots.by_location(settings.table_options))
        self.warm_start = WarmStart(
            self.tables, roots.named(settings.tables), settings.tables_seconds, settings.workers
        )
        self.root_watch = RootWatch(roots, settings.storage_options, threads, seconds=settings.tables_seconds)
        self.reports = Reports(settings.reports)
        self.stopping = False
        self._roots = roots
        self._threads = ThreadPoolExecutor(_ANSWER_THREADS, thread_name_prefix="sargo-answer")
        self._running = 0
        self._asked = 0
        self.turned_off: set[str] = set()
        self.history = History()
        self._audits = Audits(self._record_verdict)
        self._filter_log = (
            None
            if settings.filter_log is None
            else FilterLog(settings.filter_log, settings.filter_log_bytes, settings.filter_log_older, journal)
        )

    # -- the calls

    async def prune(self, request: PruneRequest) -> PruneReply:
        """The IDL's prune. Raises Refused."""
        started = time.perf_counter()
        checked = self._read(request)
        if self._running >= self.settings.max_requests:
            raise Refused("busy", f"{self._running} requests are being answered")
        self._running += 1
        self._asked += 1
        try:
            if len(checked.listed.blob) > _LONG_LIST_BYTES:
                await asyncio.to_thread(lambda: checked.listed.digest)
            answer = await asyncio.wait_for(self._answer(checked), self._patience(checked.location))
        except Refused:
            raise
        except (TimeoutError, asyncio.TimeoutError) as error:  # two classes before Python 3.11
            forget_frames(error)
            if self.warm_start.is_opening(checked.location):
                raise Refused("busy", "the sidecar is starting and still opens the table") from None
            work = "the table is still being opened" if self.tables.is_opening(checked.location) else "it is worked out"
            reason = f"no answer within {self.settings.request_seconds:g} s; {work} for the next request"
            answer = _Answer(because="time", reasons=(reason,))
        except TableUnavailable as error:
            forget_frames(error)
            answer = _Answer(because="table", reasons=(error.why,))
        except PlanningFailed as error:
            forget_frames(error)
            answer = _Answer(because="time", reasons=(error.why,))
        except Exception as error:
            self.journal.failure("prune", error)
            forget_frames(error)
            answer = _Answer(because="failure", reasons=(f"the sidecar failed: {type(error).__name__}",))
        finally:
            self._running -= 1
        return self._reply(checked, answer, time.perf_counter() - started)

    def _patience(self, location: AllowedTable) -> float:
        """Seconds for an answer: fewer while the table is opened at the start, because another sidecar may answer."""
        seconds = self.settings.request_seconds
        return seconds / _STARTING_SHARE if self.warm_start.is_opening(location) else seconds

    async def explain(self, report_id: str | None) -> str:
        """The IDL's explain. Raises Refused."""
        report = self.reports.get(report_id or "")
        if report is None:
            raise Refused("unknown_report", "there is no such report, or it is too old")
        began = time.perf_counter()
        view = None if report.view is None else report.view()
        decision = None if report.decision is None else report.decision()
        if view is None or decision is None:
            return report.text()
        try:
            explaining = self.tables.explain(report.location, view, decision.query)
            explanation = await asyncio.wait_for(explaining, _EXPLAIN_SECONDS)
        except PlanningFailed as error:
            return report.text(f"There is no explanation: {error.why}.")
        except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
            return report.text("There is no explanation yet: it takes long. Ask again.")
        helping = self.tables.what_helps(report.location, view, decision.query)
        left = min(_HELP_SECONDS, began + _EXPLAIN_SECONDS - time.perf_counter())
        return report.text(f"{explanation}\n\n{await _help_text(helping, left)}")

    async def explain_page(self, report_id: str, make: Callable[[View, FilterQuery], str | None]) -> str | None:
        """The explanation of a report as a page, or None where there is only its text. Raises Refused."""
        report = self.reports.get(report_id)
        if report is None:
            raise Refused("unknown_report", "there is no such report, or it is too old")
        view = None if report.view is None else report.view()
        decision = None if report.decision is None else report.decision()
        if view is None or decision is None:
            return None
        try:
            return await asyncio.wait_for(self.tables.page(report.location, view, decision.query, make), _PAGE_SECONDS)
        except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
            return None

    async def health(self, *, names_roots: bool = False) -> str:
        """The IDL's health."""
        return self.state(names_roots=names_roots)

    def state(self, *, names_roots: bool = False) -> str:
        """The state as JSON, for health() and /healthz. ``names_roots``: with why roots cannot be read."""
        is_starting = self.warm_start.opening or not self.root_watch.was_asked.is_set()
        causes = self.root_watch.causes
        return json.dumps(
            {
                "status": "stopping" if self.stopping else "starting" if is_starting else "ok",
                "opening": self.warm_start.opening,
                "not_opened": self.warm_start.not_opened,
                "asked": self._asked,
                "tables": len(self.tables),
                "cache_bytes": self.tables.nbytes,
                "running": self._running,
                "shadow": self.settings.shadow,
                "turned_off": len(self.turned_off),
                "roots_unreadable": len(causes),
                **({"roots": dict(causes)} if names_roots and causes else {}),
            }
        )

    async def version(self) -> str:
        """The IDL's version."""
        return json.dumps({"sargo": VERSION, "protocol": PROTOCOL_VERSION})

    # -- reading a request

    def _read(self, request: PruneRequest | None) -> _CheckedRequest:
        if request is None or not isinstance(request.protocol_version, int):
            raise Refused("request", "the request is missing or has no protocol version")
        if request.protocol_version != PROTOCOL_VERSION:
            raise Refused("version", f"this sidecar speaks version {PROTOCOL_VERSION} of the protocol")
        if self.stopping:
            raise Refused("stopping", "the sidecar is stopping")
        limits = self.settings
        for name, kind in (
            ("table", str),
            ("filter", bytes | memoryview),
            ("engine", str),
            ("names", bytes | memoryview),
            ("name_count", int),
        ):
            if not isinstance(getattr(request, name), kind):
                raise Refused("request", f"{name} is missing")
        if request.engine not in _ENGINES:
            raise Refused("request", f"the engine is none of {', '.join(_ENGINES)}")
        if not 0 <= request.name_count <= limits.max_names:
            raise Refused("limit", f"a request may list up to {limits.max_names} names")
        if len(request.filter) > limits.max_filter_bytes:
            raise Refused("limit", f"a filter may have up to {limits.max_filter_bytes} bytes")
        query_type = request.query_type or "snapshot"
        if query_type not in QUERY_TYPES:
            raise Refused("request", f"the query type is none of {', '.join(QUERY_TYPES)}")
        zone, notes = _zone(request.time_zone)
        return _CheckedRequest(
            location=self._roots.locate(request.table),
            query=FilterQuery(bytes(request.filter), _ENGINES[request.engine], zone),
            query_type=query_type,
            as_of=_as_of(request) if query_type == "as_of" else None,
            listed=ListedNames(
                request.names, bool(request.names_compressed), request.name_count, limits.max_names_bytes
            ),
            query_id=(request.query_id or "")[:200],
            user=(request.user or "")[:200],
            notes=notes,
        )

    # -- answering

    async def _answer(self, request: _CheckedRequest) -> _Answer:
        if request.location.path in self.turned_off:
            return _Answer(because="audit", reasons=(BECAUSE["audit"],))
        loop = asyncio.get_running_loop()
        if len(request.listed.blob) > _SHORT_LIST_BYTES:
            await loop.run_in_executor(self._threads, request.listed.compute_hashes)
        arrived = self.tables.now()
        view, note = await self.tables.view(request.location, request.as_of)
        if needs_fresh_view(view.table_type, view.version, request.query_type):
            view, note = await self.tables.view(request.location, request.as_of, newer_than=arrived)
        if note is not None:
            request = replace(request, notes=(note, *request.notes))
        decision = await self.tables.decide(request.location, view, request.query)
        listed = request.listed
        is_short = len(listed.blob) <= _SHORT_LIST_BYTES and not listed.compressed

        def select() -> SelectedNames:
            planned = decision.planned
            return SelectedNames.of(view.match(listed), planned.skipped, planned.full, request.query_type)

        if view.has_match(listed) or (is_short and view.files.matches_quickly(view.table_type)):
            return self._to_answer(request, view, decision, select())
        equal = ("selected", id(view), id(decision), listed.key, request.query_type)
        selected = await self.tables.together(request.location, equal, select, self._threads)
        return self._to_answer(request, view, decision, selected)

    def close(self) -> None:
        """Stop the threads and the audits, and close the log of filters."""
        self._audits.close()
        if self._filter_log is not None:
            self._filter_log.close()
        self.tables.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _to_answer(
        self, request: _CheckedRequest, view: View, decision: FilterDecision, selected: SelectedNames
    ) -> _Answer:
        matched, could_skip, why = selected.matched, selected.count, selected.why
        planned = decision.planned
        reasons = (*request.notes, *(() if why is None else (why,)), *planned.reasons)
        because = ""
        if not could_skip:
            because = (
                "size"
                if planned.is_too_large
                else "filter"
                if not (planned.is_evaluated and planned.is_read)
                else "plan"
                if not decision.skipped.any()
                else "query_type"
                if why and request.query_type == "incremental"
                else "list"
            )
        elif self.settings.shadow:
            because = "shadow"
        audited: tuple[SkippedFile, ...] = ()
        if could_skip and random.random() < self.settings.audit_rate:
            audited = tuple(
                self._to_audit(request, view, decision, item, matched.complete is not None)
                for item in choose_slices(view.files, selected.may_skip, matched.indices, self.settings.audit_files)
            )
        return _Answer(
            because=because,
            skip=selected.skip if not because else b"",
            instant=view.instant,
            digest=matched.digest,
            audited=audited,
            covered=matched.covered,
            skipped=0 if because else could_skip,
            could_skip=could_skip,
            full=selected.full,
            reasons=reasons,
            view=view,
            decision=decision,
        )

    # -- audits

    def _to_audit(
        self, request: _CheckedRequest, view: View, decision: FilterDecision, item: FileSlice, has_logs: bool
    ) -> SkippedFile:
        merges = has_logs and request.query_type != "read_optimized"
        return SkippedFile(
            table=request.location.path,
            root=request.location.root,
            storage_options=self.settings.options_of(request.location.path),
            path=item.base_file,
            expression=decision.query,
            schema=view.opened.table.schema,
            semantics=Semantics.named(request.query.engine, request.query.time_zone or "UTC"),
            max_rows=self.settings.audit_rows,
            log_files=item.log_files if merges else (),
        )

    def _record_verdict(self, file: SkippedFile, verdict: Verdict) -> None:
        """Count a verdict. After a wrong skip, its table is not pruned until the sidecar is started again."""
        self.metrics.audits.labels(verdict).inc()
        if verdict == "failed":
            self.turned_off.add(file.table)
            self.metrics.alarm.set(len(self.turned_off))
            self.journal.say(
                "audit_failed",
                "error",
                table=file.table,
                file=file.path,
                consequence="this table is not pruned any more; keep the file and report it",
            )

    def _reply(self, request: _CheckedRequest, answer: _Answer, seconds: float) -> PruneReply:
        because = BECAUSE[answer.because] if answer.because else ""
        report = AnswerReport(
            location=request.location,
            instant=answer.instant,
            query_id=request.query_id,
            user=request.user,
            engine=request.query.engine,
            query_type=request.query_type,
            listed=request.listed.count,
            covered=answer.covered,
            skipped=answer.skipped,
            could_skip=answer.could_skip,
            because=because,
            reasons=cut_texts(answer.reasons),
            seconds=seconds,
            view=None if answer.view is None else weakref.ref(answer.view),
            decision=None if answer.decision is None else weakref.ref(answer.decision),
            filter_text=_shown_filter(answer) if self.settings.log_values else "",
        )
        self.reports.add(report)
        self._audits.audit(list(answer.audited))
        self._count(request, answer)
        self.history.add(
            request.location.path,
            request.listed.count,
            answer.skipped,
            answer.could_skip,
            () if answer.decision is None else answer.decision.planned.unindexed,
        )
        is_unread = answer.because == "table"
        why = cut_text(" ".join(" ".join(answer.reasons).split()), _MAX_CAUSE_LENGTH) if is_unread else ""
        self.journal.answered(report, answer.because, why)
        if (
            self._filter_log is not None
            and answer.decision is not None
            and answer.decision.planned.is_read
            and len(request.query.filter) <= _MAX_LOGGED_FILTER
        ):
            self._filter_log.write(request.location.path, request.query, request.listed.count, answer.skipped)
        texts = ([because] if because else []) + [text for text in answer.reasons if text != because]
        reply: PruneReply = PruneReply(
            protocol_version=PROTOCOL_VERSION,
            skip=answer.skip,
            name_count=request.listed.count,
            instant=answer.instant,
            covered=answer.covered,
            skipped=answer.skipped,
            fully_matched=answer.full,
            report_id=report.id,
            reasons=[because, why] if why else [cut_text(text, MAX_REASON_LENGTH) for text in texts[:_MAX_REASONS]],
            digest=request.listed.digest if answer.digest is None else answer.digest,
        )
        return reply

    def _count(self, request: _CheckedRequest, answer: _Answer) -> None:
        metrics = self.metrics
        metrics.listed.inc(request.listed.count)
        metrics.covered.inc(answer.covered)
        metrics.skipped.inc(answer.skipped)
        metrics.could_skip.inc(answer.could_skip)
        metrics.full.inc(answer.full)
        if answer.because:
            metrics.nothing.labels(answer.because).inc()


def _shown_filter(answer: _Answer) -> str:
    return "" if answer.decision is None else cut_text(answer.decision.planned.text, _MAX_SHOWN_FILTER)


async def _help_text(helping: Awaitable[str], seconds: float) -> str:
    """What would help, or why that is not known."""
    try:
        return await asyncio.wait_for(helping, seconds)
    except PlanningFailed as error:
        return f"What would help was not asked: {error.why}."
    except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
        return "What would help is not known yet: data files are being read. Ask again."


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
        if len(instant) > _MAX_INSTANT_LENGTH:
            raise ValueError("too long")
        return parse_as_of(instant)
    except ValueError as error:
        raise Refused("request", "an as-of query needs an instant (yyyyMMddHHmmssSSS) or a date") from error
