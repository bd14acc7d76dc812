"""A view: a table as it was at one reading of its timeline, its files, and what was worked out of both.

A view never changes what it says: its plans and the places of listed names can be remembered for as long as it is the
view of that table. Plans that failed to read something are not remembered, for the next try may succeed.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.language.expression import Literal, Unknown, walk
from handler.planning.hive_filter import read_hive_filter
from handler.planning.plan import Plan
from handler.planning.prune import prune
from handler.sidecar.names import ListedNames
from handler.sidecar.request_matching import MatchedNames, Verdicts, ViewFiles
from handler.sidecar.sizes import bytes_of
from handler.sql.parsing import Engine
from index_store.opened_table import OpenTable

__all__ = ["Decision", "Question", "View"]

#: How many plans and lists a view remembers, and the bytes of lists at most.
_PLANS, _LISTS, _LIST_BYTES = 64, 64, 64 << 20
#: What a remembered plan holds for each slice: its masks, outcomes and verdicts.
_PLAN_BYTES = 16


@dataclass(frozen=True, slots=True)
class Question:
    """What a plan depends on beside the view: the filter as Base64 text, whose rules hold, the session's zone or None.

    ``key`` stands for all of them.
    """

    filter: bytes
    engine: Engine
    time_zone: str | None

    @property
    def key(self) -> bytes:
        parts = (self.engine.encode(), (self.time_zone or "").encode(), self.filter)
        return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()


@dataclass(frozen=True, eq=False)
class Decision:
    """A plan in the form that answers are made of.

    is_read        whether the filter could be read
    is_too_large   whether it was left undecided because it has too many parts for so many slices
    skipped        ``(n,) bool``: the slices that are skipped
    verdicts       ``(f + 1,) uint8``: what that says of each file (``ViewFiles.verdicts``)
    """

    plan: Plan
    is_read: bool
    is_too_large: bool
    skipped: npt.NDArray[np.bool_]
    verdicts: Verdicts

    @property
    def reasons(self) -> list[str]:
        return [reason.text for reason in self.plan.reasons]

    @property
    def is_lasting(self) -> bool:
        return not any(reason.scope == "store" for reason in self.plan.reasons)


class View:
    """A view of an open table. Making plans is not for two threads at once; everything else is."""

    def __init__(self, opened: OpenTable, as_of: str | None = None, most_evaluations: int = 1 << 62) -> None:
        """``most_evaluations``: parts of a filter times slices. Raises TableError when the slices cannot be listed."""
        self.opened = opened
        self.most_evaluations = most_evaluations
        self.as_of = as_of
        self.table_type = opened.table.table_type
        self.version = opened.table.version
        slices = opened.at(as_of).slices
        self.instant = slices.instant
        self.files = ViewFiles.of(slices)
        self._plans: OrderedDict[bytes, tuple[Question, Decision]] = OrderedDict()
        self._lists: OrderedDict[bytes, MatchedNames] = OrderedDict()
        self._lock = threading.Lock()
        self._weighed = self._read_so_far()
        self._table_bytes = bytes_of(self.opened)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the view holds: what was read of the table, its file names, plans and lists."""
        with self._lock:
            remembered = self._list_bytes() + len(self._plans) * len(self.files.slices) * _PLAN_BYTES
        return self._table_bytes + self.files.nbytes + remembered

    def _read_so_far(self) -> int:
        """How much was asked of the table's indexes: what it holds grows with that only."""
        return sum(len(known.asked) for known in self.opened.at(self.as_of).knowledge)

    # -- plans

    def remembered(self, question: Question) -> Decision | None:
        """The answer to a question that was asked before."""
        key = question.key
        with self._lock:
            found = self._plans.get(key)
            if found is None:
                return None
            self._plans.move_to_end(key)
            return found[1]

    def asked_last(self, most: int) -> list[Question]:
        """The last questions that were answered, so many at most."""
        with self._lock:
            return [question for question, _ in list(self._plans.values())[-most:]]

    def decide(self, question: Question) -> Decision:
        """Which slices a filter skips. Nothing that is wrong with the filter raises: it skips nothing then."""
        is_read = True
        try:
            expression = read_hive_filter(
                question.filter.decode("ascii"), self.opened.table.schema, zone_known=question.time_zone is not None
            )
        except Exception as error:
            is_read = False
            expression = Unknown(f"the filter cannot be read: {type(error).__name__}: {error}")
        parts = sum(not isinstance(node, Literal) for node in walk(expression))
        is_too_large = parts * len(self.files.slices) > self.most_evaluations
        if is_too_large:
            expression = Unknown(
                f"{parts} parts of the filter on {len(self.files.slices)} file slices: more than max_evaluations"
            )
        plan = prune(self.opened, expression, question.engine, self.as_of, time_zone=question.time_zone or "UTC")
        skipped = np.ones(len(plan.slices), np.bool_)
        skipped[plan.kept_rows] = False
        full = np.zeros(len(plan.slices), np.bool_)
        if plan.explanation is not None:
            full[plan.explanation.evaluation.fully_matched_rows] = True
        found = Decision(plan, is_read, is_too_large, skipped, self.files.verdicts(skipped, full))
        if found.is_lasting:
            with self._lock:
                self._plans[question.key] = question, found
                if len(self._plans) > _PLANS:
                    self._plans.popitem(last=False)
        if self._read_so_far() != self._weighed:
            self._weighed = self._read_so_far()
            self._table_bytes = bytes_of(self.opened)
        return found

    # -- lists of names

    def remembers(self, listed: ListedNames) -> bool:
        """Whether the list was matched before."""
        with self._lock:
            return listed.key in self._lists

    def match(self, listed: ListedNames) -> MatchedNames:
        """The list held against ``files``. Raises Refused."""
        with self._lock:
            found = self._lists.get(listed.key)
            if found is not None:
                self._lists.move_to_end(listed.key)
                return found
        found = self.files.match(listed, self.table_type)
        with self._lock:
            self._lists[listed.key] = found
            while len(self._lists) > 1 and (len(self._lists) > _LISTS or self._list_bytes() > _LIST_BYTES):
                self._lists.popitem(last=False)
        return found

    def _list_bytes(self) -> int:
        return sum(matched.nbytes for matched in self._lists.values())
