"""The rows of every real table as Hudi's own Spark reader gave them (tests/data/hudi/true_rows.tar.xz).

``index.json`` in the archive: table -> read -> name of an Arrow stream, null where Hudi refused. The reads are
``snapshot``, ``read_optimized``, ``asof_<instant>`` and, for tables with a history of schemas, ``evolved`` and
``evolved_ro``: those two with ``hoodie.schema.on.read.enable``. Hudi 1.2.0 on Spark 3.5.5, UTC, without metadata
table and data skipping.
"""

from __future__ import annotations

import json
import tarfile
import zipfile
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

DATA = Path(__file__).parents[2] / "data" / "hudi"
_ARCHIVES = {"": ".zip", "keys": ".zip", "proofs": ".zip", "format": ".tar.xz", "merging": ".tar.xz"}


@lru_cache(1)
def _members() -> dict[str, bytes]:
    with tarfile.open(DATA / "true_rows.tar.xz") as archive:
        return {one.name: archive.extractfile(one).read() for one in archive}


def reads() -> dict[str, dict[str, str | None]]:
    """Table -> read -> stream."""
    return json.loads(_members()["index.json"])


def true_rows(table: str, read: str) -> pa.Table:
    """What Hudi read."""
    return pa.ipc.open_stream(_members()[f"{reads()[table][read]}.arrows"]).read_all()


def unpack(table: str, target: Path) -> Path:
    """The table's directory, made at the target."""
    folder, name = _place(table)
    archive = DATA / folder / f"{name}{_ARCHIVES[folder]}"
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(target)
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(target, filter="data")
    return target


def _place(table: str) -> tuple[str, str]:
    folder, _, name = table.partition("_")
    return (folder, name) if folder in _ARCHIVES else ("", table)


def counted(table: pa.Table, columns: list[str]) -> Counter[Any]:
    """The rows as a multiset of their values in the columns; floats by their text, so that NaN and -0.0 count."""
    values = [[_comparable(value) for value in table.column(name).to_pylist()] for name in columns]
    return Counter(zip(*values, strict=True))


def _comparable(value: Any) -> Any:
    match value:
        case float():
            return ("float", repr(value))
        case dict():
            return tuple((name, _comparable(inner)) for name, inner in value.items())
        case list() | tuple():
            return tuple(_comparable(inner) for inner in value)
        case _:
            return value
