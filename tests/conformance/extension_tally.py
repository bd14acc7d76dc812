"""What came of the queries through Sargo's extension: how many were asked, and which were wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.conformance.extension_session import Answer, ExtensionSession

_DATE = re.compile(r"\bdate '([+-]?\d+-\d+-\d+)", re.IGNORECASE)


def _has_unsent_date(sql: str) -> bool:
    """Whether a constant is a date that Spark's form of a condition does not hold."""
    return any(not "1582-10-15" <= date <= "9999-12-31" for date in _DATE.findall(sql))


@dataclass
class Tally:
    """Counts of queries, but for ``skipped``.

    asked            through the extension
    answered         a scan says how many slices the sidecar left
    equal            read exactly the file groups that prune keeps and Hudi's pruning of partitions leaves
    fewer            read some of them only
    unsent           read others, too: a part of the condition has no exact form, and is not sent
    skipped          file groups that were not read, of all these queries
    unseen           of those asked, after changes that the sidecar has not seen: their files are not counted above
    unseen_skipping  of them, skip a file slice
    of_reader        give other rows than a scan without a filter, and the same with the extension off
    of_hudi          are not answered, and lose rows by Hudi's own skipping, with the extension and without it
    failing          fail with the extension and without it
    unchanged        statements that should have changed a table, and fail with the extension and without it
    uncompared       give rows with the extension, but fail in a scan of the whole table
    wrong            query: why
    """

    asked: int = 0
    answered: int = 0
    equal: int = 0
    fewer: int = 0
    unsent: int = 0
    skipped: int = 0
    unseen: int = 0
    unseen_skipping: int = 0
    of_reader: int = 0
    of_hudi: int = 0
    failing: int = 0
    unchanged: int = 0
    uncompared: int = 0
    wrong: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"{self.asked} queries, {len(self.wrong)} wrong. {self.answered} answered. Files: {self.equal} as prune, "
            f"{self.fewer} fewer, {self.unsent} more by a date that is not sent; {self.skipped} file groups skipped. "
            f"{self.unseen} after changes that the sidecar has not seen, of which {self.unseen_skipping} skip. "
            f"With the extension and without it {self.failing} fail, {self.of_reader} give other rows than a scan "
            f"without a filter, {self.of_hudi} lose rows by Hudi's own skipping, {self.unchanged} changes "
            f"fail. {self.uncompared} not compared"
        )

    def rows(
        self, what: str, sql: str, answer: Answer, truth: tuple[str, ...] | None, session: ExtensionSession, table: str
    ) -> bool:
        """Whether there are rows. They are held to those of a scan without a filter, or else to Hudi's of the query."""
        self.asked += 1
        self.answered += answer.is_answered
        if answer.rows is None:
            if session.plain(table, sql).rows is None:
                self.failing += 1
            else:
                self.wrong[f"{what}: {sql}"] = f"fails with the extension alone: {answer.failure}"
            return False
        if answer.rows == truth:
            return True
        whole = session.whole(table, sql).rows
        if whole is None:
            self.uncompared += 1
        elif answer.rows == whole:
            self.of_reader += truth is not None
        elif not answer.is_answered and answer.rows == session.plain(table, sql).rows:
            self.of_hudi += 1
        else:
            lost, others = Counter(whole) - Counter(answer.rows), Counter(answer.rows) - Counter(whole)
            self.wrong[f"{what}: {sql}"] = (
                f"{lost.total()} rows are lost, {others.total()} are others ({answer.says or 'not answered'})"
            )
        return True

    def files(
        self,
        what: str,
        sql: str,
        answer: Answer,
        kept: frozenset[str],
        count: int,
        partitions: Callable[[], frozenset[str]],
    ) -> None:
        """``kept``: what prune keeps of ``count`` file groups. ``partitions``: what Hudi's pruning by paths leaves."""
        self.skipped += count - len(answer.groups)
        expected = kept if answer.groups == kept else kept & partitions()
        if answer.groups == expected:
            self.equal += 1
        elif answer.groups < expected:
            self.fewer += 1
        elif answer.groups > expected and _has_unsent_date(sql):
            self.unsent += 1
        else:
            more = len(answer.groups - expected)
            self.wrong[f"{what}, files: {sql}"] = f"{more} file groups are read that prune skips ({answer.says})"
        if answer.says and not answer.is_answered:
            self.wrong[f"{what}, no answer: {sql}"] = answer.says
