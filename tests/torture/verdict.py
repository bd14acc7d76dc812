"""What a damaged table answers, held against the truth.

    error       opening the table or listing its slices raised TableError or StatsError
    noticed     nothing is wrong in the answer, and it has a reason that the undamaged table does not have
    same        nothing is wrong in the answer, and no reason says more than before
    lost        a file slice is neither kept nor skipped, or lacks a file, or is skipped although it holds a match
    claimed     a slice counts as fully matched in which a row does not match
    extra       a slice or a file counts that is not part of the table, and no reason says so
    crash       an exception that is no SargoError

The last four are faults. A loss is one whatever reason stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluator.language.errors import SargoError
from handler import Plan, prune
from index_store.indexed_table import IndexedTable
from index_store.opened_table import OpenTable
from index_store.table.file_slices import FileSlice
from tests.torture.memory_storage import MemoryStorage
from tests.torture.tables import Query, Subject

__all__ = ["FAULTS", "Judge", "Verdict"]

FAULTS = ("lost", "claimed", "extra", "crash")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happened, and for a fault what exactly."""

    kind: str
    why: str = ""


Slices = frozenset[FileSlice]


class Judge:
    """Plans the queries of a table, undamaged first."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.storage = MemoryStorage(dict(subject.files))
        plans = [self._plan(table, query) for table in [self._open()] for query in subject.queries]
        self.truth: dict[str | None, Slices] = {
            query.as_of: frozenset(plan.slices) for query, plan in zip(subject.queries, plans, strict=True)
        }
        self.reasons = frozenset(reason.text for plan in plans for reason in plan.reasons)
        self.kept = {query: frozenset(plan.kept) for query, plan in zip(subject.queries, plans, strict=True)}
        for query, plan in zip(subject.queries, plans, strict=True):
            fault = self._fault(query, plan)
            if fault is not None:
                raise AssertionError(f"the undamaged table is wrong: {fault}")

    @property
    def files(self) -> dict[str, bytes]:
        """The metadata files that the plans read: damage to any other changes nothing."""
        return {
            path: self.subject.files[path]
            for path in sorted(self.storage.read_paths)
            if path.startswith(".hoodie/") and path in self.subject.files
        }

    def judge(self, path: str, data: bytes) -> Verdict:
        """The verdict on the table with other bytes in one file."""
        self.storage.replaced[path] = data
        try:
            table = self._open()
            noticed = False
            for query in self.subject.queries:
                plan = self._plan(table, query)
                fault = self._fault(query, plan)
                if fault is not None:
                    return fault
                noticed = noticed or any(reason.text not in self.reasons for reason in plan.reasons)
            return Verdict("noticed" if noticed else "same")
        except SargoError:
            return Verdict("error")
        except Exception as error:
            return Verdict("crash", f"{type(error).__name__}: {error}")
        finally:
            del self.storage.replaced[path]

    def _open(self) -> OpenTable:
        return OpenTable(IndexedTable(self.storage), None)

    def _plan(self, table: OpenTable, query: Query) -> Plan:
        return prune(table, query.filter, "spark", as_of=query.as_of, time_zone="UTC")

    def _fault(self, query: Query, plan: Plan) -> Verdict | None:
        truth = self.truth.get(query.as_of) if hasattr(self, "truth") else frozenset(plan.slices)
        assert truth is not None
        listed = frozenset(plan.slices)
        if listed != truth:
            here = {one.file_id: one for one in listed}
            for one in sorted(truth - listed, key=lambda one: one.file_id):
                files = set(here[one.file_id].files) if one.file_id in here else set()
                if not files >= set(one.files):
                    return Verdict("lost", f"{query.text} ({query.as_of}): {_names(set(one.files) - files)} not listed")
            if _files(listed) >= _files(truth) and any(reason.text not in self.reasons for reason in plan.reasons):
                return None
            return Verdict("extra", f"{query.text} ({query.as_of}): {_names(_files(listed) - _files(truth))} listed")
        lost = {one.file_id for one in plan.skipped} & query.matching
        if lost:
            return Verdict("lost", f"{query.text} ({query.as_of}): {', '.join(sorted(lost))} skipped")
        if query.full is not None:
            wrong = {one.file_id for one in plan.fully_matched} - query.full
            if wrong:
                return Verdict("claimed", f"{query.text} ({query.as_of}): {', '.join(sorted(wrong))} fully matched")
        return None


def _files(slices: Iterable[FileSlice]) -> set[str]:
    return {file for one in slices for file in one.files}


def _names(files: Iterable[str]) -> str:
    found = sorted(files)
    return f"{found[0]} and {len(found) - 1} more" if len(found) > 1 else "".join(found)
