"""``sargo index create --spark``: the same index as without Spark, and Spark's errors as one line."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from handler.cli.main import main
from handler.indexes.entries import IndexWorkError
from handler.indexes.operations import _SparkBuilds
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from tests.index_store.own.toy import answers


def test_an_index_made_with_spark_is_the_one_that_is_made_without(
    spark: SparkSession, repository: Path, tmp_path: Path
) -> None:
    table = tmp_path / "table"
    with zipfile.ZipFile(repository / "tests" / "data" / "hudi" / "1.1.1_main_mor.zip") as archive:
        archive.extractall(table)

    def run(*arguments: str) -> dict:
        result = CliRunner().invoke(main, ["index", arguments[0], str(table), *arguments[1:], "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    asked = ["--on", "s", "--on", "i", "--using", "min_max", "--using", "value_list"]
    made = run("create", *asked, "--name", "with", "--spark")
    assert made["built"] > 0
    assert run("create", *asked, "--name", "without")["built"] == made["built"]
    with_spark, without = (answers(OwnIndex.open(Folder.at(table / ".sargo" / name))) for name in ("with", "without"))
    assert with_spark == without


def test_what_spark_says_is_told_in_one_line(spark: SparkSession) -> None:
    class Failing:
        def build(self, _):
            yield from spark.range(1).mapInArrow(fail, "id long").collect()

    def fail(batches):
        raise ValueError(f"no such thing in {batches}")
        yield

    with pytest.raises(IndexWorkError, match=r"^Spark failed: ValueError: no such thing in \S+ .*$"):
        list(_SparkBuilds(Failing()).build([]))
