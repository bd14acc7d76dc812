"""A session of Spark 3.5 with a release of Hudi and Sargo's extension: queries with it, and the truth without it.

asked     the query as a user runs it, through the extension: Hudi's own settings are their defaults
plain     the same with the extension off
whole     with the extension off and without Hudi's own skipping: the truth, since a bundle may read the table of
          another release differently than the release that wrote it
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tests.conformance.full_scan import elements, first_line
from tests.handler.spark.extension.sessions import files_read, scans
from tests.jvm_flags import SHORT_LIVED
from tests.tables.releases import RELEASES, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEY = "_hoodie_record_key"
#: So many predicates are columns of one scan.
AT_ONCE = 80
#: How a query fails in Spark, and in Hudi's reader.
FAILURES = (PySparkException, Py4JJavaError)
PLAIN = {"spark.sargo.enabled": "false"}
_WHOLE = {**PLAIN, "hoodie.enable.data.skipping": "false"}


_SAYS = re.compile(r"Sargo: (\d+ of \d+ file slices|nothing skipped \([^)]*\))")
_COUNTS = re.compile(r"(\d+) of (\d+) file slices")


@dataclass(frozen=True)
class Answer:
    """What a query gave.

    rows      the record keys in order; None where it failed
    groups    the file groups that its scans list
    says      what the scans say of the extension: "3 of 14 file slices"; "" where they say nothing
    files     that the scans list, without log files
    failure   the first line of the error
    """

    rows: tuple[str, ...] | None
    groups: frozenset[str] = frozenset()
    says: str = ""
    files: int = 0
    failure: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether the sidecar's answer decides what a scan lists."""
        return _COUNTS.search(self.says) is not None

    @property
    def skips(self) -> bool:
        """Whether it skips a file slice."""
        return any(kept != listed for kept, listed in _COUNTS.findall(self.says))


class ExtensionSession:
    """Tables of the catalog of one session.

    ``extension``: the jar that it starts with; `register` brings it later. ``flags``: of the JVM.
    """

    def __init__(
        self, hudi: str, home: Path, extension: Path | None = None, flags: Sequence[str] = SHORT_LIVED
    ) -> None:
        self.hudi = hudi
        self.spark: SparkSession = session(RELEASES[hudi], home, flags, extension)
        self.spark.conf.set("spark.sql.ansi.enabled", "false")

    @contextmanager
    def _whole(self, table: str) -> Iterator[None]:
        """Hudi takes settings for options when the catalog makes the relation of a table, which it keeps."""
        try:
            with self.settings(_WHOLE):
                self.spark.catalog.refreshTable(table)
                yield
        finally:
            self.spark.catalog.refreshTable(table)

    @contextmanager
    def settings(self, settings: Mapping[str, str]) -> Iterator[None]:
        before = {name: self.spark.conf.get(name, None) for name in settings}
        for name, value in settings.items():
            self.spark.conf.set(name, value)
        try:
            yield
        finally:
            for name, old in before.items():
                if old is None:
                    self.spark.conf.unset(name)
                else:
                    self.spark.conf.set(name, old)

    def asked(self, table: str, sql: str) -> Answer:
        frame = None
        try:
            frame = self._frame(table, sql)
            rows = tuple(sorted(row[0] for row in frame.collect()))
        except FAILURES as error:
            return Answer(None, failure=first_line(error))
        nodes = scans(frame)
        return Answer(rows, _groups(nodes), said(nodes), files_read(frame))

    def plain(self, table: str, sql: str) -> Answer:
        with self.settings(PLAIN):
            return self.asked(table, sql)

    def whole(self, table: str, sql: str) -> Answer:
        """The groups are those that Hudi's pruning of partitions leaves."""
        with self._whole(table):
            return self.asked(table, sql)

    def fails_without(self, statement: str) -> bool:
        """Whether a statement fails with the extension off."""
        with self.settings(PLAIN):
            try:
                self.spark.sql(statement).collect()
            except FAILURES:
                return True
        return False

    def truth(self, table: str, predicates: Iterable[str]) -> dict[str, tuple[str, ...] | None]:
        """SQL -> the record keys of its rows in the order of keys; None where Spark or Hudi's reader fails on it."""
        found: dict[str, tuple[str, ...] | None] = {}
        waiting = list(predicates)
        with self._whole(table):
            for start in range(0, len(waiting), AT_ONCE):
                found |= self._truth(table, waiting[start : start + AT_ONCE])
        return found

    def _truth(self, table: str, predicates: list[str]) -> dict[str, tuple[str, ...] | None]:
        columns = [F.expr(f"({sql}) is true").alias(f"c{n}") for n, sql in enumerate(predicates)]
        try:
            rows = self.spark.table(table).select(KEY, *columns).collect()
        except FAILURES:
            if len(predicates) == 1:
                return {predicates[0]: None}
            half = len(predicates) // 2
            return self._truth(table, predicates[:half]) | self._truth(table, predicates[half:])
        return {sql: tuple(sorted(row[0] for row in rows if row[n + 1])) for n, sql in enumerate(predicates)}

    def _frame(self, table: str, sql: str) -> DataFrame:
        return self.spark.sql(f"SELECT {KEY} FROM {table} WHERE {sql}")


def said(nodes: Iterable[Any]) -> str:
    """What scans say of the extension."""
    return ", ".join(_SAYS.findall(" ".join(str(node.nodeName()) for node in nodes)))


def _groups(nodes: Iterable[Any]) -> frozenset[str]:
    """The file groups whose slices these scans list: each is listed by one file, `<id>_...` or `.<id>_...`."""
    names = (
        file.getPath().getName()
        for node in nodes
        for directory in node.selectedPartitions()
        for file in elements(directory.files())
    )
    return frozenset(name.lstrip(".").partition("_")[0] for name in names)
