"""``read`` over tables of real Hudi: slices with log files through Hudi's reader, narrowed to exactly them.

The rows are compared with those of Hudi, of the whole table and without any skipping. ``merged`` is what the scans by
Hudi say of their slices, ``workers`` whether Python workers read some.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from handler import open_table
from handler.spark import read, read_by_join
from tests.handler.spark.extension.sessions import files_read, scans
from tests.handler.spark.extension.telling import Outcome, Stories

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BY_HUDI", "OTHERS", "READS", "reads"]

#: Table, condition, options of Hudi's reader -> what the scans by Hudi are to say, and the files that are read in all.
READS: Mapping[str, tuple[str, str, Mapping[str, str], str, int]] = {
    "all slices": ("mor", "true", {}, "Sargo: 1 of 4 file slices", 4),
    "slices without log files": ("mor", "i BETWEEN 310 AND 320", {}, "", 1),
    "values of log files": ("mor", "i BETWEEN 1100 AND 1109", {}, "Sargo: 1 of 4 file slices", 1),
    "both": ("mor", "i BETWEEN 95 AND 120 OR i > 390", {}, "Sargo: 1 of 4 file slices", 3),
    "no slice": ("mor", "i = -1", {}, "", 0),
    "partitions": ("mor_p", "i BETWEEN 105 AND 120 AND p = 'p1'", {}, "Sargo: 1 of 8 file slices", 1),
    "all partitions": ("mor_p", "p >= 'p0'", {}, "Sargo: 2 of 8 file slices", 8),
    "copied on write": ("cow", "i BETWEEN 100 AND 120", {}, "", 1),
    "the past": ("mor", "i BETWEEN 100 AND 109", {"as.of.instant": "first"}, "", 1),
    "base files alone": ("mor", "i < 150", {"hoodie.datasource.query.type": "read_optimized"}, "", 2),
    "log files alone": ("r_logs", "i >= 100", {}, "Sargo: 2 of 5 file slices", 4),
    "another merge rule": ("r_partial", "i < 200", {}, "Sargo: 1 of 4 file slices", 2),
    "a scheduled compaction": ("r_compacting", "i > 0", {}, "Sargo: 2 of 4 file slices", 4),
}
#: Other stories of ``read``, of which these read slices by Hudi.
BY_HUDI = (
    "a table that is opened once",
    "by the keys of a join",
    "reader hudi",
    "reader hudi, all filters later",
    "reader hudi, the past",
    "reader hudi, base files alone",
)
OTHERS = ("a handle that is older than the table", "files that Hudi does not list", *BY_HUDI)


def reads(stories: Stories) -> None:
    _tables(stories)
    told: dict[str, Callable[[], Outcome]] = {
        f"read: {name}": partial(_by_own, stories, table, condition, options)
        for name, (table, condition, options, _, _) in READS.items()
    }
    told |= {
        "read: a handle that is older than the table": lambda: _older_handle(stories),
        "read: files that Hudi does not list": lambda: _other_files(stories),
        "read: a table that is opened once": lambda: _opened_once(stories),
        "read: by the keys of a join": lambda: _by_join(stories),
        "read: reader hudi": lambda: _reader_hudi(stories, "mor", "i = 1105"),
        "read: reader hudi, all filters later": lambda: _reader_hudi(stories, "mor", None),
        "read: reader hudi, the past": lambda: _reader_hudi(stories, "mor", "i = 105", as_of=stories.first["mor"]),
        "read: reader hudi, base files alone": lambda: _reader_hudi(stories, "mor", "i = 105", query="read_optimized"),
    }
    stories.tell_all(told)


def _tables(stories: Stories) -> None:
    """A slice of log files alone, rows that a custom rule merges, and a compaction that is planned."""
    with stories.set(spark__sargo__enabled="false"):
        stories.make("r_logs", mor=True)
        added = stories.rows(400, 410, 3)
        stories.write("r_logs", added, "upsert", mor=True, hoodie__index__type="INMEMORY")
        stories.make("r_partial", mor=True, **_NOT_NULL)
        stories.make("r_compacting", mor=True)
        spark, compacting = stories.spark, f"{stories.work}/r_compacting"
        spark.sql(f"CALL run_compaction(op => 'schedule', path => '{compacting}')").collect()
        stories.write("r_compacting", stories.rows(105, 107, 4), "upsert", mor=True)
        stories.write("r_compacting", stories.rows(395, 397, 4), "upsert", mor=True)


#: Rows are merged column by column, which no Python worker does.
_NOT_NULL = {
    "hoodie__datasource__write__payload__class": "org.apache.hudi.common.model."
    "OverwriteNonDefaultsWithLatestAvroPayload"
}


def _by_hudi(stories: Stories, table: str, options: Mapping[str, str]) -> DataFrame:
    """The whole table, without any skipping."""
    reader = stories.spark.read.format("hudi").options(**options).option("hoodie.enable.data.skipping", "false")
    return reader.load(f"{stories.work}/{table}")


def _told(stories: Stories, frame: DataFrame, expected: Callable[[], DataFrame]) -> Outcome:
    found = stories.rows_of(frame)
    nodes = [scan.nodeName() for scan in scans(frame)]
    files = files_read(frame)
    with stories.set(spark__sargo__enabled="false"):
        rows = stories.rows_of(expected())
    plan = str(_java(frame).queryExecution().executedPlan())
    return {
        "equal": found == rows,
        "rows": len(found),
        "files": files,
        "merged": [node.partition(", ")[2].strip() for node in nodes if "Sargo" in node],
        "workers": "MapInArrow" in plan,
    }


def _java(frame: DataFrame) -> Any:
    return frame._jdf


def _given(stories: Stories, table: str, options: Mapping[str, str]) -> dict[str, str]:
    return {name: stories.first[table] if value == "first" else value for name, value in options.items()}


def _by_own(stories: Stories, table: str, condition: str, options: Mapping[str, str]) -> Outcome:
    given = _given(stories, table, options)
    frame = read(stories.spark, f"{stories.work}/{table}", condition, options=given)
    return _told(stories, frame, lambda: _by_hudi(stories, table, given).where(condition))


def _older_handle(stories: Stories) -> Outcome:
    """An UPDATE of the slice that has log files and of one that has none, after the table was opened."""
    stories.make("r_older", mor=True)
    opened = open_table(f"{stories.work}/r_older")
    instant = str(opened.at().slices.instant)
    stories.write("r_older", stories.rows(108, 112, 5), "upsert", mor=True)
    stories.write("r_older", stories.rows(300, 302, 5), "upsert", mor=True)
    frame = read(stories.spark, opened, "i > 90")
    return _told(stories, frame, lambda: _by_hudi(stories, "r_older", {"as.of.instant": instant}).where("i > 90"))


def _other_files(stories: Stories) -> Outcome:
    """A log file is gone from the file system that the plan has: no narrowed scan, and no wrong row.

    Nothing is ``narrowed`` with a release that reads merged rows by a relation of its own.
    """
    stories.make("r_gone", mor=True)
    opened = open_table(f"{stories.work}/r_gone")
    merged = next(one for one in opened.at().slices if one.log_files)
    from handler.spark.reading.by_hudi import slices_by_hudi
    from handler.spark.reading.reading import source_of

    source = source_of(opened, opened.at().slices.instant)
    schema = _by_hudi(stories, "r_gone", {}).schema
    others = [type(merged)(merged.partition, merged.file_id, merged.base_file, (*merged.log_files, ".none_1.log.1"))]
    others.append(type(merged)(merged.partition, merged.file_id, merged.base_file))
    refused = [slices_by_hudi(stories.spark, source, [one], schema) is None for one in others]
    frame = slices_by_hudi(stories.spark, source, [merged], schema)
    rows = read(stories.spark, opened, "true") if frame is None else frame
    return {"equal": all(refused), "rows": rows.count(), "narrowed": frame is not None}


def _opened_once(stories: Stories) -> Outcome:
    opened = open_table(f"{stories.work}/mor")
    first = read(stories.spark, opened, "i = 7").count()
    frame = read(stories.spark, opened, ["i BETWEEN 1100 AND 1109", "s = 'new'"])
    told = _told(stories, frame, lambda: _by_hudi(stories, "mor", {}).where("i BETWEEN 1100 AND 1109"))
    return told | {"equal": told["equal"] and first == 1}


def _by_join(stories: Stories) -> Outcome:
    keys = stories.spark.sql("SELECT explode(array(7, 1105)) i")
    frame = read_by_join(stories.spark, open_table(f"{stories.work}/mor"), "i", keys)
    whole = _by_hudi(stories, "mor", {})
    return _told(stories, frame.join(keys, "i"), lambda: whole.join(keys, "i"))


def _reader_hudi(stories: Stories, table: str, condition: str | None, **given: Any) -> Outcome:
    options = {"hoodie.datasource.query.type": given["query"]} if "query" in given else {}
    if "as_of" in given:
        options["as.of.instant"] = given["as_of"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = read(stories.spark, open_table(f"{stories.work}/{table}"), condition, reader="hudi", **given)
    later = "id > 'k'" if condition is not None else "i BETWEEN 1100 AND 1103"
    wanted = _by_hudi(stories, table, options)
    return _told(stories, frame.where(later), lambda: wanted.where(condition or "true").where(later))
