"""Sums from an own index: those of the rows of the files, and none where index and footer do not agree."""

from __future__ import annotations

import shutil
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from evaluator.language.errors import UnsupportedError
from handler import open_table, prune
from handler.aggregates import answers
from handler.aggregates.aggregate import Aggregate
from handler.aggregates.split import split_aggregates
from handler.indexes.operations import IndexWork
from handler.sql.parsing import parse
from index_store.own.sketches import parse_sketch
from index_store.own.store import stored_table
from index_store.storage.errors import TableError
from tests.handler.aggregates.table_aggregates import TableRows
from tests.handler.aggregates.test_random_files import CONDITIONS, SPARK, columns_of_a_file, of_rows, written
from tests.handler.aggregates.test_real_tables import ARCHIVES, check, states, unpack
from tests.sampling import examples, share

SUMMED = ("i", "dec", "e")
SUMS = [Aggregate("sum", name) for name in SUMMED]
IDS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return iter(lambda: tmp_path_factory.mktemp("files"), None)


def indexed(folder, files, columns=SUMMED):
    """A table of these files with an index of sums, opened."""
    written(folder, files)
    IndexWork(str(folder)).create(columns, ["sum"], name="totals")
    return open_table(folder, cache=None)


@settings(
    max_examples=examples(15, at_night=800),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    files=st.lists(columns_of_a_file(), min_size=1, max_size=4),
    condition=CONDITIONS,
    asked=st.lists(st.sampled_from([*SUMS, Aggregate("count"), Aggregate("max", "i")]), min_size=1, max_size=3),
)
def test_answered_and_scanned_slices_together_have_the_sum_of_all_rows(folders, files, condition, asked):
    opened = indexed(next(folders), files)
    rows, expression = TableRows(opened, opened.at().slices.instant), parse(condition, "spark")
    plan = prune(opened, condition, "spark", time_zone="UTC")
    split = split_aggregates(plan, asked)
    assert len(split.answered) + len(split.scanned) == len(plan.kept)
    every = [row for item in plan.slices for row in rows.satisfying(item, expression, SPARK)]
    scanned = [row for found in split.scanned for row in rows.satisfying(found.item, expression, SPARK)]
    for place, one in enumerate(asked):
        event(f"{'answered' if split.answered else 'scanned'} {one.function}")
        totals = [split.totals[place]] if split.answered else []
        assert one.total([*totals, of_rows(one, scanned)]) == of_rows(one, every)


FILE = {
    "i": pa.array([5, None, -7], pa.int32()),
    "dec": pa.array([Decimal("1.5"), None, Decimal("-2.5")], pa.decimal128(8, 1)),
    "e": pa.array([1, 2, 3], pa.int32()),
}


def file_of(**columns):
    return pa.table({"id": IDS, **FILE, **columns}), {}


def test_sums_are_of_the_types_of_the_table_and_of_sparks_sum(folders):
    wider = {"i": pa.array([2**40, 1, None], pa.int64()), "dec": pa.array([Decimal("0.25")] * 3, pa.decimal128(12, 2))}
    split = split_aggregates(prune(indexed(next(folders), [file_of(), file_of(**wider)]), "TRUE"), SUMS)
    assert split.totals == (2**40 - 1, -25, 12)  # -1.0 and 0.75 in hundredths
    assert [str(of) for of in split.types] == ["bigint", "decimal(22,2)", "bigint"]
    assert "sum(dec): -0.25 by footers" in str(split)


def test_a_file_that_came_after_the_refresh_is_scanned(folders):
    before, folder = next(folders), next(folders)
    indexed(before, [file_of()])
    opened = written(folder, [file_of(), file_of(i=pa.array([1, 2, 3], pa.int32()))])
    shutil.copytree(before / ".sargo", folder / ".sargo")
    split = split_aggregates(prune(opened, "TRUE"), SUMS[:1])
    assert split.totals == (-2,)
    assert split.reasons == (("the file holds several values of column i, and no own index has their sum", 1),)


@pytest.mark.parametrize(
    ("column", "other", "reason"),
    [
        ("i", pa.array([9, None, 9], pa.int32()), None),  # the footer's one value is enough
        ("i", pa.array([5, None, None], pa.int32()), None),
        ("i", pa.array([5, 6, 7], pa.int32()), "contradicts"),  # other NULLs
        ("i", pa.array([50, None, 51], pa.int32()), "contradicts"),  # a sum that is not between the bounds
        ("e", pa.array([1.0, 2.0, 3.0]), "double in the file"),
        (
            "dec",
            pa.array([Decimal("1.50"), None, Decimal("-2.50")], pa.decimal128(20, 12)),
            "decimal(20,12) in the file",
        ),
    ],
)
def test_an_index_that_does_not_agree_with_the_footer_answers_nothing(folders, column, other, reason):
    """Another file stands where the indexed one was, which no writer does."""
    folder = next(folders)
    opened = indexed(folder, [file_of()])
    path = folder / opened.at().slices[0].base_file
    parquet.write_table(file_of(**{column: other})[0], path)
    split = split_aggregates(prune(open_table(folder, cache=None), "TRUE"), [Aggregate("sum", column)])
    assert reason is None or reason in split.reasons[0][0]
    assert len(split.answered) == (reason is None)


def test_of_a_large_index_the_row_groups_with_the_files_are_read(folders, monkeypatch):
    """Its other row groups may be damaged."""
    monkeypatch.setattr(stored_table, "GROUP_ROWS", 2)
    folder = next(folders)
    numbers = [file_of(i=pa.array([number, None, -1], pa.int32())) for number in range(7)]
    opened = indexed(folder, numbers)
    plan, items = prune(opened, "TRUE"), list(opened.at().slices)
    assert split_aggregates(plan, SUMS[:1]).totals == (sum(range(7)) - 7,)
    read = []
    whole = stored_table._OpenTable.read
    monkeypatch.setattr(
        stored_table._OpenTable,
        "read",
        lambda self, group, names: read.append((group, len(names))) or whole(self, group, names),
    )
    assert split_aggregates(plan, SUMS[:1], [items[3]]).totals == (2,)
    assert read == [(0, 1), (1, 1), (1, 5), (2, 1), (3, 1)]


def test_a_damaged_index_and_one_that_cannot_be_listed_answer_nothing(folders, monkeypatch):
    folder = next(folders)
    opened = indexed(folder, [file_of()])
    assert split_aggregates(prune(opened, "TRUE"), SUMS).totals == (-2, -100, 6)
    for path in (folder / ".sargo").rglob("*"):
        if path.is_file() and path.suffix == ".parquet":
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 255
            path.write_bytes(content)
    split = split_aggregates(prune(open_table(folder, cache=None), "TRUE"), SUMS)
    assert split.answered == ()

    def fails(table, _):
        raise TableError(table.path, "no listing")

    monkeypatch.setattr(answers, "own_indexes_of", fails)
    assert split_aggregates(prune(opened, "TRUE"), SUMS).answered == ()


def test_an_index_of_sums_keeps_every_file_that_a_filter_needs(folders):
    """It says nothing of single values; of NULLs it knows the number."""
    folder = next(folders)
    indexed(folder, [file_of(), file_of(e=pa.array([None] * 3, pa.int32()))])
    opened = open_table(folder, cache=None)
    assert len(prune(opened, "i = 5", "spark").kept) == 2
    assert len(prune(opened, "e IS NULL", "spark").kept) == 1


@pytest.mark.parametrize("archive", share(ARCHIVES, 12), ids=lambda path: path.name)
def test_sums_of_files_of_real_tables_are_those_of_their_rows(archive, tmp_path):
    faults, answered, files = [], 0, 0
    for folder in unpack(archive, tmp_path):
        schema = open_table(folder, cache=None).table.schema
        columns = [one.name for one in schema if not parse_sketch("sum").why_not(one.type) and "." not in one.name]
        if not columns:
            continue
        IndexWork(str(folder)).create(columns, ["sum"], name="totals")
        for _, everything, rows in states(open_table(folder, cache=None)):
            for name in set(columns) & set(rows.names):
                try:
                    split = split_aggregates(everything, [Aggregate("sum", name)])
                except UnsupportedError:
                    continue
                check(split, rows, faults)
                files += len(rows.items)
                answered += sum(one.values[0] is not None for one in split.answered)
    assert faults == []
    assert answered > 0 or files == 0  # where all slices have log files
