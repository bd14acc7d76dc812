"""A Spark job that reads only the files of a Hudi table that a condition needs, and says what that saved.

    spark-submit spark_job.py /data/trips "fare > 50 AND city LIKE 'san%'"

No Hudi bundle is needed on Spark's class path. A MERGE_ON_READ slice with log files is merged on the executors.
"""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame, SparkSession

from sargo.spark import prune, read


def matching(spark: SparkSession, table: str, condition: str) -> tuple[DataFrame, str]:
    """The rows that match, and a line about the files that are not read."""
    plan = prune(spark, table, condition)
    left_out = f"{len(plan.skipped)} of {len(plan.slices)} file slices are not read, as of {plan.instant}"
    why = plan.why_not_more[0].sentence if plan.why_not_more else "every file that is read holds matches"
    return read(spark, table, condition), f"{left_out}; why not more: {why}"


def main() -> None:
    """Count the matching rows of the table and the condition that are given."""
    table, condition = sys.argv[1:]
    spark = SparkSession.builder.appName("trips").getOrCreate()
    rows, saved = matching(spark, table, condition)
    print(f"{rows.count()} rows; {saved}")
    spark.stop()


if __name__ == "__main__":
    main()
