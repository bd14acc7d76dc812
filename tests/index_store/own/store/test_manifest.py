"""The list of files through random histories: what a dictionary says, in any order of refreshes and optimizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store.own.builder import FILES
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.table_files import TABLE_FILES, partitions_of, with_ids
from index_store.own.store.folder import Folder
from index_store.own.store.manifest import FileList, compose, live_files, row_indices_of, write_delta, write_master
from index_store.own.store.stored_table import StoredTable
from index_store.own.store.versions import Build, Version
from index_store.storage.errors import TableError
from tests.sampling import examples

PATHS = [f"p={number % 3}/f{number}_0-1-0_20260101.parquet" for number in range(12)]


@pytest.fixture(autouse=True, scope="module")
def _a_disk_that_is_not_waited_for():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("index_store.own.store.folder._force", lambda _: None)
        yield


contents = st.dictionaries(st.sampled_from(PATHS), st.integers(1, 3))


def listed(content: dict[str, int]) -> pa.Table:
    paths = sorted(content)
    return pa.table([paths, [content[one] for one in paths], ["20260101"] * len(paths)], schema=TABLE_FILES)


def content_of(files: pa.Table) -> dict[str, int]:
    found = dict(zip(files.column("path").to_pylist(), files.column("size").to_pylist(), strict=True))
    assert len(found) == files.num_rows
    return found


def known_of(content: dict[str, int], mark: str) -> FileList:
    """As a builder leaves it; the name of the part tells whose it is."""
    part = StoredTable(mark, len(content), 0, (0, ""), {})
    return FileList(with_ids(listed(content)), (Build(0, len(content), (part,)),) if content else ())


def whose(known: FileList) -> dict[str, tuple[str, int]]:
    """Of each file the part that has its statistics, and the id that it has in it."""
    found = {}
    for file_id, path in zip(
        known.files.column("file_id").to_pylist(), known.files.column("path").to_pylist(), strict=True
    ):
        [build] = [one for one in known.builds if one.first_id <= file_id < one.first_id + one.span]
        found[path] = build.parts[0].file, file_id - build.first_id
    return found


@given(contents, st.lists(contents, min_size=1, max_size=4), st.booleans())
def test_each_file_is_taken_from_the_first_source_that_knows_it(wanted, sources, keep):
    known = [known_of(content, str(number)) for number, content in enumerate(sources)]
    composed = compose(listed(wanted), known, keep=known[0].files.num_rows if keep else None)
    expected = {}
    for path, size in wanted.items():
        for number, content in enumerate(sources):
            if content.get(path) == size:
                expected[path] = str(number), sorted(content).index(path)
                break
    assert whose(composed.known) == expected
    assert content_of(composed.known.files) == {path: wanted[path] for path in expected}
    ids = composed.known.files.column("file_id").to_numpy()
    assert (np.diff(ids) > 0).all()
    assert composed.next_id > max(ids, default=-1)
    if keep:
        old = dict(
            zip(known[0].files.column("path").to_pylist(), known[0].files.column("file_id").to_pylist(), strict=True)
        )
        new = dict(zip(composed.known.files.column("path").to_pylist(), ids.tolist(), strict=True))
        assert all(new[path] == old[path] for path, (source, _) in expected.items() if source == "0")
    assert composed.known.files.schema == FILES


@settings(max_examples=25)
@given(contents, st.lists(st.tuples(contents, st.booleans()), max_size=6))
def test_a_master_and_a_cumulative_delta_say_what_the_latest_list_said(tmp_path_factory, first, steps):
    folder = Folder.at(tmp_path_factory.mktemp("manifest"))
    current = master(folder, known_of(first, "0"), listed(first))
    assert content_of(live_files(folder, current)) == first
    for number, (content, is_new_master) in enumerate(steps):
        known = FileList(live_files(folder, current), current.builds)
        left = {path: size for path, size in content.items() if content_of(known.files).get(path) != size}
        mine = known_of(left, str(number + 1))
        if is_new_master:
            current = master(folder, compose(listed(content), [known, mine]).known, listed(content))
        else:
            composed = compose(listed(content), [known, mine], keep=current.next_id)
            delta, tombstones = write_delta(folder, composed.known.files, current, "2026")
            of_master = live_files(folder, replace(current, delta=None)).column("file_id").to_pylist()
            assert tombstones == len(set(of_master) - set(composed.known.files.column("file_id").to_pylist()))
            current = replace(current, delta=delta, builds=composed.known.builds, next_id=composed.next_id)
        assert content_of(live_files(folder, current)) == content


def master(folder: Folder, known: FileList, wanted: pa.Table) -> Version:
    composed = compose(wanted, [known])
    stored = write_master(folder, composed.known.files, "2026")
    return Version(
        number=1,
        operation="create",
        table="/t",
        definition=Definition("x", (Entry("a"),)),
        instant="2026",
        master=stored,
        master_end=composed.next_id,
        master_instant="2026",
        delta=None,
        builds=composed.known.builds,
        next_id=composed.next_id,
        files=wanted.num_rows,
        tombstones=0,
    )


def test_a_file_that_grew_is_another_file():
    files = with_ids(listed({"a": 1, "b": 2}))
    assert row_indices_of(pa.array(["b", "a", "c"]), np.array([2, 3, 1]), files).tolist() == [1, -1, -1]
    assert row_indices_of(pa.array(["b", "a", "c"]), None, files).tolist() == [1, 0, -1]


@settings(max_examples=examples(30, at_night=1000), deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=120),
    st.lists(st.integers(0, 60), max_size=12),
    st.booleans(),
)
def test_few_paths_are_found_as_many_are(stored, asked, is_sized):
    """The first file of a path counts, also where a path stands twice on either side."""
    paths, names = ([f"p{number}" for number in numbers] for numbers in (stored, asked))
    files = with_ids(pa.table([paths, list(range(len(paths))), ["1"] * len(paths)], schema=TABLE_FILES))
    sizes = np.arange(len(names)) if is_sized else None
    expected = [paths.index(name) if name in paths else -1 for name in names]
    if is_sized:
        expected = [row if row == size else -1 for size, row in enumerate(expected)]
    assert row_indices_of(pa.array(names, pa.string()), sizes, files).tolist() == expected


def test_ids_do_not_run_over():
    known = known_of({"a": 1}, "0")
    with pytest.raises(TableError, match="optimize"):
        compose(listed({"b": 1}), [known, known_of({"b": 1}, "1")], keep=2**31)


def test_partitions_are_what_stands_before_the_name():
    paths = pa.chunked_array([["a.parquet", "x/a.parquet", "x=1/y=2/.a.log.1"]])
    assert partitions_of(paths).to_pylist() == ["", "x", "x=1/y=2"]
