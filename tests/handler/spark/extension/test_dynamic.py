"""Joins of Hudi tables with dynamic pruning on real Spark: the rows, and the files read (``dynamic_stories``)."""

import json
import os
import subprocess

import pytest

from tests.handler.spark.extension.dynamic_stories import FAILING, STORIES, SWITCHES, WAYS
from tests.tables.releases import PYTHON, RELEASES, ROOT

JAR = ROOT / "handler/java/spark/target/3.5/sargo-spark-3.5_2.12.jar"
MISSING = [str(file) for file in (PYTHON, JAR, RELEASES["1.2.0"].jar) if not file.exists()]
pytestmark = [pytest.mark.extension, pytest.mark.skipif(bool(MISSING), reason=f"not built: {', '.join(MISSING)}")]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    home = tmp_path_factory.mktemp("dynamic")
    out = home / "results.json"
    command = [str(PYTHON), "-m", "tests.handler.spark.extension.dynamic_runs", str(JAR), str(home), str(out)]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=3000)
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_rows_are_those_without_dynamic_pruning(results, story, way):
    assert not [run["error"] for run in (results[story.name][way], results[story.name]["without"]) if "error" in run]
    assert results[story.name][way]["rows"] == results[story.name]["without"]["rows"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("story", [s for s in STORIES if s.files is not None], ids=lambda story: story.name)
def test_files_are_read_that_have_a_key(results, story, way):
    assert story.expected(way) in (None, results[story.name][way]["files"])


@pytest.mark.parametrize("setting", ["auto", "subquery"])
def test_random_joins_have_the_rows_without_their_keys(results, setting):
    """In ANSI mode some fail: a key that no TINYINT holds."""
    runs = {sql: run for sql, run in results["random"].items() if "error" not in run["false"]}
    assert len(runs) > len(results["random"]) // 2
    assert not [sql for sql, run in runs.items() if "error" in run[setting]]
    assert not [sql for sql, run in runs.items() if run[setting]["rows"] != run["false"]["rows"]]
    assert any(run[setting]["files"] < run["false"]["files"] for run in runs.values())


def test_a_key_that_fails_fails_no_query_that_does_not_look_at_it(results):
    assert len(results["failing"]) == sum(len(ways) for ways, _ in FAILING.values())
    for name, runs in results["failing"].items():
        assert [(run["rows"], run.get("error")) for run in runs.values()] == [([], None)] * 3, name


@pytest.mark.parametrize("way", ["shuffled", "plain shuffled", "plain broadcast"])
def test_a_scan_that_waited_for_keys_says_what_they_left(results, way):
    names = [name for name in results["inner"][way]["names"] if name.startswith("DynamicScan")]
    assert [name.rpartition(", ")[2] for name in names] == ["2 by keys"]


@pytest.mark.parametrize("way", WAYS)
def test_keys_that_skip_nothing_again_and_again_are_not_asked_about_but_others_of_the_column_are(results, way):
    found = results["in a row"][way]
    assert found["asked"] == [1, 1, 1, 0, 0, 0]
    assert found["exchanged"] == [16 if way.endswith("shuffled") else 0] * 6, "rows without a key are lost still"
    # Without adaptive execution Spark forgets which side a subquery is of.
    assert found["files of another side"] == (8 if way == "plain shuffled" else 2)


#: Story -> how many rows its exchanges write in ways that exchange both sides, at least and at most: the keys and their
#: rows, for some shapes twice, and more where a Bloom filter stands for the keys.
EXCHANGED = {
    "inner": (4, 4),
    "left semi": (4, 4),
    "NULL keys": (4, 4),
    "bigint": (4, 4),
    "int against bigint": (5, 5),
    "text": (5, 5),
    "date": (4, 4),
    "timestamp": (4, 4),
    "decimal": (4, 4),
    "a filter of its own": (3, 3),
    "merged rows": (4, 4),
    "an aggregate between, by the key": (4, 4),
    "distinct rows between": (6, 6),
    "a window between, by the key": (4, 4),
    "thousands of integers": (3002, 3040),
    "thousands of bigints": (3002, 3040),
    "thousands of dates": (3002, 3040),
    "more keys than are taken": (1_100_800, 1_100_800),
}


@pytest.mark.parametrize("way", ["shuffled", "plain shuffled"])
@pytest.mark.parametrize("story", EXCHANGED)
def test_rows_without_a_key_are_not_exchanged(results, story, way):
    least, most = EXCHANGED[story]
    assert least <= results[story][way]["exchanged"] <= most


@pytest.mark.parametrize("way", ["broadcast", "plain broadcast"])
def test_rows_without_a_key_of_a_broadcast_are_not_exchanged(results, way):
    for story in ("an aggregate between, by the key", "distinct rows between", "a window between, by the key"):
        assert (results[story][way]["exchanged"], results[story]["without"]["exchanged"]) == (2, 800), story


@pytest.mark.parametrize(
    ("story", "files", "exchanged"),
    [
        ("a side as large as the table", 10, 4),
        ("a side as large, outer join", 10, 4),
        ("a side as large, by two columns", 10, 4),
        ("a side as large with a key of its own", 4, 6),
        ("groups with a condition", 10, 804),
        ("groups with a condition, joined", 10, 804),
        ("groups with a condition, in two joins", 12, 806),
        ("groups with a condition, of two columns", 10, 804),
    ],
)
def test_a_side_whose_exchange_has_the_keys_is_read_once(results, story, files, exchanged):
    """By the query and the subquery of its keys together."""
    found = results[story]["shuffled"]
    assert (found["files everywhere"], found["files"], found["exchanged"]) == (files, files, exchanged)


def test_a_chain_of_joins_does_not_grow_twofold_with_each(results):
    """Each side whose exchange has the keys stands in the plan once more, with the keys of its own scans."""
    scans = {int(joins): count for joins, count in results["chains"].items()}
    assert scans[4] > 5, "some are narrowed"
    assert all(count <= joins + 1 + 8 * joins for joins, count in scans.items()), scans


def test_a_scan_that_waited_for_a_value_says_what_it_left(results):
    names = [name for name in results["a value"]["broadcast"]["names"] if name.startswith("DynamicScan")]
    assert [name.rpartition(", ")[2] for name in names] == ["1 by values"]


def test_a_value_narrows_only_where_it_is_that_of_the_filter(results):
    """A subquery that runs twice may have two values."""
    assert results["not reused"] == {"is_planned": True, "rows": 79, "files": 8}


def test_executors_need_no_class_of_sargo(results):
    """After ``register`` they have none."""
    sent = {name for story in STORIES for way in WAYS for name in results[story.name][way]["sent"]}
    assert sent == {"org.apache.spark.sql.execution.FileSourceScanExec"}


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.name)
def test_settings_decide_whether_keys_narrow(results, switch):
    narrowed, plain = results["switches"][switch.name]["with"], results["switches"][switch.name]["without"]
    assert narrowed["rows"] == plain["rows"]
    assert narrowed["files"] == switch.files


@pytest.mark.parametrize("switch", [s for s in SWITCHES if "partition" in s.name], ids=lambda switch: switch.name)
def test_what_spark_itself_plans_by_partitions_stays(results, switch):
    narrowed, plain = results["switches"][switch.name]["with"], results["switches"][switch.name]["without"]
    assert narrowed["own"] == plain["own"]
    assert (plain["own"] == 0) == ("no subquery" in switch.name)
    assert narrowed["files"] == plain["files"]
