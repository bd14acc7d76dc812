"""Scans: columns, unfiltered rows, tasks, object stores, and what is refused."""

from __future__ import annotations

import datetime
import json
import pickle
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import fs

from evaluator.language import expression as ex
from evaluator.language.errors import UnknownColumnError, UnsupportedError
from handler import open_table, prune, scan
from handler.engines import datasets, packages
from index_store import TableError
from tests.handler.engines.test_true_rows import rows
from tests.handler.spark.true_rows import counted, true_rows
from tests.handler.spark.true_rows import unpack as unpack_true
from tests.index_store.object_store import running
from tests.index_store.synthetic import write_table

WHERE = "i > 100 AND p = 'p1'"
ENGINES = ("batches", "dataset", "polars", "duckdb", "tasks")


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


@pytest.fixture(scope="module")
def expected(table):
    return scan(table, WHERE).to_table()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("columns", [["s", "id"], ["I"], ["p"], ["_hoodie_file_name"]], ids=str)
def test_columns_come_in_the_order_asked_for(table, expected, engine, columns):
    found = rows(scan(table, WHERE, columns), engine)
    names = [name.lower() if name == "I" else name for name in columns]
    assert found.column_names == names
    assert counted(found, names) == counted(expected, names)


@pytest.mark.parametrize("engine", ENGINES)
def test_without_a_filter_all_rows_of_the_kept_slices_come(table, engine):
    plan = prune(table, WHERE)
    found = rows(plan.scan(["id", "_hoodie_file_name"], filtered=False), engine)
    assert set(found.column("_hoodie_file_name").to_pylist()) == {one.base_file.rpartition("/")[2] for one in plan.kept}
    assert found.num_rows > plan.to_table(["id"]).num_rows


@pytest.mark.parametrize("engine", ENGINES)
def test_no_kept_slice_is_no_row_in_the_right_columns(table, engine):
    found = scan(table, "i < -99999999")
    result = rows(found, engine)
    assert result.num_rows == 0
    assert result.column_names == list(found.columns)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_without_a_commit_has_no_row(tmp_path, engine):
    write_table(tmp_path / "t", 1)
    timeline = tmp_path / "t" / ".hoodie" / "timeline"
    for file in timeline.iterdir():
        if file.is_file():
            file.unlink()
    with pytest.raises(TableError, match="no commit of the table tells its schema"):
        scan(tmp_path / "t")
    fields = [{"name": "a", "type": ["null", "long"]}]
    created = json.dumps({"type": "record", "name": "r", "fields": fields}).replace(":", "\\:")
    with (tmp_path / "t" / ".hoodie" / "hoodie.properties").open("a") as properties:
        properties.write(f"\nhoodie.table.create.schema={created}\n")
    found = rows(scan(tmp_path / "t", "a > 5"), engine)
    assert found.num_rows == 0
    assert found.column_names[-1] == "a"


def test_polars_pushes_its_columns_and_conditions_into_the_scan(table, expected):
    pl = pytest.importorskip("polars")
    lazy = scan(table, WHERE).scan_polars()
    found = lazy.filter(pl.col("i") > 300).select("s").collect()
    right = expected.filter(pa.compute.greater(expected.column("i"), 300)).column("s").to_pylist()
    assert sorted(found["s"].to_list(), key=str) == sorted(right, key=str)
    assert lazy.select(pl.len()).collect().item() == expected.num_rows
    assert len(lazy.head(3).collect()) == 3
    assert len(lazy.filter(pl.col("i") > 300).head(2).collect()) == 2


def test_pandas_has_the_rows(table, expected):
    pytest.importorskip("pandas")
    assert len(prune(table, WHERE).to_pandas(["id"])) == expected.num_rows


def test_tasks_share_the_bytes_evenly_and_every_slice_once(table):
    plan = prune(table, "i IS NOT NULL OR i IS NULL")
    for n in (1, 2, 3, 5, 100):
        tasks = plan.tasks(n)
        assert len(tasks) == min(n, len(plan.kept))
        assert sorted(path for task in tasks for path in task.paths) == sorted(plan.paths().to_pylist())
        sizes = [task.bytes for task in tasks]
        largest = max(sum(one.bytes for one in plan.tasks(len(plan.kept))[i : i + 1]) for i in range(len(plan.kept)))
        assert max(sizes) - min(sizes) <= largest
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="one task or more"):
            plan.tasks(wrong)
    with pytest.raises(TypeError):
        plan.tasks("2")


def test_a_task_is_read_in_a_fresh_process(table, expected, tmp_path):
    file = tmp_path / "tasks.pickle"
    file.write_bytes(pickle.dumps(scan(table, WHERE, ["id"]).tasks(2)))
    code = "import pickle, sys; print(sum(task().num_rows for task in pickle.load(open(sys.argv[1], 'rb'))))"
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert int(done.stdout) == expected.num_rows


def test_a_pickled_plan_reads_its_rows(table, expected):
    plan = pickle.loads(pickle.dumps(prune(table, WHERE)))
    assert counted(plan.to_table(), expected.column_names) == counted(expected, expected.column_names)


def test_combined_plans_read_their_rows(table, expected):
    one, other = prune(table, "i > 100"), prune(table, "p = 'p1'")
    assert counted((one & other).to_table(["id"]), ["id"]) == counted(expected, ["id"])
    every = scan(table, None, ["id"]).to_table()
    assert (~one).to_table(["id"]).num_rows + one.to_table(["id"]).num_rows <= every.num_rows


def test_a_filter_that_reads_the_clock_is_decided_at_one_moment(table):
    days = scan(table, "dt < current_date()", ["dt"], as_of_clock="2020-06-15 12:00:00", time_zone="UTC").to_table()
    every = scan(table, "dt < date '2020-06-15'", ["dt"], time_zone="UTC").to_table()
    assert days.num_rows == every.num_rows > 0
    now = scan(table, "dt < current_date()", ["dt"], time_zone="UTC").to_table()
    assert (
        now.num_rows == scan(table, f"dt < date '{datetime.date.today()}'", ["dt"], time_zone="UTC").to_table().num_rows
    )


# -- object stores


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    name = "format_1.2.0_order_event_mor"
    with running() as store:
        folder = unpack_true(name, tmp_path_factory.mktemp("table") / "t")
        yield store, store.put(folder, "trips"), true_rows(name, "snapshot")


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_in_a_bucket_by_the_tables_own_options(bucket, engine, monkeypatch):
    store, path, right = bucket
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    found = scan(open_table(path, storage_options=store.options))
    columns = [name for name in right.column_names if name != "_hoodie_file_name"]
    assert counted(rows(found, engine), columns) == counted(right, columns)
    shown = repr(found) + repr(found.tasks(2))
    assert store.options["secret_key"] not in shown


def test_paths_in_a_bucket_have_the_scheme_that_others_know(bucket):
    store, path, _ = bucket
    plan = prune(open_table(path, storage_options=store.options), "1 = 1")
    assert all(one.startswith("s3://lake/trips/") for one in plan.paths().to_pylist())


@pytest.mark.parametrize("engine", ["batches", "dataset", "tasks"])
def test_rows_through_a_file_system_that_was_given(main_cow, expected, engine):
    opened = open_table(str(main_cow), filesystem=fs.LocalFileSystem())
    assert counted(rows(scan(opened, WHERE), engine), ["id"]) == counted(expected, ["id"])


# -- what is refused


@pytest.mark.parametrize(
    ("columns", "error"),
    [(["nope"], UnknownColumnError), ("id", TypeError), ([1], TypeError), ([], ValueError), (["id", "ID"], ValueError)],
    ids=str,
)
def test_columns_that_are_none_are_an_error(table, columns, error):
    with pytest.raises(error):
        scan(table, WHERE, columns)


def test_a_condition_that_was_not_understood_is_an_error_that_says_what_to_do(table):
    with pytest.raises(UnsupportedError, match="filtered=False"):
        scan(table, "my_function(i) = 3").to_table()
    with pytest.raises(UnsupportedError, match="filtered=False"):
        prune(table, ex.Or((ex.Unknown("who knows"), ex.IsNull(ex.Column(("i",)))))).scan()
    assert scan(table, "my_function(i) = 3", ["id"], filtered=False).to_table().num_rows > 0


def test_a_filter_on_a_column_that_the_table_lacks_is_an_error(table):
    with pytest.raises(UnknownColumnError):
        scan(table, "nope = 3")


def test_log_files_that_are_not_merged_here_are_an_error_that_says_what_to_do(tmp_path):
    opened = open_table(unpack_true("format_1.2.0_pay_sum_mor", tmp_path / "t"))
    found = scan(opened)
    for read in (found.to_table, found.to_pyarrow_dataset, lambda: found.tasks(2)):
        with pytest.raises(UnsupportedError, match=r"read_optimized.*compact.*bundle"):
            read()
    assert scan(opened, query="read_optimized").to_table().num_rows > 0


def test_renamed_columns_are_refused_unless_read_by_name(tmp_path):
    opened = open_table(unpack_true("format_1.0.2_reused_mor", tmp_path / "t"))
    with pytest.raises(UnsupportedError, match="by_name=True"):
        scan(opened)
    scan(opened, by_name=True)


def test_a_dataset_does_not_hold_more_than_it_may(table, monkeypatch):
    monkeypatch.setattr(datasets, "MAX_HELD", 10)
    with pytest.raises(UnsupportedError, match="scan_polars"):
        scan(table, "upper(s) > 'B'").to_pyarrow_dataset()
    assert scan(table, WHERE).to_pyarrow_dataset().count_rows() > 0  # pyarrow reads these itself


@pytest.mark.parametrize(
    ("module", "extra", "call"),
    [
        ("polars", "polars", lambda found: found.scan_polars()),
        ("duckdb", "duckdb", lambda found: found.to_duckdb(None)),
        ("pandas", "pandas", lambda found: found.to_pandas()),
    ],
)
def test_a_missing_package_is_an_error_that_names_the_extra(table, monkeypatch, module, extra, call):
    def missing(name):
        if name == module:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return __import__(name)

    monkeypatch.setattr(packages, "import_module", missing)
    with pytest.raises(UnsupportedError, match=rf"pip install 'sargo\[{extra}\]'"):
        call(scan(table, WHERE))


def test_a_connection_is_needed_for_duckdb(table):
    pytest.importorskip("duckdb")
    with pytest.raises(TypeError, match=r"duckdb\.connect"):
        scan(table, WHERE).to_duckdb("file.db")


def test_forms_of_a_residual(table):
    plan = prune(table, WHERE, "spark")
    assert plan.residual().to_sql("duckdb") == '("i" > 100 AND "p" = \'p1\')'
    with pytest.raises(UnsupportedError, match="dialect 'mysql' is not known"):
        plan.residual().to_sql("mysql")
    with pytest.raises(UnsupportedError, match="Polars does not decide"):
        prune(table, "upper(s) > 'B'").residual().to_polars()
    assert prune(table, "upper(s) > 'B'").residual().to_sql("spark-ansi") == "upper(s) > 'B'"
    with pytest.raises(UnsupportedError, match="hive4 does not decide"):
        prune(table, "upper(s) > 'B'").residual().to_sql("hive4")
    with pytest.raises(UnsupportedError, match="not understood"):
        prune(table, ex.Unknown("who knows")).residual().to_sql()


def test_long_lists_are_not_tested_row_by_row(table):
    members = ", ".join(map(str, range(20_000)))
    for text, name in ((f"i IN ({members})", "i"), (f"i NOT IN ({members})", "i")):
        found = scan(table, text, [name])
        assert found.whole.exact is not None
        assert all(
            (0 <= value < 20_000) == (" NOT " not in text) for value in found.to_table().column(name).to_pylist()
        )
