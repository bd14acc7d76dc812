def test_spark_runs(spark):
    assert spark.range(3).count() == 3
