"""Mistakes in calls of a plan, of an opened table, and of what opens, decodes and indexes: none passes in silence."""

import pytest

import handler
import index_store
import sarg
from handler import open_table, prune
from handler.advise.workload import read_workload
from handler.indexes.operations import IndexWork


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


@pytest.fixture(scope="module")
def plan(table):
    return prune(table, "i > 100", time_zone="UTC")


@pytest.mark.parametrize("index", [14, 99, -1, -99])
def test_a_residual_of_no_slice_is_an_error_and_not_false(plan, index):
    with pytest.raises(IndexError, match="14 slices"):
        plan.residual(index)


@pytest.mark.parametrize("index", ["a", None, 1.5])
def test_a_residual_by_what_is_no_index(plan, index):
    with pytest.raises(TypeError):
        plan.residual(index)


@pytest.mark.parametrize("count", ["5", None, 1.5])
def test_a_limit_that_is_no_number_of_rows(plan, count):
    with pytest.raises(TypeError):
        plan.slices_for_limit(count)


def test_an_order_by_a_misspelt_column_names_a_similar_one(plan):
    assert "did you mean id" in plan.order_slices("idd").note
    for by, options in ((None, {}), (5, {}), ("i", {"descending": "desc"}), ("i", {"nulls_first": "yes"})):
        with pytest.raises(TypeError):
            plan.order_slices(by, **options)


def test_reading_never_stops_before_it_began(plan):
    ordered = plan.order_slices("i")
    with pytest.raises(ValueError, match="from 0 on"):
        ordered.may_stop(-1, 5)
    for read in ("1", None, 1.0, True):
        with pytest.raises(TypeError, match="number of slices"):
            ordered.may_stop(read, 5)


@pytest.mark.parametrize("path", [None, 5, b"/data", ["/data"]])
def test_a_path_that_is_none(path):
    for opens in (handler.open_table, index_store.open_table):
        with pytest.raises(TypeError, match="path"):
            opens(path)


def test_an_empty_path_is_not_the_working_directory():
    for opens in (handler.open_table, index_store.open_table):
        with pytest.raises(ValueError, match="empty"):
            opens("")


@pytest.mark.parametrize("cache", ["off", "a/folder", 5, True])
def test_a_cache_that_is_none(main_cow, cache):
    with pytest.raises(TypeError, match="SnapshotCache"):
        open_table(main_cow, cache=cache)


@pytest.mark.parametrize("as_of", [5, b"2026", 1.5])
def test_an_instant_that_is_no_text(table, as_of):
    for call in (table.at, table.table.slices, table.table.file_slices):
        with pytest.raises(TypeError, match="as_of"):
            call(as_of)


@pytest.mark.parametrize("as_of", ["", "nope", "\u00b2\u00b2", "\u0663"])
def test_an_instant_that_is_none(table, as_of):
    with pytest.raises(index_store.TableError, match="not an instant"):
        table.at(as_of)


def test_a_partition_that_is_none(table):
    with pytest.raises(index_store.TableError, match="no partition"):
        table.table.files("nope")
    for partition in (5, None, b"x"):
        with pytest.raises(TypeError, match="partition"):
            table.table.files(partition)


@pytest.mark.parametrize("given", [None, 5, [1], {"a": 1}])
def test_a_hive_filter_that_is_neither_bytes_nor_text(given):
    for decodes in (sarg.decode, sarg.decode_detailed, sarg.decode_exprnode):
        with pytest.raises(TypeError, match="Hive filter"):
            decodes(given)


def test_the_columns_of_an_index_are_a_list(main_cow):
    work = IndexWork(str(main_cow))
    for on, using in (("s", ["min_max"]), (["s"], "min_max"), (None, []), (["s"], None)):
        with pytest.raises(TypeError, match="a list of texts"):
            work.create(on, using)


def test_a_workload_is_lines(table):
    for lines in ("i = 5", b"i = 5", None, 5):
        with pytest.raises(TypeError, match="lines"):
            read_workload(lines, table.path, table.table.schema)
    with pytest.raises(ValueError, match="spark"):
        read_workload(["i = 5"], table.path, table.table.schema, "postgres")
