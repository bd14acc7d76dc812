"""The joins of ``dynamic_stories`` on Spark 4: Parquet files named as Hudi's, and a stand-in for Hudi's index.

    python -m tests.handler.spark.extension.dynamic_hooks FOLDER        writes FOLDER/outcomes.json

No bundle of Hudi for Scala 2.13 was at hand. This shows that Spark's hooks work, and nothing about Hudi: the rows that
Hudi would merge into ``fact_mor`` stand in its files.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from handler.shipped.artefacts import spark_jar
from tests.handler.spark.extension.dynamic_runs import session, told
from tests.handler.spark.extension.dynamic_tables import CHANGED, FACT, FILES, PLACES
from tests.handler.spark.extension.hooks import named_as_hudis, stand_in, table

#: Text that no compression makes small: ``places`` has a third of the bytes of ``fact``, for what is chosen by size.
_PAD = "concat_ws('', transform(sequence(1, 2), x -> sha2(concat(g, ' ', x), 512))) pad"
#: Table -> its rows, how many files it has (of each partition), the column that they are in the order of, and that of
#: its partitions.
_TABLES = {
    "fact": (FACT, FILES, "k", None),
    "fact_mor": (f"select * from ({FACT}) where k not between 300 and 307 union all {CHANGED}", FILES, "k", None),
    "fact_p": (f"select *, k % 4 p from ({FACT})", 2, "k", "p"),
    "places": (f"select *, {_PAD} from ({PLACES})", 4, "g", None),
}


def make(spark: SparkSession, home: Path) -> None:
    """Write the tables into a folder, and make a view of each."""
    for name, (sql, files, key, partition) in _TABLES.items():
        rows = spark.sql(sql).repartitionByRange(files, key)
        table(spark, named_as_hudis(rows, home / name, partition)).createOrReplaceTempView(name)


def main(folder: str) -> None:
    work = Path(folder)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    jars = [spark_jar(pyspark.__version__), stand_in(work)]
    spark = session(jars, ["io.sargo.spark.SargoExtensions"], work)
    make(spark, work)
    (work / "outcomes.json").write_text(json.dumps(told(spark, work), indent=1), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
