"""The benefit of an index is read from its statistics, and is what the rows of its files say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from index_store import open_table
from index_store.own.advice.benefit import benefits_of
from index_store.own.advice.selectivity_score import AT_LEAST, AT_MOST, EXACT
from index_store.own.builders.local import build_locally
from index_store.own.builders.sketching import sketch_field
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create
from index_store.own.sketches import parse_sketch
from index_store.own.store.locations import folder_of
from index_store.own.store.own_index import OwnIndex

SKETCHES = (
    "min_max",
    "value_list(limit=1000)",
    "partition",
    "prefix_set(limit=100, length=16)",
    "bloom_filter(fpp=0.05)",
    "null_count",
    "nan_count",
    "sum",
)


@pytest.fixture(scope="module")
def built(hudi_table, tmp_path_factory):
    table = open_table(hudi_table("1.1.1_main_cow"))
    entries = tuple(
        Entry(one, sketch)
        for one in ("s", "i", "f", "u", "dt")
        for sketch in SKETCHES
        if not parse_sketch(sketch).why_not(table.schema.resolve(one).type)
    )
    folder = folder_of(table, "", str(tmp_path_factory.mktemp("index") / "all"))
    create(folder, table, Definition("all", entries), build_locally)
    return table, OwnIndex.open(folder), benefits_of(table, OwnIndex.open(folder))


def values_by_file(table, index, column):
    return [
        pq.read_table(f"{table.path}/{path}", columns=[column], partitioning=None)[column].to_pylist()
        for path in index.files["path"].to_pylist()
    ]


def test_every_sketch_that_skips_files_has_a_benefit(built):
    _, index, found = built
    assert [one.entry for one in found] == [one for one in index.definition.entries if one.sketch != "sum"]
    assert all(0 <= one.score.score <= 100 and one.drawn == index.files.num_rows for one in found)


@pytest.mark.parametrize("column", ["s", "i", "u", "dt"])
def test_an_equality_leaves_the_files_that_have_the_value(built, column):
    table, index, found = built
    files = [set(filter(lambda one: one is not None, some)) for some in values_by_file(table, index, column)]
    n = len(files)
    by = {one.entry.sketch: one.score for one in found if one.entry.on == column}
    left = np.mean([np.mean([sum(value in other for other in files) for value in some]) for some in files if some])
    listed = by["value_list(limit=1000)"]
    assert (listed.basis, listed.slices) == (EXACT, n)
    assert listed.left == pytest.approx(left)
    with_values = sum(map(bool, files)) / n
    assert listed.score == pytest.approx(100 * (1 - (left - 1) * with_values / (n - 1)))
    spans = [(min(some), max(some)) for some in files if some]
    meeting = sum(a[0] <= b[1] and b[0] <= a[1] for a in spans for b in spans) - len(spans)
    bounds = by["min_max"]
    assert bounds.basis == AT_LEAST
    assert bounds.score == pytest.approx(100 * (1 - meeting / (n * (n - 1))))
    assert bounds.left == pytest.approx(
        np.mean([sum(a <= end <= b for a, b in spans) for span in spans for end in span])
    )
    assert bounds.score <= listed.score + 1e-9


def test_counts_say_how_many_files_have_none(built):
    table, index, found = built
    for column in ("s", "f"):
        files = values_by_file(table, index, column)
        by = {one.entry.sketch: one.score for one in found if one.entry.on == column}
        assert by["null_count"].left == sum(None in some for some in files)
    nans = sum(any(value != value for value in some if value is not None) for some in values_by_file(table, index, "f"))
    assert by["nan_count"].left == nans


@pytest.mark.parametrize("sketch", ["bloom_filter(fpp=0.05)", "bloom_filter(size=8B)"])
def test_filters_are_not_read_to_know_how_full_they_are(built, tmp_path, monkeypatch, sketch):
    table, *_ = built
    entry = Entry("s", parse_sketch(sketch).text)
    folder = folder_of(table, "", str(tmp_path / "blooms"))
    create(folder, table, Definition("blooms", (entry,)), build_locally)
    index = OwnIndex.open(folder)
    names = [sketch_field("s", "bloom_filter", one) for one in ("bits", "hashes")]
    rates = []
    for part in index.statistics(names):
        for bits, hashes in zip(*(part.columns[name].to_pylist() for name in names), strict=True):
            ones = 1.0 if bits is None else np.unpackbits(np.frombuffer(bits, np.uint8)).mean() if bits else 0.0
            rates.append(ones ** (hashes or 1))
    read = []
    statistics = OwnIndex.statistics

    def watched(self, columns=None):
        read.extend(columns)
        return statistics(self, columns)

    monkeypatch.setattr(OwnIndex, "statistics", watched)
    [found] = benefits_of(table, index)
    assert names[0] not in read
    assert found.score.basis == AT_MOST
    assert found.score.score == pytest.approx(100 * (1 - np.mean(rates)), abs=3)


def test_of_many_files_some_are_drawn(built):
    table, index, found = built
    few = {one.entry: one for one in benefits_of(table, index, 7)}
    for one in found:
        assert few[one.entry].drawn == 7
        assert few[one.entry].score.slices == index.files.num_rows
        assert few[one.entry].score.score == pytest.approx(one.score.score, abs=35)


def test_an_index_that_knows_no_file_has_no_benefit(built, tmp_path, monkeypatch):
    table, index, _ = built
    monkeypatch.setattr(OwnIndex, "files", pa.table({"path": pa.array([], pa.string())}))
    assert benefits_of(table, OwnIndex(index.folder, index.version)) == []
