"""Which of the listed names may be skipped: the view, the plan for the filter, and the names of its slices.

step      module                          what it does
-------   -----------------------------   ------------------------------------------------------------------
view      ``tables``                      the table at its latest instant, or as of an older one
decide    ``view``, ``planning.prune``    the slices that the filter skips, from the cache for a known filter
answer    ``request_matching``            the listed names that may be skipped, as packed bits

A view remembers the answers that it gave: a question with the same list, filter and query type takes no step again.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bitarray import bitarray

from evaluator.language.records import frozen
from handler.planning.engine_filters import filter_form
from handler.sidecar.recording.answers import Answer, why_nothing
from handler.sidecar.recording.records import Records
from handler.sidecar.request_matching import SelectedNames, needs_fresh_view
from handler.sidecar.requests import PruneQuestion
from handler.sidecar.settings import Settings
from handler.sidecar.tables import Tables
from handler.sidecar.view import FilterDecision, View

__all__ = ["PrunedNames", "Pruning"]

#: Lists up to these sizes are matched, and hashed, on the event loop: a change of thread would cost more.
_MATCHED_AT_ONCE, _HASHED_AT_ONCE = 64 << 10, 256 << 10


@frozen(slots=False, kw_only=True)
class PrunedNames(Answer):
    """An answer with its bits.

    skip     one bit per listed name, packed; empty when nothing is skipped
    digest   CRC32 of the list of names
    """

    skip: bytes = b""
    digest: int | None = None


class Pruning:
    """Answers the questions of prune(). Used on the event loop; ``threads`` match long lists."""

    def __init__(self, settings: Settings, tables: Tables, records: Records, threads: ThreadPoolExecutor) -> None:
        self._settings = settings
        self._tables = tables
        self._records = records
        self._threads = threads

    async def answer(self, question: PruneQuestion) -> PrunedNames:
        """Raises Refused, TableUnavailable and PlanningFailed."""
        location, listed = question.location, question.listed
        if len(listed.blob) > _HASHED_AT_ONCE:
            await asyncio.get_running_loop().run_in_executor(self._threads, lambda: listed.key)
        arrived = self._tables.now()
        view, note = await self._tables.view(location, question.as_of)
        if needs_fresh_view(view.table_type, view.version, question.query_type):
            view, note = await self._tables.view(location, question.as_of, newer_than=arrived)
        if note is not None:
            question = replace(question, notes=(note, *question.notes))
        decision = await self._tables.decide(location, view, question.query)
        known = view.known_selection(decision, listed, question.query_type)
        if known is not None:
            return self._to_answer(question, view, decision, known)
        is_short = len(listed.blob) <= _MATCHED_AT_ONCE and not listed.compressed

        def select() -> SelectedNames:
            planned = decision.planned
            skipped: bitarray = planned.skipped
            if question.query_type == "read_optimized" and filter_form(question.query.engine) == "spark":
                skipped = skipped & view.files.bits_of_lone_files
            selected = SelectedNames.of(view.match(listed), skipped, planned.full, question.query_type)
            view.keep_selection(decision, listed, question.query_type, selected)
            return selected

        if view.has_match(listed) or (is_short and view.files.matches_quickly(view.table_type)):
            return self._to_answer(question, view, decision, select())
        equal = ("selected", id(view), id(decision), listed.key, question.query_type)
        selected = await self._tables.together(location, equal, select, self._threads)
        return self._to_answer(question, view, decision, selected)

    def known_answer(self, question: PruneQuestion) -> PrunedNames | None:
        """What ``answer`` returns, if the table was looked at lately and the view has answered the same; else None."""
        if question.as_of is not None or len(question.listed.blob) > _HASHED_AT_ONCE:
            return None
        view = self._tables.current_view(question.location)
        if view is None or needs_fresh_view(view.table_type, view.version, question.query_type):
            return None
        decision = view.cached_decision(question.query)
        if decision is None:
            return None
        selected = view.known_selection(decision, question.listed, question.query_type)
        return None if selected is None else self._to_answer(question, view, decision, selected)

    def _to_answer(
        self, question: PruneQuestion, view: View, decision: FilterDecision, selected: SelectedNames
    ) -> PrunedNames:
        matched, could_skip, why = selected.matched, selected.count, selected.why
        because = ""
        if not could_skip:
            because = why_nothing(decision)
            if because == "list" and why and question.query_type == "incremental":
                because = "query_type"
        elif self._settings.shadow:
            because = "shadow"
        audited = (
            self._records.choose_audited(
                question,
                view,
                decision,
                lambda: matched.indices[selected.may_skip],
                has_logs=matched.complete is not None,
            )
            if could_skip
            else ()
        )
        return PrunedNames(
            because=because,
            listed=question.listed.count,
            skip=selected.skip if not because else b"",
            instant=view.instant,
            digest=matched.digest,
            audited=audited,
            covered=matched.covered,
            skipped=0 if because else could_skip,
            could_skip=could_skip,
            full=selected.full,
            reasons=(*question.notes, *(() if why is None else (why,)), *decision.planned.reasons),
            view=view,
            decision=decision,
        )
