"""An index that Spark's workers built is the one that this process builds: the same bytes, the same answers."""

from __future__ import annotations

import pyarrow as pa
import pytest

from evaluator.language import expression as ex
from handler import open_table, prune
from index_store.own.builder import NewFiles
from index_store.own.builders.expressions import EXPRESSION, to_json
from index_store.own.builders.local import build_locally
from index_store.own.builders.spark import build_on
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create
from index_store.own.sketches import parse_sketch
from index_store.own.store.locations import folder_of
from index_store.own.store.own_index import OwnIndex
from tests.index_store.format_tables import unpack_format_table

SKETCHES = (
    "null_count",
    "nan_count",
    "min_max",
    "value_list",
    "prefix_set",
    "partition",
    "bloom_filter(fpp=0.01)",
    "sum",
)


def definition_of(table, name):
    entries = [
        Entry(column.name, text)
        for column in table.schema
        for text in SKETCHES
        if not parse_sketch(text).why_not(column.type)
    ]
    upper = to_json(ex.Call("upper", (ex.Column(("id",)),)))
    return Definition(name, (*entries, Entry("upper(id)", "min_max")), options={f"{EXPRESSION}upper(id)": upper})


def rows_of(builder, table, index):
    files = NewFiles(index.files)
    rows = pa.Table.from_batches(list(builder.build(files)))
    return rows.sort_by("file_id").to_pylist()


@pytest.mark.parametrize("name", ["1.2.0_order_event_mor"])
def test_spark_makes_the_same_bytes_as_this_process(spark, tmp_path, name):
    folder = unpack_format_table(name, tmp_path / "t")
    table = open_table(folder).table
    change = create(folder_of(table, "spark"), table, definition_of(table, "spark"), build_on(spark))
    assert change.built > 2
    assert change.unread == 0
    index = OwnIndex.open(folder_of(table, "spark"))
    local, remote = (make(table, index.definition) for make in (build_locally, build_on(spark)))
    assert rows_of(local, table, index) == rows_of(remote, table, index)
    for text in ("id = 'nobody'", "id LIKE '%nobody%'", "id NOT LIKE 'k0%'", "upper(id) > 'L'"):
        assert len(prune(folder, text, "spark", time_zone="UTC", strict=True).kept) == 0


def test_files_that_are_gone_get_no_row(spark, tmp_path):
    folder = unpack_format_table("1.2.0_evolved_cow", tmp_path / "t")
    table = open_table(folder).table
    definition = definition_of(table, "x")
    create(folder_of(table, "x"), table, definition, build_locally)
    files = OwnIndex.open(folder_of(table, "x")).files
    (folder / files["path"][0].as_py()).unlink()
    found = pa.Table.from_batches(list(build_on(spark)(table, definition).build(NewFiles(files))))
    assert sorted(found["file_id"].to_pylist()) == sorted(files["file_id"].to_pylist())[1:]
