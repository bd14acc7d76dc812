"""What users do with a table in an object store, each from nothing: the cases whose requests and rounds are counted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import handler
import index_store
from handler.indexes.operations import IndexWork
from handler.sidecar.reading.looks import Signature, TableReader
from handler.sidecar.roots.allowed_roots import AllowedRoots
from index_store.snapshots import SharedFolder, SnapshotCache
from tests.s3.store import Store, kinds, rounds

#: Seconds that each request takes: more than a loaded machine needs to start the requests of a round.
LATENCY = 0.15
_NUMBERS = count()


@dataclass(frozen=True)
class Counted:
    """Requests, how many of them were HEAD, the longest chain of them, and the bytes that came."""

    requests: int
    heads: int
    rounds: int
    nbytes: int


@dataclass(frozen=True)
class Case:
    """``prepare``: what is not counted; ``do``: what is. Both take the URI, the options, and a folder of this case.

    ``one_commit_behind``: while it is prepared, the table's last commit is not there.
    """

    name: str
    table: str
    do: Callable[[str, Mapping[str, str], Path], Any]
    prepare: Callable[[str, Mapping[str, str], Path], Any] | None = None
    one_commit_behind: bool = False


def _prune(uri: str, options: Mapping[str, str], where: str, cache: SnapshotCache | None = None) -> Any:
    table = handler.open_table(uri, storage_options=options, cache=cache)
    return handler.prune(table, where, time_zone="UTC")


def _cache(folder: Path) -> SnapshotCache:
    return SnapshotCache(folder / "cache", min_slices=1)


def _create(uri: str, options: Mapping[str, str], *uses: tuple[str, str]) -> Any:
    """A new index each time."""
    return IndexWork(uri, storage_options=options).create_of(uses, f"ix{next(_NUMBERS)}")


def _shared(uri: str, options: Mapping[str, str], folder: Path) -> SnapshotCache:
    """A process that finds nothing on its own disk, and snapshots in the store."""
    place = f"{uri.rpartition('/')[0]}/cache"
    shared = SharedFolder(place, b"k" * 32, storage_options=options)
    return SnapshotCache(folder / f"local{next(_NUMBERS)}", min_slices=1, shared=shared)


def _share(uri: str, options: Mapping[str, str], folder: Path) -> None:
    cache = _shared(uri, options, folder)
    _prune(uri, options, "i BETWEEN 1 AND 5", cache)
    assert cache.shared is not None
    assert cache.shared.finish(60)


def _create_two(uri: str, options: Mapping[str, str], folder: Path) -> None:
    """Two new indexes of the table, and none beside them."""
    work = IndexWork(uri, storage_options=options)
    for location in work.locations(work.open()):
        work.drop(location.name)
    _create(uri, options, ("i", "min_max"))
    _create(uri, options, ("s", "secondary_index"))


_LOOKED: dict[str, tuple[TableReader, Signature]] = {}


def _look_first(uri: str, options: Mapping[str, str], _: Path) -> None:
    reader = TableReader(AllowedRoots(["s3://lake"]).locate(uri), {}, options, 10.0)
    _LOOKED[uri] = reader, reader.look().signature


def _look_again(uri: str, *_: Any) -> None:
    reader, signature = _LOOKED[uri]
    assert reader.look(signature).signature == signature


CASES = (
    Case("sidecar look", "1.1.1_main_mor", _look_again, _look_first),
    Case("sidecar look, version 6", "0.15.0_main_cow", _look_again, _look_first),
    Case("prune, range", "1.1.1_main_mor", lambda uri, options, _: _prune(uri, options, "i BETWEEN 1 AND 5")),
    Case("prune, range, version 6", "0.15.0_main_cow", lambda uri, options, _: _prune(uri, options, "i > 5")),
    Case(
        "files",
        "1.1.1_main_mor",
        lambda uri, options, _: index_store.open_table(uri, storage_options=options).slices(),
    ),
    Case(
        "files of one partition",
        "1.1.1_main_mor",
        lambda uri, options, _: index_store.open_table(uri, storage_options=options).files("p=p1"),
    ),
    Case(
        "prune, snapshot of this state",
        "1.1.1_main_mor",
        lambda uri, options, folder: _prune(uri, options, "i BETWEEN 1 AND 5", _cache(folder)),
        lambda uri, options, folder: _prune(uri, options, "i BETWEEN 1 AND 5", _cache(folder)),
    ),
    Case(
        "prune, snapshot of one commit before",
        "1.1.1_main_mor",
        lambda uri, options, folder: _prune(uri, options, "i BETWEEN 1 AND 5", _cache(folder)),
        lambda uri, options, folder: _prune(uri, options, "i BETWEEN 1 AND 5", _cache(folder)),
        one_commit_behind=True,
    ),
    Case(
        "prune, snapshot in the store",
        "1.1.1_main_mor",
        lambda uri, options, folder: _prune(uri, options, "i BETWEEN 1 AND 5", _shared(uri, options, folder)),
        _share,
    ),
    Case("prune by key, record index", "1.1.1_main_mor", lambda uri, options, _: _prune(uri, options, "id = 'k0061'")),
    Case(
        "prune by key, secondary index",
        "1.1.1_sec_mor",
        lambda uri, options, _: _prune(uri, options, "s = 'banana-020'"),
    ),
    Case(
        "index create, two sketches",
        "1.1.1_nan_cow",
        lambda uri, options, _: _create(uri, options, ("i", "min_max"), ("s", "bloom_filter")),
    ),
    Case(
        "index create, secondary",
        "1.0.2_main_cow",
        lambda uri, options, _: _create(uri, options, ("s", "secondary_index")),
    ),
    Case(
        "index refresh of two",
        "1.1.1_main_cow",
        lambda uri, options, _: IndexWork(uri, storage_options=options).refresh(),
        _create_two,
        one_commit_behind=True,
    ),
    Case("prune, Bloom filters of keys", "1.2.0_bloom_cow", lambda uri, options, _: _prune(uri, options, "id = 'k1'")),
)


@contextmanager
def prepared(case: Case, store: Store, unpacked: Path, folder: Path) -> Iterator[Callable[[], Counted]]:
    """A function that runs the case in the store and counts; the table is put there before, and removed afterwards."""
    place = store.bucket / case.table
    if not place.exists():
        shutil.copytree(unpacked, place)
    uri, options = store.uri(case.table), store.options

    def counted() -> Counted:
        if case.prepare is not None:
            with without_last_commit(place) if case.one_commit_behind else nullcontext():
                case.prepare(uri, options, folder)
        with store.answering(latency=LATENCY):
            store.take()
            case.do(uri, options, folder)
            asked = store.take()
        return Counted(len(asked), kinds(asked)["HEAD"], rounds(asked), sum(one["sent"] for one in asked))

    yield counted


@contextmanager
def without_last_commit(place: Path) -> Iterator[None]:
    """The last completed instant is taken out of both timelines of a table of version 8 or later."""
    done = sorted((place / ".hoodie/timeline").glob("*_*commit"))
    instant = done[-1].name.partition("_")[0]
    hidden = [found for found in place.glob(".hoodie/**/timeline/*") if found.name.startswith(instant)]
    assert len(hidden) >= 6, hidden
    for found in hidden:
        found.rename(place.parent / found.relative_to(place).as_posix().replace("/", "|"))
    try:
        yield
    finally:
        for found in hidden:
            (place.parent / found.relative_to(place).as_posix().replace("/", "|")).rename(found)
