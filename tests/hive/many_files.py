"""A COPY_ON_WRITE table of many small files, multiplied from one that Hudi wrote (`data/trips2.zip`), for benchmarks.

    write(directory, files) -> the table, of ROWS rows a file: row i has id = k = i

The commit's list of written files, and the metadata table's list of files and its column statistics, are written for
the new files and are true of them. The partition statistics are removed. Everything else is as Hudi wrote it. The files
have no Bloom filters, which are 430 KB each in files of Hudi.
"""

from __future__ import annotations

import datetime
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from tests.hive.tables import DATA, PARTITIONS
from tests.index_store.synthetic import files_value, hfile, stats_key, stats_value

ROWS = 20
_FIRST_DAY = datetime.date(2020, 1, 1)


@dataclass(frozen=True)
class _File:
    number: int
    count: int
    instant: str

    @property
    def partition(self) -> str:
        return f"dt={PARTITIONS[self.number * len(PARTITIONS) // self.count]}"

    @property
    def file_id(self) -> str:
        return f"{self.number:08x}-0000-4000-8000-{self.number:012x}-0"

    @property
    def name(self) -> str:
        return f"{self.file_id}_{self.number}-19-{self.number}_{self.instant}.parquet"

    @property
    def ids(self) -> range:
        return range(self.number * ROWS, self.number * ROWS + ROWS)


def write(directory: Path, files: int) -> Path:
    """The table in this directory, which is made."""
    with zipfile.ZipFile(DATA / "trips2.zip") as archive:
        archive.extractall(directory)
    base = next(directory.glob("dt=*/*.parquet"))
    template = pq.read_table(base, partitioning=None)
    instant = base.stem.rpartition("_")[2]
    made = [_File(i, files, instant) for i in range(files)]
    for old in directory.glob("dt=*/*.parquet"):
        old.unlink()
    for file in made:
        rows = _rows(file, template)
        pq.write_table(rows, directory / file.partition / file.name, compression="gzip", use_dictionary=False)
    sizes = {file: (directory / file.partition / file.name).stat().st_size for file in made}
    _write_commit(directory, sizes)
    _write_metadata_table(directory / ".hoodie" / "metadata", sizes)
    properties = directory / ".hoodie" / "hoodie.properties"
    lines = properties.read_text().splitlines(keepends=True)
    properties.write_text(
        "".join(
            "hoodie.table.metadata.partitions=column_stats,files\n"
            if line.startswith("hoodie.table.metadata.partitions=")
            else line
            for line in lines
        )
    )
    return directory


def _rows(file: _File, template: pa.Table) -> pa.Table:
    """The rows of a file, as Hudi's files have them; columns that the benchmarks do not read have one row's values."""
    ids, n = list(file.ids), len(file.ids)
    columns: dict[str, Any] = {name: [template[name][0].as_py()] * n for name in template.column_names}
    columns |= {
        "id": ids,
        "k": ids,
        "name": [f"n{i:08d}" for i in ids],
        "amount": [i * 1.5 for i in ids],
        "_hoodie_record_key": [str(i) for i in ids],
        "_hoodie_partition_path": [file.partition] * n,
        "_hoodie_file_name": [file.name] * n,
        "dt": [file.partition[3:]] * n,
        "_hoodie_commit_seqno": [f"{file.instant}_{file.number}_{i}" for i in ids],
        "d": [_FIRST_DAY + datetime.timedelta(file.number)] * n,
    }
    kept = template.schema.metadata or {}
    metadata = {key: value for key, value in kept.items() if b"bloom" not in key and b"record_key" not in key}
    metadata |= {
        b"hoodie_min_record_key": min(columns["_hoodie_record_key"]).encode(),
        b"hoodie_max_record_key": max(columns["_hoodie_record_key"]).encode(),
    }
    return pa.table(columns, schema=template.schema.with_metadata(metadata))


def _write_commit(directory: Path, sizes: dict[_File, int]) -> None:
    """The commit's list of files."""

    def listed(old: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
        any_of_them = next(iter(old.values()))[0]
        for file, size in sizes.items():
            yield {
                **any_of_them,
                "fileId": file.file_id,
                "path": f"{file.partition}/{file.name}",
                "numWrites": ROWS,
                "numInserts": ROWS,
                "totalWriteBytes": size,
                "fileSizeInBytes": size,
                "partitionPath": file.partition,
            }

    (path,) = (directory / ".hoodie" / "timeline").glob("*_*.commit")
    _rewrite(path, listed)


def _rewrite(commit: Path, listed: Callable[[dict[str, list[Any]]], Iterable[dict[str, Any]]]) -> None:
    """A commit of table version 8 (Avro) with other written files."""
    with commit.open("rb") as opened:
        reader = fastavro.reader(opened)
        schema, metadata = reader.writer_schema, next(reader)
    stats: dict[str, list[Any]] = {}
    for file_stats in listed(metadata["partitionToWriteStats"]):
        stats.setdefault(file_stats["partitionPath"], []).append(file_stats)
    metadata["partitionToWriteStats"] = stats
    with commit.open("wb") as opened:
        fastavro.writer(opened, schema, [metadata])


def _write_metadata_table(directory: Path, sizes: dict[_File, int]) -> None:
    """Turn the one log file of each file group into a base file."""
    by_partition: dict[str, dict[str, int]] = {}
    for file, size in sizes.items():
        by_partition.setdefault(file.partition, {})[file.name] = size
    records = {
        "files": [
            (b"__all_partitions__", files_value(list(by_partition), 1)),
            *((partition.encode(), files_value(names, 2)) for partition, names in by_partition.items()),
        ],
        "column_stats": list(_statistics(sizes)),
    }

    def listed(old: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
        for partition, held in records.items():
            groups = sorted(old[partition], key=lambda file_stats: file_stats["fileId"])
            for number, file_stats in enumerate(groups):
                log = directory / file_stats["path"]
                name_parts = re.fullmatch(r"\.(.+)_(\d+)\.log\.1_(.+)", log.name)
                assert name_parts
                base = log.with_name(f"{name_parts[1]}_{name_parts[3]}_{name_parts[2]}.hfile")
                own = [record for record in held if _file_group(record[0], len(groups)) == number]
                base.write_bytes(hfile(own))
                log.unlink()
                size = base.stat().st_size
                yield {
                    **file_stats,
                    "path": f"{partition}/{base.name}",
                    "baseFile": None,
                    "logFiles": None,
                    "logVersion": None,
                    "logOffset": None,
                    "totalWriteBytes": size,
                    "fileSizeInBytes": size,
                    "numWrites": len(own),
                }

    last = max((directory / ".hoodie" / "timeline").glob("*_*.deltacommit"))
    _rewrite(last, listed)
    shutil.rmtree(directory / "partition_stats")


def _file_group(key: bytes, groups: int) -> int:
    """The file group of a key in the metadata table, by Java's hash of the key."""
    value = 0
    for byte in key:
        value = (31 * value + byte) & 0xFFFFFFFF
    return abs(value - (value >> 31 << 32)) % groups


def _statistics(sizes: dict[_File, int]) -> Iterator[tuple[bytes, bytes]]:
    for file in sizes:
        first, last = file.ids[0], file.ids[-1]
        for column, wrapper, low, high in (
            ("id", "LongWrapper", first, last),
            ("k", "IntWrapper", first, last),
            ("amount", "DoubleWrapper", first * 1.5, last * 1.5),
            ("name", "StringWrapper", f"n{first:08d}", f"n{last:08d}"),
        ):
            yield (
                stats_key(column, file.partition, file.name),
                stats_value(file.name, column, (wrapper, low), (wrapper, high), ROWS, 0),
            )
