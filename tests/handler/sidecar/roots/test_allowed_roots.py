"""No spelling of a table's name leads out of the roots, by text or by links."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import fs

from handler.sidecar.idl import Refused
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.roots.sandboxed_file_system import SandboxedFileSystem
from handler.sidecar.settings import SettingsError
from tests.handler.sidecar.conftest import request
from tests.handler.sidecar.test_service import I_IS_100


@pytest.fixture
def warehouse(tmp_path):
    for folder in ("warehouse/db/t", "secret/t/.hoodie", "warehouse2/t"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "warehouse/link_out").symlink_to(tmp_path / "secret")
    (tmp_path / "warehouse/link_in").symlink_to(tmp_path / "warehouse/db")
    (tmp_path / "alias").symlink_to(tmp_path / "warehouse")
    return tmp_path / "warehouse"


@pytest.mark.parametrize(
    "spelling",
    [
        "{0}/db/t",
        "{0}/db/t/",
        "{0}//db///t",
        "file:{0}/db/t",
        "file://{0}/db/t",
        "file://localhost{0}/db/t",
        "FILE:{0}/db/t",
        "{0}/link_in/t",
        "{1}/alias/db/t",
    ],
)
def test_every_spelling_of_a_table_below_a_root_is_one_table(warehouse, spelling):
    located = AllowedRoots([str(warehouse)]).locate(spelling.format(warehouse, warehouse.parent))
    assert located.path == str(warehouse / "db" / "t")


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "db/t",
        "./db/t",
        "{0}/../secret/t",
        "{0}/db/../../secret/t",
        "{0}/%2e%2e/secret/t",
        "{0}/%2E%2E/secret/t",
        "{0}/./db/t",
        "{0}2/t",
        "{0}/link_out/t",
        "file://elsewhere{0}/db/t",
        "hdfs://nn{0}/db/t",
        "s3://bucket/t",
        "/",
        "/etc",
        "{0}/db/t\n",
        "{0}/db/t\0",
        "{0}/" + "x" * 5000,
        "file:",
        "file:relative",
        "~",
        "{1}/secret/t",
        "http:{0}/t",
    ],
    ids=repr,
)
def test_what_is_not_below_a_root_is_refused_without_repeating_it(warehouse, spelling):
    text = spelling.format(warehouse, warehouse.parent)
    with pytest.raises(Refused) as refused:
        AllowedRoots([str(warehouse)]).locate(text)
    assert refused.value.code == "table"
    assert str(warehouse) not in refused.value.why


@given(st.text(alphabet="/.%2eE:\\ ab\0", max_size=30))
def test_whatever_is_located_lies_below_the_root(tmp_path_factory, text):
    root = Path(os.path.realpath(tmp_path_factory.getbasetemp()))
    for spelling in (text, f"{root}{text}", f"file:{root}/{text}"):
        try:
            located = AllowedRoots([str(root)]).locate(spelling)
        except Refused:
            continue
        assert Path(os.path.realpath(located.path)).is_relative_to(root)


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ("hdfs://nn:8020/warehouse/t", "hdfs://nn:8020/warehouse/t"),
        ("hdfs://NN:8020/warehouse/t/", "hdfs://nn:8020/warehouse/t"),
        ("s3a://bucket/a/t", "s3://bucket/a/t"),
        ("s3://bucket/a/t", "s3://bucket/a/t"),
        ("hdfs://nn:9000/warehouse/t", None),
        ("hdfs://other:8020/warehouse/t", None),
        ("hdfs:///warehouse/t", None),
        ("hdfs://nn:8020/warehouse/../t", None),
        ("s3://other/a/t", None),
        ("s3://bucket/ab/t", None),
        ("s3://bucket/a/t?endpoint_override=evil:9000", None),
        ("s3://key:secret@bucket/a/t", None),
        ("s3://bucket/a/t#x", None),
        ("s3://bucket/a/%2e%2e/t", None),
    ],
)
def test_a_uri_is_below_a_root_of_its_own_scheme_and_authority(table, found):
    roots = AllowedRoots(["hdfs://nn:8020/warehouse", "s3a://bucket/a"])
    if found is None:
        with pytest.raises(Refused):
            roots.locate(table)
    else:
        assert roots.locate(table).path == found


@pytest.mark.parametrize("roots", [[], ["relative"], ["/a/../b"], ["s3://user:password@bucket/a"]], ids=repr)
def test_roots_that_cannot_be_meant_end_the_start(roots):
    with pytest.raises(SettingsError):
        AllowedRoots(roots)


def test_the_confined_file_system_reads_inside_only_and_writes_nothing(warehouse):
    (warehouse / "db/t/file").write_bytes(b"inside")
    (warehouse.parent / "secret/t/file").write_bytes(b"outside")
    (warehouse / "db/t/link").symlink_to(warehouse.parent / "secret/t/file")
    confined = fs.PyFileSystem(SandboxedFileSystem(str(warehouse)))
    assert confined.open_input_file(str(warehouse / "db/t/file")).read() == b"inside"
    assert confined.get_file_info(str(warehouse / "db/t/link")).type is fs.FileType.NotFound
    for path in (warehouse / "db/t/link", warehouse / "link_out/t/file", warehouse / "../secret/t/file"):
        with pytest.raises(PermissionError):
            confined.open_input_file(str(path))
        with pytest.raises(PermissionError):
            confined.open_input_stream(str(path))
    with pytest.raises(PermissionError):
        confined.get_file_info(fs.FileSelector(str(warehouse / "link_out")))
    for write in (confined.delete_file, confined.create_dir, confined.open_output_stream):
        with pytest.raises(PermissionError):
            write(str(warehouse / "db/t/file"))
    assert (warehouse / "db/t/file").read_bytes() == b"inside"


def test_a_table_whose_metadata_is_a_link_out_of_the_roots_is_not_read(sidecar, main_cow_copy, tmp_path):
    inside = tmp_path / "roots" / "table"
    inside.mkdir(parents=True)
    (inside / ".hoodie").symlink_to(main_cow_copy / ".hoodie")
    with sidecar(roots=[str(tmp_path / "roots")]).client() as client:
        reply = client.prune(request(inside, I_IS_100, ["a"]))
    assert reply.skipped == 0
    assert "cannot be opened" in reply.reasons[0]
