"""A cache of snapshots is believed only where nobody else can have written into it (attacks by other users)."""

from __future__ import annotations

import os
import shutil
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from handler import prune
from handler.cli.main import main
from index_store.opened_table import open_table
from index_store.snapshots import SnapshotCache, cache, manifest
from index_store.snapshots.arrays_file import ArraysFile, UnusableError, write_arrays
from index_store.snapshots.column_file import open_column, write_column
from index_store.snapshots.private_folder import PrivateFolder, UntrustedFolderError

FILTER = "i < 40"
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
as_root = pytest.mark.skipif(not ROOT, reason="only root can give a file to another user")
NOBODY = 65534


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(cache, "_warned", set())
    mask = os.umask(0o022)
    yield
    os.umask(mask)


@pytest.fixture
def table(hudi_table: Callable[[str], Path]) -> Path:
    return hudi_table("1.1.1_main_cow")


def kept(path: Path, folder: Path, text: str = FILTER) -> list[str]:
    found = prune(open_table(path, cache=SnapshotCache(folder, min_slices=0)), text)
    return sorted(one.file_id for one in found.kept)


@contextmanager
def refused(why: str) -> Iterator[None]:
    with pytest.warns(RuntimeWarning, match=why) as said:
        yield
    assert len(said) == 1


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def planted(table: Path, folder: Path) -> None:
    """A whole and valid snapshot whose column says that no slice has any value of i."""
    kept(table, folder)
    for path in folder.rglob("column_stats-*.arrays"):
        place = PrivateFolder(path.parent).file(path.name)
        about = ArraysFile.open(place, {"what": "column"}).about
        field = next(one for one in open_table(table, cache=None).table.schema if one.name == about["column"])
        column = open_column(place, "column_stats", field, about["slices"])
        assert column.statistics is not None
        lie = _with_bounds(column.statistics, 10**6)
        write_column(place, "column_stats", field, about["slices"], lie, None)


def _with_bounds(statistics: Any, value: int) -> Any:
    bounds = np.full(len(statistics.lo), value, statistics.lo.dtype)
    return replace(statistics, lo=bounds, hi=bounds.copy(), index=None, parts=None)


def test_what_is_planted_would_be_believed(table: Path, tmp_path: Path) -> None:
    """Without this the tests below would prove nothing."""
    expected = kept(table, tmp_path / "first")
    planted(table, tmp_path / "cache")
    assert expected
    assert kept(table, tmp_path / "cache") != expected


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o720, 0o702, 0o1777])
def test_a_folder_that_others_may_write_into_is_refused(table: Path, tmp_path: Path, mode: int) -> None:
    expected = kept(table, tmp_path / "first")
    folder = tmp_path / "cache"
    planted(table, folder)
    folder.chmod(mode)
    before = [path.stat().st_mtime_ns for path in files(folder)]
    with refused("others may write into it"):
        assert kept(table, folder) == expected
    with warnings.catch_warnings():  # said once
        warnings.simplefilter("error")
        assert kept(table, folder) == expected
    assert [path.stat().st_mtime_ns for path in files(folder)] == before


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_below_one_that_others_may_write_into_is_refused(table: Path, tmp_path: Path, mode: int) -> None:
    expected = kept(table, tmp_path / "first")
    folder = tmp_path / "shared" / "own" / "cache"
    planted(table, folder)
    (tmp_path / "shared").chmod(mode)
    with refused("a folder above it"):
        assert kept(table, folder) == expected
    (tmp_path / "shared").chmod(0o1777)  # as /tmp: nobody renames what is another's
    assert kept(table, folder) != expected


def test_a_folder_that_is_missing_below_a_shared_one_is_refused(table: Path, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    with refused("a folder above it"):
        kept(table, tmp_path / "shared" / "cache")
    assert not list((tmp_path / "shared").iterdir())


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o720])
@pytest.mark.parametrize("level", ["table", "base", "file"])
def test_a_folder_or_file_inside_that_others_may_write_is_not_read(
    table: Path, tmp_path: Path, mode: int, level: str
) -> None:
    expected = kept(table, tmp_path / "first")
    folder = tmp_path / "cache"
    planted(table, folder)
    [column] = folder.rglob("column_stats-*.arrays")
    {"table": column.parent.parent, "base": column.parent, "file": column}[level].chmod(mode)
    assert kept(table, folder) == expected


@as_root
@pytest.mark.parametrize("level", ["cache", "table", "base", "file", "manifest"])
def test_what_belongs_to_another_user_is_not_read(table: Path, tmp_path: Path, level: str) -> None:
    expected = kept(table, tmp_path / "first")
    folder = tmp_path / "cache"
    planted(table, folder)
    [column] = folder.rglob("column_stats-*.arrays")
    [manifest] = folder.rglob("*.json")
    places = {"table": column.parent.parent, "base": column.parent, "file": column, "manifest": manifest}
    os.chown(places.get(level, folder), NOBODY, NOBODY)
    if level == "cache":
        with refused("belongs to somebody else"):
            assert kept(table, folder) == expected
    elif level == "manifest":
        assert SnapshotCache(folder).tables() == []
    else:
        assert kept(table, folder) == expected


@as_root
def test_a_folder_below_another_users_folder_is_refused(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "theirs" / "cache"
    folder.mkdir(parents=True)
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    with refused("a folder above it belongs to somebody else"):
        kept(table, folder)


@as_root
def test_a_link_of_another_user_is_not_followed(table: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    link = tmp_path / "shared" / "link"
    link.symlink_to(tmp_path / "own")
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    with refused("a link on the way to it belongs to somebody else"):
        kept(table, link / "cache")
    assert not list((tmp_path / "own").iterdir())


def test_the_folder_itself_is_no_link(table: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "elsewhere")
    with refused("it is a link"):
        kept(table, tmp_path / "cache")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_own_links_above_the_folder_are_followed(table: Path, tmp_path: Path) -> None:
    (tmp_path / "disk" / "deep").mkdir(parents=True)
    (tmp_path / "a").symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "b").symlink_to("../disk/./deep/../deep")
    expected = kept(table, tmp_path / "a" / "b" / "cache")
    assert files(tmp_path / "disk" / "deep" / "cache")
    assert kept(table, tmp_path / "a" / "b" / "cache") == expected


def test_a_ring_of_links_ends(table: Path, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with refused("it is a link"):
        kept(table, tmp_path / "a" / "cache")


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077, 0o277, 0o777])
def test_what_is_made_is_the_callers_alone_whatever_the_umask(table: Path, tmp_path: Path, mask: int) -> None:
    os.umask(mask)
    expected = kept(table, tmp_path / "more" / "cache")
    os.umask(0o022)
    made = list((tmp_path / "more").rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == {0o600}
    assert stat.S_IMODE((tmp_path / "more").stat().st_mode) == 0o700
    assert kept(table, tmp_path / "more" / "cache") == expected


def old(path: Path) -> None:
    then = time.time() - 10_000
    os.utime(path, (then, then), follow_symlinks=False)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    folder = tmp_path / "foreign" / ("a" * 32)
    folder.mkdir(parents=True)
    (folder / "precious").write_text("1")
    (folder / f"{'b' * 32}.json").write_text("{}")
    (folder / ("c" * 32)).mkdir()
    return folder


def test_links_lead_no_removal_out_of_the_cache(table: Path, tmp_path: Path, foreign: Path) -> None:
    """A link in place of a table's folder made ``tidy`` remove the files of another."""
    before = sorted(foreign.rglob("*"))
    folder = tmp_path / "cache"
    kept(table, folder)
    one = SnapshotCache(folder, limit=0, min_slices=0)
    [real] = folder.iterdir()
    links = [folder / ("d" * 32), real / ("e" * 32), real / f"{'f' * 32}.json", real / ".tmp"]
    for link in links:
        link.symlink_to(foreign)
        old(link)
    for path in foreign.rglob("*"):
        old(path)
    one.tidy(PrivateFolder(folder) / ("d" * 32))
    one.tidy(PrivateFolder(folder) / real.name)
    one.make_room()
    one.clear()
    assert one.tables() == []
    assert sorted(foreign.rglob("*")) == before
    assert not real.exists()


def test_a_table_folder_that_is_a_link_is_neither_read_nor_written(table: Path, tmp_path: Path) -> None:
    expected = kept(table, tmp_path / "first")
    planted(table, tmp_path / "theirs")
    [theirs] = (tmp_path / "theirs").iterdir()
    (tmp_path / "cache").mkdir(0o700)
    (tmp_path / "cache" / theirs.name).symlink_to(theirs)
    before = files(theirs)
    assert kept(table, tmp_path / "cache") == expected
    assert files(theirs) == before


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder", "nothing"])
def test_a_column_that_is_no_plain_file_is_not_read(table: Path, tmp_path: Path, kind: str) -> None:
    expected = kept(table, tmp_path / "first")
    planted(table, tmp_path / "cache")
    [column] = (tmp_path / "cache").rglob("column_stats-*.arrays")
    column.rename(tmp_path / "aside")
    match kind:
        case "link":
            column.symlink_to(tmp_path / "aside")
        case "hard link":
            os.link(tmp_path / "aside", column)
        case "pipe":
            os.mkfifo(column)
        case "folder":
            column.mkdir()
    assert kept(table, tmp_path / "cache") == expected


def test_room_is_made_from_folders_of_tables_only(tmp_path: Path) -> None:
    """SARGO_CACHE may name a folder with other things in it: they stay."""
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "thesis").write_bytes(bytes(1000))
    (tmp_path / ("a" * 32)).mkdir()
    (tmp_path / ("a" * 32) / f"{'b' * 32}.json").write_text("{}")
    cache = SnapshotCache(tmp_path, limit=0)
    cache.make_room()
    cache.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["documents"]
    assert (tmp_path / "documents" / "thesis").exists()


def test_tidy_leaves_files_of_other_names(table: Path, tmp_path: Path) -> None:
    kept(table, tmp_path)
    [folder] = tmp_path.iterdir()
    (folder / "notes").write_text("1")
    (folder / "drafts").mkdir()
    (folder / ("a" * 32)).mkdir()
    for path in folder.iterdir():
        old(path)
    SnapshotCache(tmp_path).tidy(PrivateFolder(tmp_path) / folder.name)
    assert (folder / "notes").exists()
    assert (folder / "drafts").exists()
    assert not (folder / ("a" * 32)).exists()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "a\0b"])
def test_a_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    for call in (lambda: PrivateFolder(tmp_path) / name, lambda: PrivateFolder(tmp_path).file(name)):
        with pytest.raises(UntrustedFolderError):
            call()
    with pytest.raises(UntrustedFolderError):
        PrivateFolder(tmp_path).remove(name)


@pytest.mark.parametrize("base", ["../../elsewhere", "a" * 31, "A" * 32, "", 5, None, ["a"]])
def test_a_manifest_names_folders_of_the_cache_only(base: Any) -> None:
    plain = {"format": manifest.FORMAT, "state": {}, "base": base, "since": None, "instant": "1", "source": "x"}
    with pytest.raises((ValueError, KeyError, TypeError)):
        manifest.Manifest.from_dict(plain)


def test_a_manifest_that_is_large_or_no_manifest_is_passed_over(table: Path, tmp_path: Path) -> None:
    kept(table, tmp_path)
    [manifest] = tmp_path.rglob("*.json")
    with manifest.open("wb") as file:
        file.truncate(1 << 40)  # a hole of a terabyte
    assert SnapshotCache(tmp_path).tables() == []
    for text in ("[" * 100_000, "[]", "5", '{"format": 1}', "\ud800".encode("utf-8", "surrogatepass")):
        manifest.write_bytes(text if isinstance(text, bytes) else text.encode())
        assert SnapshotCache(tmp_path).tables() == []


def test_the_command_refuses_a_folder_that_others_may_write_into(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(table, tmp_path / "cache")
    monkeypatch.setenv("SARGO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").chmod(0o777)
    before = files(tmp_path)
    for arguments in ([], ["--json"], ["--clear"], ["--clear", str(table)]):
        result = CliRunner().invoke(main, ["cache", *arguments])
        assert result.exit_code == 2
        assert "others may write into it" in result.output
    assert files(tmp_path) == before
    (tmp_path / "cache").chmod(0o700)
    assert CliRunner().invoke(main, ["cache", "--clear"]).exit_code == 0


def test_the_environment_names_a_folder_that_is_checked(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MIN_SLICES", 0)
    monkeypatch.setenv("SARGO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    with refused("others may write into it"):
        assert prune(open_table(table), FILTER).kept
    assert not files(tmp_path / "cache")


def test_files_stay_open_for_as_long_as_they_are_read(tmp_path: Path) -> None:
    """No descriptor is left open, and none is closed twice."""
    place = (PrivateFolder(tmp_path) / "a").file("b.arrays")
    handles = Path("/proc/self/fd")
    if not handles.is_dir():
        pytest.skip("needs /proc")

    def count() -> int:
        return len(list(handles.iterdir()))

    before = count()
    for _ in range(20):
        write_arrays(place, {"x": np.arange(5)}, {"what": "x"})
        assert ArraysFile.open(place, {"what": "x"}).array("x").tolist() == [0, 1, 2, 3, 4]
        with suppress(UnusableError):
            ArraysFile.open(PrivateFolder(tmp_path / "none").file("x"), {})
        with suppress(OSError):
            (PrivateFolder(tmp_path) / "b").check()
        tmp_path.chmod(0o777)
        with pytest.raises(UntrustedFolderError):
            PrivateFolder(tmp_path).check()
        tmp_path.chmod(0o700)
    shutil.rmtree(tmp_path / "a")
    assert count() <= before + 1
