"""A damaged file is an error that names it, and never another answer."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from index_store import open_table
from index_store.own.maintenance.operations import create, optimize, refresh
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.stored_table import read_table, write_table
from index_store.own.store.versions import NoIndexError, latest_versions, version_files
from index_store.storage.errors import StatsError, TableError
from tests.index_store.own.toy import DEFINITION, Toy, answers
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away
from tests.sampling import examples


@pytest.fixture(scope="module")
def table_and_index(hudi_table, tmp_path_factory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("damage")
    table = Path(shutil.copytree(hudi_table("1.1.1_main_mor"), root / "table"))
    names = instants(table)
    take_away(table, root / "aside")
    bring_back(table, root / "aside", names[0])
    create(Folder.at(root / "index"), open_table(table), DEFINITION, Toy())
    bring_back(table, root / "aside", names[-1])
    refresh(Folder.at(root / "index"), open_table(table), Toy())
    return table, root / "index"


def everything_said(path: Path) -> object:
    opened = OwnIndex.open(Folder.at(path))
    return answers(opened), [one.to_pylist() for one in opened.partition_aggregates()], opened.definition


def everything_said_or_error(path: Path) -> object:
    try:
        return everything_said(path)
    except TableError as error:
        return str(error)


FILES = [
    "versions/*2.json",
    "manifests/*.master.parquet",
    "manifests/*.delta.parquet",
    "statistics/*-0.parquet",
    "partitions/*.parquet",
]


@pytest.mark.parametrize("pattern", FILES)
def test_no_flipped_byte_changes_an_answer(pattern: str, index: Path) -> None:
    said, draw = everything_said(index), random.Random(pattern)
    for path in index.glob(pattern):
        whole = path.read_bytes()
        noticed = 0
        places = draw.sample(range(len(whole)), min(examples(20, at_night=60), len(whole)))
        for place in places:
            damaged = bytearray(whole)
            damaged[place] ^= 1 << draw.randrange(8)
            path.write_bytes(damaged)
            found = everything_said_or_error(index)
            if isinstance(found, str):
                assert str(index) in found
                noticed += 1
            elif path.suffix == ".json":
                noticed += bool(OwnIndex.open(Folder.at(index)).faults)
            else:
                assert found == said
        path.write_bytes(whole)
        assert noticed >= 0.8 * len(places)  # the rest is padding, or spaces between words
    assert everything_said(index) == said


@pytest.mark.parametrize("pattern", FILES[1:])
@pytest.mark.parametrize("left", [0.0, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_an_error(pattern: str, left: float, index: Path) -> None:
    for path in index.glob(pattern):
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * left)])
        with pytest.raises(TableError, match=r"instead of|damaged"):
            everything_said(index)
        path.unlink()
        with pytest.raises(TableError, match="no such file"):
            everything_said(index)
        path.write_bytes(whole)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"digest": "", "version": {}}', b"\xff\xfe", None])
def test_a_version_that_is_no_whole_one_is_passed_over_and_its_number_is_not_used_again(
    content: bytes | None, index: Path, table_and_index: tuple[Path, Path]
) -> None:
    newest = index / "versions" / "0000000002.json"
    said = answers(OwnIndex.open(Folder.at(index)))
    newest.write_bytes(newest.read_bytes()[:-20] if content is None else content)
    opened = OwnIndex.open(Folder.at(index))
    assert opened.version.number == 1
    assert "0000000002.json" in opened.faults[0]
    assert refresh(Folder.at(index), open_table(table_and_index[0]), Toy()).version.number == 3
    opened = OwnIndex.open(Folder.at(index))
    assert (answers(opened), opened.faults) == (said, ())


def test_without_a_whole_version_it_says_what_to_do(index: Path, tmp_path: Path) -> None:
    for path in (index / "versions").iterdir():
        path.write_text("{}")
    with pytest.raises(TableError, match=r"no version of this index is whole.*drop it and create it again"):
        OwnIndex.open(Folder.at(index))
    with pytest.raises(NoIndexError, match="there is no index here: create one"):
        OwnIndex.open(Folder.at(tmp_path / "none"))


def test_a_version_of_a_newer_form_is_not_guessed(index: Path) -> None:
    from index_store.own.store.versions import FORMAT_OF_GENERATIONS, _digest

    path = index / "versions" / "0000000002.json"
    plain = json.loads(path.read_text())["version"]
    plain["format"] = FORMAT_OF_GENERATIONS + 1
    path.write_text(json.dumps({"digest": _digest(plain), "version": plain}))
    assert "written by a newer Sargo" in str(latest_versions(Folder.at(index)).faults[0])


def test_optimize_does_not_carry_damage_on(index: Path) -> None:
    path = next(index.glob("statistics/*-0.parquet"))
    data = bytearray(path.read_bytes())
    data[40] ^= 255
    path.write_bytes(data)
    with pytest.raises(TableError, match="damaged"):
        optimize(Folder.at(index))
    assert len(version_files(Folder.at(index))) == 2


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ({"rows": [1]}, "without the id"),
        ({"file_id": pa.array([None], pa.int32())}, "without the id"),
        ({"file_id": ["0"]}, "without the id"),
        ({"file_id": pa.array([-1], pa.int32())}, "not asked for"),
        ({"file_id": pa.array([10_000], pa.int32())}, "not asked for"),
        ({"file_id": pa.array([1, 1], pa.int32())}, "or twice"),
    ],
)
def test_a_builder_that_gives_other_rows_is_refused(rows, why, table_and_index, tmp_path):
    class Wrong(Toy):
        def build(self, _):
            yield pa.record_batch(rows)

    with pytest.raises(StatsError, match=why):
        create(Folder.at(tmp_path), open_table(table_and_index[0]), DEFINITION, Wrong())
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_only_the_columns_asked_for_have_to_be_whole(tmp_path):
    """Of a large file only some columns are read; names may hold dots, types may be nested."""
    folder = Folder.at(tmp_path)
    table = pa.table(
        {
            "a.b": pa.array(range(1000)),
            "a.b.c": pa.array([[i, None] for i in range(1000)]),
            "a": pa.array([{"b": i, "c": [{"d": str(i)}]} for i in range(1000)]),
            "m": pa.array([[("k", i)] for i in range(1000)], pa.map_(pa.string(), pa.int64())),
            "f": pa.array([[i, i] for i in range(1000)], pa.list_(pa.int32(), 2)),
            "d": pa.array(["x", "y"] * 500).dictionary_encode(),
            "n": pa.nulls(1000),
        }
    )
    stored = write_table(folder, "x/y.parquet", table)
    assert read_table(folder, stored).equals(table)
    path = tmp_path / "x" / "y.parquet"
    data = bytearray(path.read_bytes())
    data[200] ^= 1  # in the first column
    path.write_bytes(data)
    for name in table.column_names[1:]:
        assert read_table(folder, stored, [name]).equals(table.select([name]))
    with pytest.raises(TableError, match=r"y\.parquet: damaged: column a\.b is damaged"):
        read_table(folder, stored, ["a.b", "m"])
