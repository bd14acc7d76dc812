"""The calls of the IDL: a request becomes a question, its answer a reply, and every failure "skip nothing" (C4).

step      module                     what it does
-------   ------------------------   --------------------------------------------------------------------------
read      ``requests``               refuses what is malformed, too large, or about a table outside of the roots
answer    ``pruning``, ``plans``     the listed names that may be skipped, or the files to read
record    ``recording``              reports, log, metrics, audits
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from handler.sidecar.aggregates import Aggregated, Aggregates, read_aggregate_request
from handler.sidecar.decisions.planning import MAX_REASON_LENGTH, cut_text
from handler.sidecar.decisions.planning_process import PlanningFailed
from handler.sidecar.idl import (
    PROTOCOL_VERSION,
    AggregateReply,
    AggregateRequest,
    LayoutReply,
    LayoutRequest,
    PlanReply,
    PlanRequest,
    PruneReply,
    PruneRequest,
    Refused,
    forget_frames,
)
from handler.sidecar.layouts import BucketLayout, Layouts, read_layout_request
from handler.sidecar.plans.plans import PlannedFiles, Plans
from handler.sidecar.pruning import PrunedNames, Pruning
from handler.sidecar.recording.answers import Answer
from handler.sidecar.recording.journal import Journal
from handler.sidecar.recording.metrics import BECAUSE, Metrics
from handler.sidecar.recording.records import Records, cause_of
from handler.sidecar.recording.reports import AnswerReport, list_of_reports
from handler.sidecar.requests import PlanQuestion, PruneQuestion, read_plan_request, read_prune_request
from handler.sidecar.roots.allowed_roots import AllowedRoots, AllowedTable
from handler.sidecar.settings import Settings
from handler.sidecar.starting.root_watch import RootWatch
from handler.sidecar.starting.warm_start import WarmStart
from handler.sidecar.tables import Tables, TableUnavailable
from handler.sidecar.view import FilterQuery, View
from handler.version import VERSION

__all__ = ["Service"]

T = TypeVar("T")

#: The number of reasons in a reply. A report contains more of them.
_MAX_REASONS = 8
#: The checksum of a longer list is computed in a thread.
_LONG_LIST_BYTES = 1 << 20
_ANSWER_THREADS = 2
#: The part of ``request_seconds`` that a question waits for a table that the sidecar opens at its start.
_STARTING_SHARE = 4
#: How long explain() waits in all, and then at most for what would help; below the seconds that ``sargo report`` waits.
_EXPLAIN_SECONDS, _HELP_SECONDS = 4.0, 2.0
#: How long a page of an explanation may take.
_PAGE_SECONDS = 3.0


class _TooLate(Exception):  # noqa: N818 - an answer, not a fault
    """There is no answer in time. ``why``: what goes on."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


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
        self.stopping = False
        self._roots = roots
        self._threads = ThreadPoolExecutor(_ANSWER_THREADS, thread_name_prefix="sargo-answer")
        self._running = 0
        self._asked = 0
        self.records = Records(settings, metrics, journal)
        self._pruning = Pruning(settings, self.tables, self.records, self._threads)
        self._layouts = Layouts(self.tables)
        self._aggregates = Aggregates(settings, self.tables)
        self._plans = Plans(settings, self.tables, self.records, self._threads)

    # -- the calls

    async def prune(self, request: PruneRequest) -> PruneReply:
        """The IDL's prune. Raises Refused."""
        started = time.perf_counter()
        self._refuse_when_stopping()
        question = read_prune_request(request, self.settings, self._roots)
        with self._admitted():
            answer = await self._pruned(question)
        if answer.digest is None and len(question.listed.blob) > _LONG_LIST_BYTES:
            await asyncio.to_thread(lambda: question.listed.digest)
        return self._prune_reply(question, answer, started)

    def known_prune(self, request: PruneRequest) -> PruneReply | None:
        """The reply of ``prune``, if it takes no work; else None. Raises Refused."""
        started = time.perf_counter()
        if self.stopping or self._running >= self.settings.max_requests:
            return None
        question = read_prune_request(request, self.settings, self._roots)
        if question.location.path in self.records.turned_off:
            return None
        answer = self._pruning.known_answer(question)
        if answer is None:
            return None
        self._asked += 1
        return self._prune_reply(question, answer, started)

    def _prune_reply(self, question: PruneQuestion, answer: PrunedNames, started: float) -> PruneReply:
        report = self.records.add(question, answer, time.perf_counter() - started)
        because, why = report.because, cause_of(answer)
        digest = question.listed.digest if answer.digest is None else answer.digest
        reply: PruneReply = PruneReply(
            protocol_version=PROTOCOL_VERSION,
            skip=answer.skip,
            name_count=question.listed.count,
            instant=answer.instant,
            covered=answer.covered,
            skipped=answer.skipped,
            fully_matched=answer.full,
            report_id=report.id,
            reasons=[because, why] if why else _texts(because, answer),
            digest=digest,
        )
        return reply

    async def plan(self, request: PlanRequest) -> PlanReply:
        """The IDL's plan. Raises Refused."""
        started = time.perf_counter()
        self._refuse_when_stopping()
        question = read_plan_request(request, self.settings, self._roots)
        if question.location.path in self.records.turned_off:
            raise Refused("listing", BECAUSE["audit"])
        with self._admitted():
            planned = await self._planned(question, started + self._patience(question.location))
        answer = self._plans.to_answer(question, planned)
        report = self.records.add(question, answer, time.perf_counter() - started)
        files = planned.files
        reply: PlanReply = PlanReply(
            protocol_version=PROTOCOL_VERSION,
            instant=planned.view.instant,
            file_count=files.file_count,
            names=files.names,
            lengths=files.lengths,
            slices=files.slices,
            slice_count=files.slice_count,
            skipped=0 if answer.because else planned.skipped,
            fully_matched=planned.full,
            report_id=report.id,
            reasons=_texts(report.because, answer),
            digest=0 if question.partitions is None else question.partitions.digest,
            checksum=files.checksum,
            unknown_partitions=list(planned.unknown) or None,
        )
        return reply

    async def layout(self, request: LayoutRequest) -> LayoutReply:
        """The IDL's layout. Raises Refused."""
        self._refuse_when_stopping()
        question = read_layout_request(request, self._roots)
        with self._admitted():
            asked = self._layouts.answer(question)
            layout = await self._or_why("layout", question.location, asked, lambda why: BucketLayout(why=why))
        reply: LayoutReply = LayoutReply(
            protocol_version=PROTOCOL_VERSION,
            buckets=layout.buckets,
            columns=list(layout.columns) or None,
            why=None if layout.why is None else cut_text(layout.why, MAX_REASON_LENGTH),
            instant=layout.instant,
        )
        return reply

    async def aggregate(self, request: AggregateRequest) -> AggregateReply:
        """The IDL's aggregate. Raises Refused."""
        self._refuse_when_stopping()
        question = read_aggregate_request(request, self.settings, self._roots)
        location, listed = question.of_files.location, question.of_files.listed
        if location.path in self.records.turned_off:
            found = Aggregated(reasons=(BECAUSE["audit"],))
        else:
            with self._admitted():
                asked = self._aggregates.answer(question)
                found = await self._or_why("aggregate", location, asked, lambda why: Aggregated(reasons=(why,)))
        reply: AggregateReply = AggregateReply(
            protocol_version=PROTOCOL_VERSION,
            answered=found.answered,
            name_count=listed.count,
            answered_count=found.count,
            values=list(found.values) or None,
            types=list(found.types) or None,
            reasons=[cut_text(text, MAX_REASON_LENGTH) for text in found.reasons[:_MAX_REASONS]],
            digest=await asyncio.to_thread(lambda: listed.digest),
        )
        return reply

    async def _or_why(
        self, method: str, location: AllowedTable, asked: Awaitable[T], otherwise: Callable[[str], T]
    ) -> T:
        """An answer: every failure is the reason of one that says nothing. Raises Refused."""
        try:
            with self._in_time(location):
                return await asyncio.wait_for(asked, self._patience(location))
        except Refused:
            raise
        except (_TooLate, TableUnavailable, PlanningFailed) as error:
            forget_frames(error)
            return otherwise(error.why)
        except Exception as error:
            self.journal.failure(method, error)
            forget_frames(error)
            return otherwise(f"the sidecar failed: {type(error).__name__}")

    async def _pruned(self, question: PruneQuestion) -> PrunedNames:
        """The answer to a question of prune(): every failure skips nothing. Raises Refused."""
        listed = question.listed
        if question.location.path in self.records.turned_off:
            return PrunedNames(because="audit", listed=listed.count, reasons=(BECAUSE["audit"],))
        try:
            with self._in_time(question.location):
                return await asyncio.wait_for(self._pruning.answer(question), self._patience(question.location))
        except Refused:
            raise
        except (_TooLate, PlanningFailed) as error:
            forget_frames(error)
            because, reason = "time", error.why
        except TableUnavailable as error:
            forget_frames(error)
            because, reason = "table", error.why
        except Exception as error:
            self.journal.failure("prune", error)
            forget_frames(error)
            because, reason = "failure", f"the sidecar failed: {type(error).__name__}"
        return PrunedNames(because=because, listed=listed.count, reasons=(reason,))

    async def _planned(self, question: PlanQuestion, ends: float) -> PlannedFiles:
        """The answer to a question of plan(). Raises Refused, after which the client lists by itself."""
        try:
            with self._in_time(question.location):
                return await self._plans.answer(question, ends)
        except Refused:
            raise
        except _TooLate as error:
            raise Refused("listing", error.why) from None
        except Exception as error:
            self.journal.failure("plan", error)
            forget_frames(error)
            raise Refused("listing", f"the sidecar failed: {type(error).__name__}") from None

    @contextmanager
    def _in_time(self, location: AllowedTable) -> Iterator[None]:
        """A time-out becomes _TooLate; Refused when the sidecar is starting: another one may have opened the table."""
        try:
            yield
        except (TimeoutError, asyncio.TimeoutError) as error:  # two classes before Python 3.11
            forget_frames(error)
            if self.warm_start.is_opening(location):
                raise Refused("busy", "the sidecar is starting and still opens the table") from None
            work = "the table is still being opened" if self.tables.is_opening(location) else "it is worked out"
            why = f"no answer within {self.settings.request_seconds:g} s; {work} for the next request"
            raise _TooLate(why) from None

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        """Counts a question that is being answered. Raises Refused when they are too many."""
        if self._running >= self.settings.max_requests:
            raise Refused("busy", f"{self._running} requests are being answered")
        self._running += 1
        self._asked += 1
        try:
            yield
        finally:
            self._running -= 1

    def _refuse_when_stopping(self) -> None:
        if self.stopping:
            raise Refused("stopping", "the sidecar is stopping")

    def _patience(self, location: AllowedTable) -> float:
        """Seconds for an answer: fewer while the table is opened at the start, because another sidecar may answer."""
        seconds = self.settings.request_seconds
        return seconds / _STARTING_SHARE if self.warm_start.is_opening(location) else seconds

    async def explain(self, report_id: str | None) -> str:
        """The IDL's explain. Raises Refused."""
        report = self.records.reports.called(report_id or "")
        if not isinstance(report, AnswerReport):
            if report:
                return list_of_reports(report)
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
        report = self.records.reports.get(report_id)
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
                "turned_off": len(self.records.turned_off),
                "roots_unreadable": len(causes),
                **({"roots": dict(causes)} if names_roots and causes else {}),
            }
        )

    async def version(self) -> str:
        """The IDL's version."""
        return json.dumps({"sargo": VERSION, "protocol": PROTOCOL_VERSION})

    def close(self) -> None:
        """Stop the threads and the audits, and close the log of filters."""
        self.records.close()
        self.tables.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _help_text(helping: Awaitable[str], seconds: float) -> str:
    """What would help, or why that is not known."""
    try:
        return await asyncio.wait_for(helping, seconds)
    except PlanningFailed as error:
        return f"What would help was not asked: {error.why}."
    except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
        return "What would help is not known yet: data files are being read. Ask again."


def _texts(because: str, answer: Answer) -> list[str]:
    """Why not more is skipped, for a reply."""
    texts = ([because] if because else []) + [text for text in answer.reasons if text != because]
    return [cut_text(text, MAX_REASON_LENGTH) for text in texts[:_MAX_REASONS]]
