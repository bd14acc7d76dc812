"""Reads a table with the release of Hudi that wrote it: all rows, and the files that Hudi's data skipping keeps.

    python -m tests.conformance.full_scan rows RELEASE FOLDER OUT [TABLE ...]      FOLDER has the unpacked tables
    python -m tests.conformance.full_scan skipping RELEASE FOLDER OUT [TABLE ...]

`rows`      OUT/<release>_<table>.parquet: the rows of a full scan, data skipping and metadata table off, with the file
            group of each in `_group`
`skipping`  OUT/<release>_<table>.kept.json: SQL -> the file ids that Hudi's data skipping hands to the scan; null when
            Spark needs no scan; {"error": why} when it fails; left out where the plan does not show it. Planned only.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.cases import CASES
from tests.tables.releases import RELEASES, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: `.`, the id, `_`: the file id in the name of a base or log file.
FILE_ID = r"^\\.?([^_]+)"


class NotShownError(Exception):
    """The plan has a scan of another kind (releases before 1.0 on MERGE_ON_READ), which does not show its files."""


def first_line(error: Exception) -> str:
    """Spark's message, cut to the line that distinguishes the error: of an error class, or the root cause."""
    lines = str(error).strip().split("\n")
    named = [line.partition("Exception: ")[2] for line in lines if "Exception: [" in line]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return (*named, *reversed(causes), lines[0])[0][:160]


def rows(spark: SparkSession, path: Path, out: Path) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    frame = (
        spark.read.format("hudi")
        .option("hoodie.metadata.enable", "false")
        .option("hoodie.enable.data.skipping", "false")
        .load(str(path))
    )
    group = F.regexp_extract("_hoodie_file_name", FILE_ID.replace("\\\\", "\\"), 1).alias("_group")
    folder = out.with_suffix(".folder")
    spark.conf.set("spark.sql.parquet.writeLegacyFormat", "true")  # decimals as Hive 3.1 reads them
    frame.select("*", group).coalesce(1).write.mode("overwrite").parquet(str(folder))
    next(folder.glob("*.parquet")).replace(out)


def elements(jvm_sequence: Any) -> list[Any]:
    iterator = jvm_sequence.iterator()
    items = []
    while iterator.hasNext():
        items.append(iterator.next())
    return items


def kept_by_hudi(frame: DataFrame, condition: str) -> list[str] | None:
    plan = frame.where(condition)._jdf.queryExecution().executedPlan()
    file_ids: set[str] = set()
    for leaf in elements(plan.collectLeaves()):
        name = leaf.getClass().getSimpleName()
        if name == "LocalTableScanExec":
            return None
        if name != "FileSourceScanExec":
            raise NotShownError(name)
        for directory in leaf.selectedPartitions():
            for file in elements(directory.files()):
                file_ids.add(file.getPath().getName().lstrip(".").split("_")[0])
    return sorted(file_ids)


def skipping(spark: SparkSession, path: Path, out: Path) -> None:
    frame = (
        spark.read.format("hudi")
        .option("hoodie.metadata.enable", "true")
        .option("hoodie.enable.data.skipping", "true")
        .load(str(path))
    )
    answers: dict[str, Any] = {}
    for case in CASES:
        try:
            answers[case.sql] = kept_by_hudi(frame, case.sql)
        except NotShownError:
            continue
        except Exception as error:
            answers[case.sql] = {"error": first_line(error)}
    out.write_text(json.dumps(answers, ensure_ascii=False, indent=0), encoding="utf-8")


def main(what: str, release: str, folder: str, out: str, *wanted: str) -> None:
    work, suffix = {"rows": (rows, "parquet"), "skipping": (skipping, "kept.json")}[what]
    spark = session(RELEASES[release], Path(out))
    for path in sorted(Path(folder).iterdir()):
        if (path / ".hoodie").is_dir() and (not wanted or path.name in wanted):
            begun = time.monotonic()
            work(spark, path, Path(out) / f"{release}_{path.name}.{suffix}")
            print(f"{release} {path.name}: {what}, {time.monotonic() - begun:.0f} s", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
