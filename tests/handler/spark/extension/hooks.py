"""The extension on Spark 4: Parquet files named as Hudi's, and a stand-in for Hudi's index.

    python -m tests.handler.spark.extension.hooks FOLDER        writes FOLDER/outcomes.json

No bundle of Hudi for Scala 2.13 was at hand. This shows that Spark's hooks work, and nothing about Hudi.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import DataFrame, SparkSession

from handler.shipped.artefacts import spark_jar
from handler.sidecar.idl import AggregateReply
from tests.handler.spark.extension.exact_conditions import COLUMNS, read_conditions
from tests.handler.spark.extension.fake_sidecar import FakeSidecar, Question, nothing
from tests.handler.spark.extension.sessions import session
from tests.handler.spark.extension.telling import Outcome, Stories

_CLASS = "org.apache.hudi.HoodieFileIndex"


def stand_in(folder: Path) -> Path:
    """The jar of the stand-in, with the manifest of a release of Hudi."""
    classes = folder / "classes"
    classes.mkdir()
    jars = Path(pyspark.__file__).parent / "jars"
    source = Path(__file__).with_name("HoodieFileIndex.java")
    compile_ = ["javac", "-nowarn", "-proc:none", "-cp", f"{jars}/*", "-d", str(classes), str(source)]
    subprocess.run(compile_, check=True)
    jar = folder / "hudi-stand-in.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nImplementation-Version: 1.2.0\n\n")
        for file in classes.rglob("*.class"):
            archive.write(file, file.relative_to(classes).as_posix())
    return jar


def named_as_hudis(frame: DataFrame, folder: Path, partition: str | None = None) -> Path:
    """The frame as Parquet files with names of base files."""
    frame.write.parquet(str(folder), partitionBy=partition)
    for index, file in enumerate(sorted(folder.rglob("part-*.parquet"))):
        file.rename(file.parent / f"0000000{index}-0_{index}-1-{index}_20250101000000000.parquet")
    for other in [*folder.rglob(".*"), folder / "_SUCCESS"]:
        other.unlink(missing_ok=True)
    return folder


def table(spark: SparkSession, folder: Path) -> DataFrame:
    """The table through the stand-in."""
    jvm: Any = spark._jvm
    plain: Any = spark.read.parquet(str(folder))._jdf
    plan = getattr(jvm, _CLASS).over(plain.queryExecution().analyzed())
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)


def without_rows(folder: Path, low: int, high: int) -> Callable[[Question], Collection[str]]:
    """Answers with the files that have no ``i`` from ``low`` to ``high``."""

    def answer(question: Question) -> list[str]:
        columns = {name: pq.read_table(folder / name, columns=["i"], partitioning=None)["i"] for name in question.names}
        return [
            name
            for name, column in columns.items()
            if not pc.any(pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))).as_py()
        ]

    return answer


_SUM_OF_D = "decimal(20,2)"


def of_footers(folder: Path, scanned: int) -> Callable[[Question, AggregateReply], object]:
    """Answers aggregates of the columns ``i``, and the sum of the decimals ``d``, of all files but so many."""

    def answer(question: Question, reply: AggregateReply) -> None:
        files = question.names[: len(question.names) - scanned]
        rows = pa.concat_tables(pq.read_table(folder / name, partitioning=None) for name in files)
        values = rows["i"]
        by_name = {
            "count": (len(values), "bigint"),
            "min": (pc.min(values).as_py(), "int"),
            "max": (pc.max(values).as_py(), "int"),
            "sum(`i`)": (pc.sum(values).as_py(), "bigint"),
            "sum(`d`)": (int(pc.sum(rows["d"]).as_py().scaleb(2)), _SUM_OF_D),
        }
        asked = bytes(question.fields.aggregates).decode().split("\n")
        known = [by_name[one if one.startswith("sum") else one.partition("(")[0]] for one in asked]
        _answer(reply, len(files), [str(value) for value, _ in known], [kind for _, kind in known])

    return answer


def nearly_too_much(question: Question, reply: AggregateReply) -> None:
    """Answers the greatest sum of the decimals ``d``, of all files but one."""
    _answer(reply, len(question.names) - 1, ["9" * 20], [_SUM_OF_D])


def _answer(reply: AggregateReply, files: int, values: list[str], types: list[str]) -> None:
    reply.answered = ((1 << files) - 1).to_bytes(1, "little")
    reply.answered_count = files
    reply.values = [f"={one}" for one in values]
    reply.types = types


def main(folder: str) -> None:
    work = Path(folder)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    spark = session([spark_jar(pyspark.__version__), stand_in(work)], work, {})
    stories = Stories(spark, work)
    rows = spark.range(400).selectExpr(
        "int(id) i", "concat('s', id % 7) s", "struct(id x, 1 y) st", "cast(id / 4 AS decimal(10,2)) d"
    )
    home = named_as_hudis(rows.repartitionByRange(4, "i"), work / "t")
    fake = FakeSidecar()
    spark.conf.set("spark.sargo.sidecar.address", fake.address)

    def frame() -> DataFrame:
        return table(spark, home)

    frame().where("i = 3").collect()
    stories.outcomes["before the extension is applied"] = {"asked": len(fake.asked)}
    jvm: Any = spark._jvm
    for _ in range(2):  # as `register` does, and once more
        jvm.io.sargo.spark.SargoExtensions().apply(spark._jsparkSession.extensions())
    fake.answer = without_rows(home, 310, 320)
    frame().createOrReplaceTempView("v")
    queries: dict[str, Callable[[], DataFrame]] = {
        "a range": lambda: frame().where("i BETWEEN 310 AND 320"),
        "count": lambda: frame().where("i BETWEEN 310 AND 320").selectExpr("count(*)"),
        "a field of a struct": lambda: frame().where("ST.x BETWEEN 310 AND 320").select("st.Y"),
        "names in other letters": lambda: frame().where("I BETWEEN 310 AND 320").select("S"),
        "a view": lambda: spark.sql("SELECT s FROM v WHERE i BETWEEN 310 AND 320"),
        "a join with itself": lambda: spark.sql(
            "SELECT a.i FROM v a JOIN v b ON a.i = b.i WHERE a.i BETWEEN 310 AND 320 AND b.i BETWEEN 310 AND 320"
        ),
        "merged subqueries": lambda: spark.sql(
            "SELECT (SELECT max(i) FROM v WHERE i BETWEEN 310 AND 320), "
            "(SELECT min(i) FROM v WHERE i BETWEEN 311 AND 320)"
        ),
        "no filter": frame,
    }
    for name, query in queries.items():
        before = len(fake.asked)
        stories.tell(name, lambda query=query: stories.compare(query))  # type: ignore[misc]
        stories.outcomes[name]["asked"] = len(fake.asked) - before
    fake.answer = nothing
    aggregates = (
        "count(*) n",
        "max(i) - min(i) AS span",
        "max(i)",
        "count(i) + 1",
        "7",
        "sum(i)",
        "sum(d) * 2",
        "sum(d)",
    )
    for scanned in (0, 1):
        fake.aggregate = of_footers(home, scanned)
        for text in ("true", "i >= 0"):
            with stories.set(spark__sargo__aggregates="footers"):
                made = partial(_aggregated, frame, text, aggregates)
                stories.tell(f"aggregates of {text}, {scanned} files scanned", partial(stories.compare, made))
    fake.aggregate = nearly_too_much
    for ansi in ("false", "true"):
        with stories.set(spark__sargo__aggregates="footers", spark__sql__ansi__enabled=ansi):
            stories.tell(f"a sum that overflows, ANSI {ansi}", lambda: _rows_of(frame().selectExpr("sum(d)")))
    one = named_as_hudis(spark.sql(f"SELECT {COLUMNS}"), work / "one")
    stories.outcomes["conditions"] = read_conditions(lambda: table(spark, one), fake)
    fake.close()
    spark.conf.set("spark.sargo.sidecar.address", "127.0.0.1:1")
    stories.tell("a sidecar down", lambda: stories.compare(lambda: frame().where("i = 7")))
    (work / "outcomes.json").write_text(json.dumps(stories.outcomes, indent=1), encoding="utf-8")
    spark.stop()


def _rows_of(frame: DataFrame) -> Outcome:
    return {"equal": True, "rows": [list(row) for row in frame.collect()]}


def _aggregated(frame: Callable[[], DataFrame], text: str, aggregates: Sequence[str]) -> DataFrame:
    return frame().where(text).selectExpr(*aggregates)


if __name__ == "__main__":
    main(sys.argv[1])
