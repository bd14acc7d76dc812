"""Which files a scan reads: the view that it sees, the slices that its filter skips, and the rest as columns.

    the client sees                                     the answer is of
    --------------------------------------------------  -----------------------------------------------------
    the state of the timeline that the view shows       that view
    another state                                       the view of a new look at the table, if it shows that state
    a newer one than the query's first scan             the view of the first scan
    any other                                           none: the client lists by itself (``Refused``, "instant")

A state is the newest completed instant and the number of completed instants in the active timeline: an instant that was
requested before the newest one may complete after it.

Where the filter cannot be evaluated in time, its slices are all kept: the listing alone is an answer. A table whose
files are not certain is refused (``listed_files``).
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from evaluator.evaluation.bit_sets import mask_of_bits
from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from handler.sidecar.decisions.planning_process import PlanningFailed
from handler.sidecar.idl import MAX_UNKNOWN_PARTITIONS, Refused
from handler.sidecar.listed_files import ListedFiles, NotListed
from handler.sidecar.names import ListedNames
from handler.sidecar.plans.encoding import EncodedFiles, encode_files
from handler.sidecar.plans.query_views import QueryViews
from handler.sidecar.recording.answers import Answer, why_nothing
from handler.sidecar.recording.audit import SkippedFile
from handler.sidecar.recording.records import Records
from handler.sidecar.request_matching import Mask
from handler.sidecar.requests import PlanQuestion
from handler.sidecar.settings import Settings
from handler.sidecar.tables import Tables, TableUnavailable
from handler.sidecar.view import FilterDecision, View

__all__ = ["MAX_REPLY_BYTES", "PlannedFiles", "Plans"]

#: The columns of a reply, whose frame may have 64 MiB.
MAX_REPLY_BYTES = 60 << 20
#: The part of the time that is left which a filter may take; the rest is for the reply.
_SHARE_OF_FILTER = 0.6
#: The part of ``cache_bytes`` for views that only running queries hold.
_SHARE_OF_QUERIES = 4


@frozen(slots=False, kw_only=True)
class PlannedFiles:
    """An answer.

    decision       None when the filter was not evaluated, or there is none
    why            the reason for that
    may_skip       ``(f,) bool``: the view's files that the plan skips; ``skipped`` and ``full`` count slices
    listed         the files of the partitions that were asked for, and how many of them are not in the answer
    unknown        the partitions that were asked for and that the table does not have
    """

    view: View
    files: EncodedFiles
    decision: FilterDecision | None
    why: str
    may_skip: Mask
    skipped: int
    full: int
    listed: int
    not_read: int
    unknown: tuple[str, ...]


class Plans:
    """Answers the questions of plan(). Used on the event loop; ``threads`` encode the replies."""

    def __init__(self, settings: Settings, tables: Tables, records: Records, threads: ThreadPoolExecutor) -> None:
        self._settings = settings
        self._tables = tables
        self._records = records
        self._threads = threads
        self._queries = QueryViews(
            settings.cache_bytes // _SHARE_OF_QUERIES, lambda table, view: tables.latest(table) is view
        )

    @property
    def query_bytes(self) -> int:
        """The bytes of memory of views that only running queries hold."""
        return self._queries.nbytes

    async def answer(self, question: PlanQuestion, ends: float) -> PlannedFiles:
        """``ends``: when the answer is due, on the clock of ``time.perf_counter``. Raises Refused, and TimeoutError."""
        try:
            view = await asyncio.wait_for(self._view(question), _left(ends))
            listed = await asyncio.wait_for(self._tables.listed_files(question.location, view), _left(ends))
            chosen, unknown = await self._chosen(question, listed)
        except NotListed as error:
            raise Refused("listing", error.why) from error
        except TableUnavailable as error:
            raise Refused("listing", f"the table cannot be read: {error.why}") from error
        except SargoError as error:
            raise Refused("listing", f"its metadata table cannot be read: {error}") from error
        self._queries.keep(question.query_id, question.location.path, view)
        decision, why = await self._decide(question, view, ends)
        equal = ("planned", id(view), id(decision), _key(question.partitions), question.query_type, why)

        def work() -> PlannedFiles:
            return _planned(question, view, listed, chosen, unknown, decision, why, self._settings)

        together = self._tables.together(question.location, equal, work, self._threads)
        return await asyncio.wait_for(together, _left(ends))

    def to_answer(self, question: PlanQuestion, planned: PlannedFiles) -> Answer:
        """What is recorded of it."""
        decision, because = planned.decision, ""
        if decision is None:
            because = "time" if question.has_filter else "no_filter"
        elif not planned.not_read:
            because = why_nothing(decision)
        elif self._settings.shadow:
            because = "shadow"
        audited: tuple[SkippedFile, ...] = ()
        if decision is not None and planned.not_read:
            audited = self._records.choose_audited(
                question,
                planned.view,
                decision,
                lambda: np.flatnonzero(planned.may_skip).astype(np.int32),
                has_logs=True,
            )
        reasons = () if decision is None else decision.planned.reasons
        return Answer(
            because=because,
            listed=planned.listed,
            instant=planned.view.instant,
            audited=audited,
            covered=planned.listed,
            skipped=0 if because else planned.not_read,
            could_skip=planned.not_read,
            full=planned.full,
            reasons=(*question.notes, *((planned.why,) if planned.why else ()), *reasons),
            view=planned.view,
            decision=decision,
        )

    async def _view(self, question: PlanQuestion) -> View:
        kept = self._queries.get(question.query_id, question.location.path)
        if kept is not None and (kept.instant or "") <= question.instant:
            return kept
        arrived = self._tables.now()
        view = (await self._tables.view(question.location)).view
        if not _shows(view, question):
            view = (await self._tables.view(question.location, newer_than=arrived)).view
        if not _shows(view, question):
            raise Refused("instant", f"the sidecar sees the table at {view.instant}, and another timeline than the job")
        return view

    async def _chosen(self, question: PlanQuestion, listed: ListedFiles) -> tuple[Mask | None, tuple[str, ...]]:
        """``(n,) bool``: the slices of the partitions that are asked for; None: all. And those that are unknown."""
        asked = question.partitions
        if asked is None:
            return None, ()

        def choose() -> tuple[Mask, tuple[str, ...]]:
            names = _names(asked)
            unknown = listed.unknown(names) if question.accepts_unknown else []
            if not 0 < len(unknown) <= MAX_UNKNOWN_PARTITIONS:
                return listed.of_partitions(names), ()
            left_out = set(unknown)
            return listed.of_partitions([name for name in names if name not in left_out]), tuple(unknown)

        return await asyncio.get_running_loop().run_in_executor(self._threads, choose)

    async def _decide(self, question: PlanQuestion, view: View, ends: float) -> tuple[FilterDecision | None, str]:
        """The plan for the filter; or None, and why there is none."""
        if not question.has_filter:
            return None, ""
        deciding = self._tables.decide(question.location, view, question.query)
        try:
            return await asyncio.wait_for(deciding, _SHARE_OF_FILTER * _left(ends)), ""
        except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
            return None, "the filter takes too long; it is worked out for the next request"
        except PlanningFailed as error:
            return None, error.why


def _planned(
    question: PlanQuestion,
    view: View,
    listed: ListedFiles,
    chosen: Mask | None,
    unknown: tuple[str, ...],
    decision: FilterDecision | None,
    why: str,
    settings: Settings,
) -> PlannedFiles:
    """The columns of the answer. Raises Refused when they are too large."""
    files, n = view.files, len(view.files.slices)
    asked = np.ones(n, np.bool_) if chosen is None else chosen
    skipped = np.zeros(n, np.bool_) if decision is None else mask_of_bits(decision.skipped) & asked
    full = np.zeros(n, np.bool_) if decision is None else mask_of_bits(decision.planned.full) & asked & ~skipped
    only_base = question.query_type == "read_optimized"
    encoded = encode_files(files, listed, asked if settings.shadow else asked & ~skipped, only_base=only_base)
    if encoded.file_count > settings.max_names or encoded.nbytes > MAX_REPLY_BYTES:
        raise Refused("limit", f"{encoded.file_count} files do not fit into a reply")
    counted = files.is_base if only_base else np.ones(len(files.slice_of), np.bool_)
    may_skip = skipped[files.slice_of] & counted
    return PlannedFiles(
        view=view,
        files=encoded,
        decision=decision,
        why=why,
        may_skip=may_skip,
        skipped=int(np.count_nonzero(skipped)),
        full=int(np.count_nonzero(full)),
        listed=int(np.count_nonzero(asked[files.slice_of] & counted)),
        not_read=int(np.count_nonzero(may_skip)),
        unknown=unknown,
    )


def _names(asked: ListedNames) -> list[str]:
    """The partitions of a question. Raises Refused."""
    if asked.count == 1 and not len(asked.text):
        return [""]
    ends = asked.ends  # which checks them
    try:
        return [name.decode() for name in bytes(asked.text).split(b"\n")] if len(ends) else []
    except UnicodeDecodeError as error:
        raise Refused("request", "a partition is not UTF-8 text") from error


def _key(asked: ListedNames | None) -> bytes:
    return b"" if asked is None else asked.key


def _shows(view: View, question: PlanQuestion) -> bool:
    """Whether the view shows the state of the timeline that the client sees."""
    return view.instant == question.instant and len(view.opened.table.timeline.writes) == question.instant_count


def _left(ends: float) -> float:
    return max(0.0, ends - time.perf_counter())
