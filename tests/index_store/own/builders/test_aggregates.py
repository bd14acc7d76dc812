"""What an index says of whole partitions contains all of their files, however they were united, and stays true."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import expression as ex
from index_store import open_table
from index_store.own.builder import FILE_ID
from index_store.own.builders.aggregates import AGGREGATES, aggregate, united
from index_store.own.builders.expressions import EXPRESSION, to_json
from index_store.own.builders.local import build_locally
from index_store.own.builders.sketching import SketchPlan, sketch_file
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create, optimize, refresh
from index_store.own.maintenance.table_files import partitions_of
from index_store.own.sketches import parse_sketch
from index_store.own.sketches.values import decoded, python_values
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import version_files
from index_store.storage.storage import Storage
from index_store.table.file_rows import read_rows
from index_store.table.file_types import FileType
from tests.evaluator.strategies import TYPES
from tests.index_store.own.parquet_rows import awkward_files, possible, write_parquet
from tests.index_store.snapshots.rewinding import commit_by_commit

_COUNT = itertools.count()
COLUMNS = [name for name in TYPES if possible(["min_max"], TYPES[name])]


def value(stored: bytes, of: str):
    kind = FileType(of).type
    found = decoded(pa.array([stored], pa.large_binary()), kind)[0]
    return found.encode() if isinstance(found, str) else found


def check_contains(said, files):
    """``files``: of each file of the partition the number of its rows, and its values in plain form (None: NULL)."""
    assert said["files"] == len(files)
    values = [one for _, some in files for one in some]
    nulls = sum(one is None for one in values)
    assert said["rows"] is None or said["rows"] == len(values)
    assert said["nulls"] is None or said["nulls"] == nulls
    for one in values:
        if one is not None:
            assert said["nulls"] is None or said["nulls"] < said["rows"]
            assert said["lo"] is None or value(said["lo"], said["type"]) <= one
            assert said["hi"] is None or value(said["hi"], said["type"]) >= one


@settings(max_examples=80)
@given(data=st.data())
@pytest.mark.nightly
def test_a_partition_contains_the_rows_of_its_files(tmp_path_factory, data):
    columns = data.draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=2, unique=True))
    folder = tmp_path_factory.mktemp(f"files{next(_COUNT)}")
    partitions = data.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=6))
    for j, _ in enumerate(partitions):
        have = columns if data.draw(st.integers(0, 5)) else columns[:1]
        write_parquet(folder / f"{j}.parquet", data.draw(awkward_files(have)).rows, have, "us", 3)
    plan = SketchPlan.of([(name, text) for name in columns for text in ("min_max", "null_count")])
    storage = Storage.at(folder)
    rows = pa.Table.from_pylist(
        [{FILE_ID: j, **sketch_file(storage, f"{j}.parquet", plan)} for j in range(len(partitions))], plan.schema
    )
    rows = rows.append_column("partition", pa.array(partitions))
    whole = aggregate(rows, plan)
    assert sorted(zip(whole["partition"].to_pylist(), whole["on"].to_pylist(), strict=True)) == sorted(
        itertools.product(set(partitions), columns)
    )
    for said in whole.to_pylist():
        files = []
        for j in [j for j, one in enumerate(partitions) if one == said["partition"]]:
            of_file = []
            for batch in read_rows(storage, f"{j}.parquet", [said["on"]]):
                held = batch.columns[said["on"]]
                of_file += (
                    [None] * batch.rows
                    if held.values is None
                    else [
                        one.encode() if isinstance(one, str) else one
                        for one in python_values(held.values, held.type.type)
                    ]
                )
            files.append((len(of_file), of_file))
        check_contains(said, files)
        if len({FileType(one).text for one in _types_of(rows, said)} - {"empty"}) == 1 and not _any_doubt(rows, said):
            assert (said["lo"] is None) == all(one is None for _, some in files for one in some)

    pieces = data.draw(st.lists(st.integers(0, 2), min_size=len(partitions), max_size=len(partitions)))
    order = data.draw(st.permutations(range(3)))
    parts = [aggregate(rows.filter(pa.array([one == number for one in pieces])), plan) for number in order]
    again = united([united(parts[:2]), parts[2]])
    key = [("partition", "ascending"), ("on", "ascending")]
    assert again.sort_by(key).equals(whole.sort_by(key))


def _types_of(rows, said):
    return [row[f"{said['on']}:type"] for row in rows.to_pylist() if row["partition"] == said["partition"]]


def _any_doubt(rows, said):
    """Whether some file has values without a bound: a NaN, text without a short one."""
    on = said["on"]
    return any(
        row[f"{on}:type"].startswith("!")
        or row[f"{on}:type"] == "absent"
        or (row["rows"] != row[f"{on}:nulls"] and None in (row[f"{on}:min_max:lo"], row[f"{on}:min_max:hi"]))
        for row in rows.to_pylist()
        if row["partition"] == said["partition"]
    )


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


def definition_of(table):
    entries = [
        Entry(column.name, "min_max")
        for column in table.schema
        if not parse_sketch("min_max").why_not(column.type) and not column.name.startswith("_hoodie")
    ]
    return Definition("mine", tuple(entries))


def each_file(index):
    """The row of each file that the index knows, with its partition."""
    for part in index.statistics():
        paths = index.files["path"].take(pa.array(part.index_rows))
        yield from part.columns.append_column("partition", partitions_of(paths)).to_pylist()


def check_index(index):
    said = {(row["partition"], row["on"]): row for row in united(index.partition_aggregates()).to_pylist()}
    seen = 0
    for row in each_file(index):
        for on in (entry.on for entry in index.definition.entries):
            of = said[row["partition"], on]
            assert of["rows"] is None or of["rows"] >= row["rows"]
            assert of["nulls"] is None or of["nulls"] >= row[f"{on}:nulls"]
            if of["rows"] is not None and of["rows"] == of["nulls"]:
                assert row[f"{on}:nulls"] == row["rows"]
            if row[f"{on}:min_max:lo"] is not None and of["lo"] is not None:
                assert value(of["lo"], of["type"]) <= value(row[f"{on}:min_max:lo"], row[f"{on}:type"])
                assert value(of["hi"], of["type"]) >= value(row[f"{on}:min_max:hi"], row[f"{on}:type"])
                seen += 1
    return seen


@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor", "1.1.1_evol_cow"])
def test_it_stays_true_from_commit_to_commit_and_when_all_is_put_together(name, hudi_copy, tmp_path):
    path, folder, seen, gone = hudi_copy(name), Folder.at(tmp_path / "index"), 0, 0
    for number, _ in enumerate(commit_by_commit(path, tmp_path / "aside")):
        table = open_table(path)
        if version_files(folder):
            gone += refresh(folder, table, build_locally).gone
        else:
            create(folder, table, definition_of(table), build_locally)
        index = OwnIndex.open(folder)
        assert index.is_aggregated
        seen += check_index(index)
        if number % 3 == 2:
            optimize(folder)
            index = OwnIndex.open(folder)
            assert index.is_aggregated
            seen += check_index(index)
            for whole in index.partition_aggregates():
                assert len(index.version.builds) == 1
                assert whole.schema.equals(AGGREGATES)
                assert len({(row["partition"], row["on"]) for row in whole.to_pylist()}) == whole.num_rows > 0
    assert seen > 100
    assert gone > 0 or name != "1.1.1_main_cow"


class WithoutPartitions:
    """Builds as was done before anything was said of partitions."""

    def __init__(self, table, definition):
        self.build = build_locally(table, definition).build


def test_an_index_that_was_begun_without_it_does_not_speak_of_all_files(hudi_copy, tmp_path):
    path, folder, refreshed = hudi_copy("1.1.1_main_cow"), Folder.at(tmp_path / "index"), 0
    for _ in commit_by_commit(path, tmp_path / "aside"):
        table = open_table(path)
        if not version_files(folder):
            create(folder, table, definition_of(table), WithoutPartitions)
        elif not OwnIndex.open(folder).version.files:
            refresh(folder, table, WithoutPartitions)
        else:
            refreshed += refresh(folder, table, build_locally).built
            assert not OwnIndex.open(folder).is_aggregated
    assert refreshed > 0
    assert OwnIndex.open(folder).partition_aggregates()
    optimize(folder)
    index = OwnIndex.open(folder)
    assert not index.is_aggregated
    assert index.partition_aggregates() == []
    refresh(folder, open_table(path), build_locally, full=True)
    assert OwnIndex.open(folder).is_aggregated


def test_bounds_of_expressions_are_those_of_their_values(hudi_copy, tmp_path):
    table, folder = open_table(hudi_copy("1.1.1_main_cow")), Folder.at(tmp_path / "index")
    upper = to_json(ex.Call("upper", (ex.Column(("id",)),)))
    create(
        folder,
        table,
        Definition(
            "mine", (Entry("upper(id)", "min_max"), Entry("id", "min_max")), options={f"{EXPRESSION}upper(id)": upper}
        ),
        build_locally,
    )
    whole = united(OwnIndex.open(folder).partition_aggregates())
    rows = {(row["partition"], row["on"]): row for row in whole.to_pylist()}
    assert rows
    for (partition, on), row in rows.items():
        assert row["type"] == "string"
        assert row["lo"].decode().upper() == rows[partition, "upper(id)"]["lo"].decode()
        assert row["hi"].decode().upper() == rows[partition, "upper(id)"]["hi"].decode(), on
