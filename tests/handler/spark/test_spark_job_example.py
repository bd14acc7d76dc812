"""``examples/spark_job.py`` in a session of Spark."""

from __future__ import annotations

from examples.spark_job import matching


def test_the_rows_are_those_of_a_full_read(spark, main_cow):
    rows, saved = matching(spark, str(main_cow), "i BETWEEN 400 AND 700 AND p = 'p1'")
    expected = spark.read.parquet(str(main_cow / "p=p1")).where("i BETWEEN 400 AND 700").select("_hoodie_record_key")
    found = {row[0] for row in rows.select("_hoodie_record_key").collect()}
    assert found
    assert found <= {row[0] for row in expected.collect()}
    assert saved.startswith("12 of 14 file slices are not read, as of ")
