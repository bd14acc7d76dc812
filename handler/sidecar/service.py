"""The service: from a request to an answer, room by room, and from every failure to "skip nothing" (contract C4).

    refuse     a wrong protocol version or secret, a table outside of the roots, a malformed or too large request
    view       the table at its latest instant, or as of one
    decide     which slices the filter skips, from memory when it was asked before
    answer     which listed names that allows to skip (``listed.py``), as packed bits

Nothing here decides whether a slice can hold a row: that is the planner's, and which names its answer speaks of is
``listed.py``'s.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import random
import time
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from evaluator.language.semantics import Semantics
from evaluator.language.zones import zone_named
from handler.sidecar.allowed_roots import AllowedRoots, AllowedTable
from handler.sidecar.audit import Audits, SkippedFile, Verdict, choose_slices
from handler.sidecar.filter_log import FilterLog
from handler.sidecar.idl import PruneReply, PruneRequest, Refused, interface
from handler.sidecar.journal import Journal
from handler.sidecar.metrics import BECAUSE, Metrics
from handler.sidecar.names import ListedNames
from handler.sidecar.reports import Report, Reports
from handler.sidecar.request_matching import FULL, QUERY_TYPES, QueryType, names_to_skip, needs_fresh_view
from handler.sidecar.settings import Settings
from handler.sidecar.tables import Tables, TableUnavailable
from handler.sidecar.view import Decision, Question, View
from handler.sql.parsing import Engine
from index_store import FileSlice
from index_store.table.timeline import parse_as_of

__all__ = ["Service"]

_ENGINES: Mapping[str, Engine] = {"hive": "hive", "hive3": "hive3", "hive4": "hive4"}
#: Reasons that travel in a reply; a report has them all.
_MAX_REASONS, _LONGEST_REASON = 8, 300
#: New lists up to this size are looked up on the event loop: a change of thread would cost more.
_SHORT = 256 << 10
_ANSWERING = 2


@dataclass(frozen=True)
class _Asked:
    """A request whose fields are what the IDL says."""

    location: AllowedTable
    question: Question
    query_type: QueryType
    as_of: str | None
    listed: ListedNames
    query_id: str
    user: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Answer:
    """What is sent back and reported. ``could_skip`` counts as if shadow mode were off."""

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
    decision: Decision | None = None


class Service:
    """The calls of the IDL. ``threads`` open tables and make plans; long lists and reports have their own."""

    def __init__(
        self, settings: Settings, roots: AllowedRoots, metrics: Metrics, journal: Journal, threads: ThreadPoolExecutor
    ) -> None:
        self.settings = settings
        self.metrics = metrics
        self.journal = journal
        self.tables = Tables(settings, threads)
        self.reports = Reports(settings.reports)
        self.stopping = False
        self._roots = roots
        self._threads = ThreadPoolExecutor(_ANSWERING, thread_name_prefix="sargo-answer")
        self._reporting = ThreadPoolExecutor(1, thread_name_prefix="sargo-report")
        self._secret = settings.shared_secret()
        self._running = 0
        self._asked = 0
        self._turned_off: set[str] = set()
        self._audits = Audits(self._hear)
        self._filter_log = (
            None
            if settings.filter_log is None
            else FilterLog(settings.filter_log, settings.filter_log_bytes, settings.filter_log_older, journal)
        )

    @property
    def has_secret(self) -> bool:
        return self._secret is not None

    # -- the calls

    async def prune(self, request: PruneRequest) -> PruneReply:
        """The IDL's prune. Raises Refused."""
        started = time.perf_counter()
        asked = self._read(request)
        if self._running >= self.settings.max_requests:
            raise Refused("busy", f"{self._running} requests are being answered")
        self._running += 1
        self._asked += 1
        try:
            answer = await asyncio.wait_for(self._answer(asked), self.settings.request_seconds)
        except Refused:
            raise
        except TimeoutError:
            answer = _Answer(
                "time",
                reasons=(
                    f"no answer within {self.settings.request_seconds:g} s; it is being "
                    "worked out for the next request",
                ),
            )
        except asyncio.TimeoutError:  # another class before Python 3.11
            answer = _Answer("time", reasons=(f"no answer within {self.settings.request_seconds:g} s",))
        except TableUnavailable as error:
            answer = _Answer("table", reasons=(error.why,))
        except Exception as error:
            self.journal.failure("prune", error)
            answer = _Answer("failure", reasons=(f"the sidecar failed: {type(error).__name__}",))
        finally:
            self._running -= 1
        return self._reply(asked, answer, time.perf_counter() - started)

    async def explain(self, report_id: str | None) -> str:
        """The IDL's explain. Raises Refused."""
        report = self.reports.get(report_id or "")
        if report is None:
            raise Refused("unknown_report", "there is no such report, or it is too old")
        return await asyncio.get_running_loop().run_in_executor(self._reporting, report.text)

    async def health(self) -> str:
        """The IDL's health."""
        return self.state()

    def state(self) -> str:
        """What health() and /healthz say, as JSON."""
        return json.dumps(
            {
                "status": "stopping" if self.stopping else "ok",
                "asked": self._asked,
                "tables": len(self.tables),
                "cache_bytes": self.tables.nbytes,
                "running": self._running,
                "shadow": self.settings.shadow,
                "turned_off": len(self._turned_off),
            }
        )

    async def version(self) -> str:
        """The IDL's version."""
        return json.dumps({"sargo": version("sargo"), "protocol": interface().PROTOCOL_VERSION})

    # -- reading a request

    def _read(self, request: PruneRequest | None) -> _Asked:
        if request is None or not isinstance(request.protocol_version, int):
            raise Refused("request", "the request is missing or has no protocol version")
        if request.protocol_version != interface().PROTOCOL_VERSION:
            raise Refused("version", f"this sidecar speaks version {interface().PROTOCOL_VERSION} of the protocol")
        self._check_secret(request.secret)
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
        question = Question(bytes(request.filter), _ENGINES[request.engine], zone)
        return _Asked(
            self._roots.locate(request.table),
            question,
            query_type,
            _as_of(request) if query_type == "as_of" else None,
            ListedNames(request.names, bool(request.names_compressed), request.name_count, limits.max_names_bytes),
            (request.query_id or "")[:200],
            (request.user or "")[:200],
            notes,
        )

    def _check_secret(self, given: str | None) -> None:
        if self._secret is None:
            return
        digests = [hashlib.sha256(text).digest() for text in (self._secret, (given or "").encode())]
        if not hmac.compare_digest(*digests):
            raise Refused("secret", "the secret is missing or wrong")

    # -- answering

    async def _answer(self, asked: _Asked) -> _Answer:
        if asked.location.path in self._turned_off:
            return _Answer("audit", reasons=(BECAUSE["audit"],))
        arrived = self.tables.now()
        view = await self.tables.view(asked.location, asked.as_of)
        if needs_fresh_view(view.table_type, view.version, asked.query_type):
            view = await self.tables.view(asked.location, asked.as_of, newer_than=arrived)
        decision = await self.tables.decide(asked.location, view, asked.question)
        if view.remembers(asked.listed) or (len(asked.listed.blob) <= _SHORT and not asked.listed.compressed):
            return self._bits(asked, view, decision)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._bits, asked, view, decision)

    def close(self) -> None:
        """Let go of the threads, the audits and the log of filters."""
        self._audits.close()
        if self._filter_log is not None:
            self._filter_log.close()
        for threads in (self._threads, self._reporting):
            threads.shutdown(wait=False, cancel_futures=True)

    def _bits(self, asked: _Asked, view: View, decision: Decision) -> _Answer:
        matched = view.match(asked.listed)
        verdicts = decision.verdicts.take(matched.places)
        may_skip, why = names_to_skip(decision.skipped, verdicts, matched, asked.query_type)
        could_skip = int(np.count_nonzero(may_skip))
        reasons = (*asked.notes, *(() if why is None else (why,)), *decision.reasons)
        because = ""
        if not could_skip:
            because = (
                "size"
                if decision.is_too_large
                else "filter"
                if decision.plan.explanation is None or not decision.is_read
                else "plan"
                if not decision.skipped.any()
                else "query_type"
                if why and asked.query_type == "incremental"
                else "list"
            )
        elif self.settings.shadow:
            because = "shadow"
        bits = np.packbits(may_skip, bitorder="little").tobytes() if not because else b""
        audited: tuple[SkippedFile, ...] = ()
        if could_skip and random.random() < self.settings.audit_rate:
            audited = tuple(
                self._to_audit(asked, view, decision, item, matched.whole is not None)
                for item in choose_slices(view.files, may_skip, matched.places, self.settings.audit_files)
            )
        return _Answer(
            because,
            bits,
            view.instant,
            matched.digest,
            audited,
            matched.covered,
            0 if because else could_skip,
            could_skip,
            int(np.count_nonzero(verdicts & FULL)),
            reasons,
            decision,
        )

    # -- audits

    def _to_audit(self, asked: _Asked, view: View, decision: Decision, item: FileSlice, has_logs: bool) -> SkippedFile:
        merges = has_logs and asked.query_type != "read_optimized"
        return SkippedFile(
            asked.location.path,
            asked.location.root,
            self.settings.storage_options,
            item.base_file,
            decision.plan.expression,
            view.opened.table.schema,
            Semantics.named(asked.question.engine, asked.question.time_zone or "UTC"),
            self.settings.audit_rows,
            item.log_files if merges else (),
        )

    def _hear(self, file: SkippedFile, verdict: Verdict) -> None:
        """Count a verdict; a wrong skip ends the pruning of its table until the sidecar is started again."""
        self.metrics.audits.labels(verdict).inc()
        if verdict == "failed":
            self._turned_off.add(file.table)
            self.metrics.alarm.set(len(self._turned_off))
            self.journal.say(
                "audit_failed",
                "error",
                table=file.table,
                file=file.path,
                consequence="this table is not pruned any more; keep the file and report it",
            )

    def _reply(self, asked: _Asked, answer: _Answer, seconds: float) -> PruneReply:
        because = BECAUSE[answer.because] if answer.because else ""
        report = Report(
            asked.location.path,
            answer.instant,
            asked.query_id,
            asked.user,
            asked.question.engine,
            asked.query_type,
            asked.listed.count,
            answer.covered,
            answer.skipped,
            answer.could_skip,
            because,
            answer.reasons,
            seconds,
            None if answer.decision is None else weakref.ref(answer.decision),
        )
        self.reports.add(report)
        self._audits.audit(list(answer.audited))
        self._count(asked, answer)
        self.journal.answered(report, answer.because)
        if self._filter_log is not None and answer.decision is not None and answer.decision.is_read:
            self._filter_log.write(asked.location.path, asked.question, asked.listed.count, answer.skipped)
        texts = ([because] if because else []) + [text for text in answer.reasons if text != because]
        reply: PruneReply = interface().PruneReply(
            protocol_version=interface().PROTOCOL_VERSION,
            skip=answer.skip,
            name_count=asked.listed.count,
            instant=answer.instant,
            covered=answer.covered,
            skipped=answer.skipped,
            fully_matched=answer.full,
            report_id=report.id,
            reasons=[text[:_LONGEST_REASON] for text in texts[:_MAX_REASONS]],
            digest=asked.listed.digest if answer.digest is None else answer.digest,
        )
        return reply

    def _count(self, asked: _Asked, answer: _Answer) -> None:
        metrics = self.metrics
        metrics.listed.inc(asked.listed.count)
        metrics.covered.inc(answer.covered)
        metrics.skipped.inc(answer.skipped)
        metrics.could_skip.inc(answer.could_skip)
        metrics.full.inc(answer.full)
        if answer.because:
            metrics.nothing.labels(answer.because).inc()


def _zone(name: str | None) -> tuple[str | None, tuple[str, ...]]:
    """The session's zone, if it is sent and known."""
    if not name:
        return None, ()
    try:
        zone_named(name)
    except (OSError, ValueError, KeyError):
        return None, ("the session's time zone is not known: conditions on timestamps are left undecided",)
    return name, ()


def _as_of(request: PruneRequest) -> str:
    try:
        return parse_as_of(request.instant or "")
    except ValueError as error:
        raise Refused("request", "an as-of query needs an instant (yyyyMMddHHmmssSSS) or a date") from error
