"""A filter on the files of merged slices, one by one: against rows that are merged from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.language.schema import Field, Schema
from evaluator.language.types import INT
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from handler.sql.parsing import parse
from index_store.kinds.column_stats.file_reading import FileRows
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.one_file import match_in_one_file
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.table.file_slices import FileSlice, FileSlices
from tests.evaluator.short_forms import SPARK

SCHEMA = Schema([Field("i", INT), Field("l", INT)])
FILTERS = [
    "i > 10 AND l > 4",
    "i > 10 AND i < 4",
    "i > 10 AND l IS NULL",
    "i = l OR (i < 3 AND l > 7)",
    "NOT (i < 5 OR l < 5)",
    "i BETWEEN 3 AND 5 AND l = 4",
    "(i IS NULL) AND l >= 0",
]
ROW = st.fixed_dictionaries({"i": st.none() | st.integers(0, 12), "l": st.none() | st.integers(0, 12)})
#: A log file has whole records, or those of a partial update: the column that it lacks.
LOG = st.tuples(st.lists(ROW, max_size=2), st.sampled_from([None, None, "i", "l"]))
SLICE = st.tuples(st.lists(ROW, max_size=3), st.lists(LOG, max_size=2))


def rows_of_column(name, files, contents, absent_as_null):
    """Statistics of one column in each file, as Hudi writes them; of an absent one none, or NULLs."""
    kept = [n for n, (_, lacks) in enumerate(contents) if lacks != name or absent_as_null]
    values = [[None if contents[n][1] == name else row[name] for row in contents[n][0]] for n in kept]
    stored = [[value for value in one if value is not None] for one in values]
    m = len(kept)
    nulls = np.array([one.count(None) for one in values], np.int64)
    rows = np.array([len(one) for one in values], np.int64)
    has_value = np.array([bool(one) for one in stored], np.bool_)
    return FileRows(
        FileStatistics(
            type=INT,
            file_index=np.array(kept, np.intp),
            lo=np.array([min(one, default=0) for one in stored], np.int64),
            hi=np.array([max(one, default=0) for one in stored], np.int64),
            lo_known=has_value,
            hi_known=has_value,
            nulls=nulls,
            rows=rows,
            trust=np.zeros(m, np.uint8),
            empty=rows == 0,
            null_only=(nulls == rows) & (rows > 0),
            size=np.full(m, UNKNOWN_COUNT, np.int64),
        ),
        np.array([], np.intp),
    )


def table_of(slices):
    items, contents = [], []
    for number, (base, logs) in enumerate(slices):
        names = tuple(f".{number}_1.log.{place}_0" for place in range(len(logs)))
        items.append(FileSlice("", str(number), f"{number}_0_1.parquet", names))
        contents += [(base, None), *logs]
    return SliceFiles.of(FileSlices("1", "listing", tuple(items))), contents


@given(st.lists(SLICE, min_size=1, max_size=3), st.sampled_from(FILTERS), st.booleans())
def test_no_row_that_is_merged_from_the_files_is_lost(slices, text, absent_as_null):
    files, contents = table_of(slices)
    known = {name: rows_of_column(name, files, contents, absent_as_null) for name in ("i", "l")}
    expression = parse(text, "spark")
    bound = bind(expression, SCHEMA, SPARK)
    match = match_in_one_file("column_stats", bound, np.ones(files.slices, np.bool_), files, known)
    if match is None:
        return
    for number, (base, logs) in enumerate(slices):
        below = [row for rows, lacks in logs if lacks is None for row in rows] + base
        merged = list(below)
        for rows, lacks in logs:
            if lacks is not None:  # the column that the update lacks is that of any version before
                merged += [{**row, lacks: older[lacks]} for row in rows for older in below]
        if any(value_of(expression, row, SCHEMA, SPARK) is True for row in merged):
            assert match.filter_might_match[number], (number, merged)


def one_slice(base, log, lacks=None):
    files, contents = table_of([(base, [(log, lacks)])])
    return files, {name: rows_of_column(name, files, contents, False) for name in ("i", "l")}


def kept(text, files, known, candidates=None):
    bound = bind(parse(text, "spark"), SCHEMA, SPARK)
    asked = np.ones(files.slices, np.bool_) if candidates is None else candidates
    match = match_in_one_file("column_stats", bound, asked, files, known)
    return None if match is None else match.filter_might_match.tolist()


BASE, LOG_ROW = [{"i": 1, "l": 5}, {"i": 9, "l": 6}], [{"i": 20, "l": 1}]


def test_two_conditions_that_no_file_meets_at_once_skip_the_slice():
    files, known = one_slice(BASE, LOG_ROW)
    assert kept("i > 10 AND l > 4", files, known) == [False]
    assert kept("i > 10 AND l < 4", files, known) == [True]
    assert kept("i BETWEEN 10 AND 19", files, known) == [False]


def test_one_condition_is_left_to_the_statistics_of_the_slice():
    assert kept("i > 10", *one_slice(BASE, LOG_ROW)) is None


def test_slices_without_logs_and_those_ruled_out_before_are_not_looked_at():
    files, known = one_slice(BASE, LOG_ROW)
    assert kept("i > 10 AND l > 4", files, known, np.zeros(1, np.bool_)) is None
    files, contents = table_of([(BASE, [])])
    known = {name: rows_of_column(name, files, contents, False) for name in ("i", "l")}
    assert kept("i > 10 AND l > 4", files, known) is None


def test_a_null_in_a_log_file_may_mean_that_the_column_was_left_out():
    assert kept("i > 10 AND l > 4", *one_slice(BASE, [{"i": 20, "l": None}])) == [True]


def test_a_log_file_of_deletions_adds_no_row():
    files, known = one_slice(BASE, [])
    assert kept("i > 10 AND l > 4", files, known) == [False]


@pytest.mark.parametrize("why", ["distrusted", "unknown"])
def test_columns_without_believed_statistics_may_be_anything(why):
    files, known = one_slice(BASE, LOG_ROW)
    if why == "unknown":
        del known["l"]
    else:
        known["l"] = FileRows(known["l"].rows, known["l"].deleted, Trust.RENAMED)
    assert kept("i > 10 AND l > 4", files, known) == [True]
