"""Python workers that lack Sargo: whatever needs them says so, with what to do."""

from __future__ import annotations

import re

import pytest
from pyspark.errors import PySparkException

from handler.spark import prune, prune_by_join, read
from handler.spark.reading import file_schemas, scans
from tests.handler.spark.real_tables import unpack

SENTENCE = (
    r"the Python of Spark's workers \(.+\) has no module (handler|evaluator|index_store): "
    r"install Sargo there \(pip install 'sargo\[spark\]'\), or set PYSPARK_PYTHON to a Python that has it"
)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return unpack("1.1.1_main_cow", tmp_path_factory.mktemp("workers") / "main")


def merged_by_workers(spark, table, monkeypatch):
    monkeypatch.setattr(scans, "MAX_SCANS", 0)
    frame = read(spark, table)
    assert frame.inputFiles() == []
    frame.collect()


def schemas_of_many_files(spark, table, monkeypatch):
    monkeypatch.setattr(file_schemas, "MAX_FOOTERS_ON_DRIVER", 0)
    read(spark, table)


def pruned_in_executors(spark, table, _):
    prune(spark, table, "i > 1000", distributed=True)


def keys_of_a_join(spark, table, _):
    prune_by_join(spark, table, "i", spark.range(3).selectExpr("int(id) i"))


@pytest.mark.parametrize(
    "what",
    [
        pruned_in_executors,
        keys_of_a_join,
        *(pytest.param(what, marks=pytest.mark.spark_full) for what in (merged_by_workers, schemas_of_many_files)),
    ],
)
def test_workers_without_sargo_say_what_to_do(spark, table, workers_without_sargo, monkeypatch, what):
    with pytest.raises((ModuleNotFoundError, PySparkException)) as raised:
        what(spark, table, monkeypatch)
    said = re.search(SENTENCE, str(raised.value))
    assert said, str(raised.value)[:2000]
    # rows are read by an action of the user
    assert isinstance(raised.value, ModuleNotFoundError) == (what is not merged_by_workers)
    assert said.start() == 0 or what is merged_by_workers
