"""The scans of writes, and queries after writes that the sidecar has not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from handler.sidecar.settings import Settings
from tests.handler.sidecar.conftest import Running
from tests.handler.spark.extension.telling import Outcome, Stories

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["unseen", "writes"]

_COLUMNS = "id, i, s, st, t, d"
_CHANGES = {
    "UPDATE": "UPDATE {} SET s = 'upd' WHERE i BETWEEN 200 AND 205",
    "DELETE": "DELETE FROM {} WHERE i BETWEEN 300 AND 310 AND s <> 's1'",
    "MERGE": "MERGE INTO {} t USING (SELECT id, i, s, st, t, d, ts + 5 ts, p FROM c_mor WHERE i < 5) n "
    "ON t.id = n.id WHEN MATCHED AND n.i < 3 THEN UPDATE SET s = 'merged', ts = n.ts WHEN MATCHED THEN DELETE",
}
_CHANGED = "i BETWEEN 200 AND 310 OR s IN ('upd', 'merged')"
_COMPACTING = {"hoodie__compact__inline": "true", "hoodie__compact__inline__max__delta__commits": "1"}
_CLUSTERING = {
    "hoodie__clustering__inline": "true",
    "hoodie__clustering__inline__max__commits": "1",
    "hoodie__clustering__plan__strategy__sort__columns": "s",
}


def writes(stories: Stories) -> None:
    """Two equal tables are changed, one with the extension and one without. They are the same afterwards.

    A change that fails is one that fails without the extension, too.
    """
    spark = stories.spark

    def failure(table: str, text: str) -> str:
        try:
            spark.sql(text.format(table))
        except Exception as error:
            return type(error).__name__
        return ""

    def changed(name: str, text: str) -> Outcome:
        failed = failure(f"{name}_with", text)
        with stories.set(spark__sargo__enabled="false"):
            failed_without = failure(f"{name}_without", text)
            if failed or failed_without:
                return {"equal": failed == failed_without, "failed": failed or failed_without}
            expected = stories.rows_of(spark.sql(f"SELECT {_COLUMNS} FROM {name}_without"))
            found = stories.rows_of(spark.sql(f"SELECT {_COLUMNS} FROM {name}_with"))
            rows = stories.rows_of(spark.sql(f"SELECT {_COLUMNS} FROM {name}_without WHERE {_CHANGED}"))
        read = stories.rows_of(spark.sql(f"SELECT {_COLUMNS} FROM {name}_with WHERE {_CHANGED}"))
        return {"equal": found == expected and read == rows, "rows": len(found)}

    for name, mor in (("w_cow", False), ("w_mor", True)):
        for table in (f"{name}_with", f"{name}_without"):
            stories.make(table, mor=mor)
            spark.sql(f"CREATE TABLE {table} USING hudi LOCATION '{stories.work}/{table}'")
        for title, text in _CHANGES.items():
            stories.tell(f"{title} of {name}", lambda name=name, text=text: changed(name, text))  # type: ignore[misc]


def unseen(stories: Stories) -> None:
    """The sidecar's view of the tables is never refreshed after its first question."""
    for name, mor in (("u_cow", False), ("u_mor", True)):
        stories.make(name, mor=mor)
        settings = Settings(port=0, metrics_port=-1, roots=(str(stories.work),), refresh_seconds=86400)
        with Running(settings) as sidecar, stories.set(spark__sargo__sidecar__address=f"127.0.0.1:{sidecar.port}"):
            _changes(stories, name, mor)


def _changes(stories: Stories, name: str, mor: bool) -> None:
    moved = stories.rows(300, 305, 9).selectExpr("id", "7 i", "s", "st", "t", "d", "ts", "p")
    changes: dict[str, tuple[str, DataFrame, dict[str, str]]] = {
        "an update": ("upsert", moved, {}),
        "a delete": ("delete", stories.rows(0, 5, 9), {}),
        "an insert": ("insert", stories.rows(400, 405, 9), {}),
        "a compaction": ("upsert", stories.rows(20, 22, 9), _COMPACTING),
        "a clustering": ("bulk_insert", stories.rows(500, 502, 9), _CLUSTERING),
    }

    def frame() -> DataFrame:
        rows = stories.spark.read.format("hudi").load(f"{stories.work}/{name}")
        return rows.where("i = 7 OR i > 402 OR i = 301")

    story: Callable[[], Outcome] = lambda: stories.compare(frame)  # noqa: E731
    stories.tell(f"before the changes of {name}", story)
    for title, (operation, rows, more) in changes.items():
        if mor or more is not _COMPACTING:
            stories.write(name, rows, operation, mor=mor, **more)
            stories.tell(f"{title} of {name}", story)
