"""Queries through Sargo's extension after changes of a table that the sidecar has not seen.

The sidecar looks at the table once. Then Hudi updates and deletes rows, compacts log files (MERGE_ON_READ) and clusters
the table. After each change the sidecar answers from its first look for a list of files that are newer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from handler import open_table
from handler.sidecar.settings import Settings
from handler.spark.extension.in_process import SidecarThread
from tests.conformance.extension_session import FAILURES, ExtensionSession
from tests.conformance.extension_tally import Tally
from tests.conformance.full_scan import first_line

_SECRET = "of this run"
#: What is done to a table, in this order: title -> SQL. A row gets values of another file group, and one goes.
_CHANGES = {
    "UPDATE": "UPDATE {} SET i = 100, s = 'banana-010' WHERE id = 'k003'",
    "DELETE": "DELETE FROM {} WHERE id = 'k031'",
    "compaction": "CALL run_compaction(op => 'scheduleAndExecute', table => '{}', "
    "options => 'hoodie.compact.inline.max.delta.commits=1')",
    "clustering": "CALL run_clustering(table => '{}')",
}
#: Predicates whose rows these changes change.
_CHANGED = ("i = 100", "s = 'banana-010'", "id = 'k003'", "id = 'k031'", "i in (-250, 100)", "i > 99 and i < 101")
#: How many others are asked after each change.
_OTHERS = 10


def asked_after_changes(
    session: ExtensionSession, name: str, table: str, folder: Path, predicates: list[str], tally: Tally
) -> None:
    """``table``: its name in the catalog. ``folder``: where it is; it is changed."""
    chosen = list(dict.fromkeys((*_CHANGED, *predicates[:_OTHERS])))
    with sidecar_that_looks_once() as asked_there, session.settings(asked_there):
        if not session.asked(table, _CHANGED[0]).is_answered:
            tally.wrong[f"{name}, changes"] = "the sidecar does not answer before them"
            return
        for title, sql in _CHANGES.items():
            if title == "compaction" and not name.endswith("_mor"):
                continue
            if _change(session, name, title, sql.format(table), folder, tally):
                _compare(session, f"{name} after {title}", table, chosen, tally)


@contextmanager
def sidecar_that_looks_once() -> Iterator[dict[str, str]]:
    """The settings that ask it. What is committed after its first look at a table is not known to it."""
    served = SidecarThread(_settings())
    sidecar = served.begin()
    try:
        yield {"spark.sargo.sidecar.address": f"{sidecar.host}:{sidecar.port}", "spark.sargo.secret": _SECRET}
    finally:
        served.end()


def _change(session: ExtensionSession, name: str, title: str, sql: str, folder: Path, tally: Tally) -> bool:
    """Whether the table has changed."""
    before = open_table(folder).at().slices.instant
    try:
        session.spark.sql(sql).collect()
    except FAILURES as error:
        if session.fails_without(sql):
            tally.unchanged += 1
        else:
            tally.wrong[f"{name}, {title}"] = f"fails with the extension alone: {first_line(error)}"
        return False
    if open_table(folder).at().slices.instant == before:
        tally.wrong[f"{name}, {title}"] = "it made no commit"
        return False
    return True


def _compare(session: ExtensionSession, what: str, table: str, predicates: list[str], tally: Tally) -> None:
    truth = session.truth(table, predicates)
    for sql in predicates:
        tally.unseen += 1
        answer = session.asked(table, sql)
        tally.rows(what, sql, answer, truth[sql], session, table)
        if answer.skips:
            tally.unseen_skipping += 1


def _settings() -> Settings:
    given: dict[str, Any] = {"port": 0, "metrics_port": -1, "page": False, "secret": SecretStr(_SECRET)}
    given |= {"request_seconds": 5.0, "drain_seconds": 0.0, "refresh_seconds": 1e9, "log_level": "warning"}
    return Settings.model_construct(**given)
