"""What real Hudi writes into its metadata table, by release: facts of docs/facts/hudi-metadata-table.md and
docs/facts/hudi-column-stats.md that no other test shows.

The values are read by fastavro, the reference decoder, and not by the decoders of this project.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pytest

from index_store.formats.hfile import HFile, entries
from index_store.formats.log_file import DELETE, HFILE_DATA, deleted_keys, read_log_blocks
from index_store.storage.byte_source import Bytes
from index_store.table.properties import parse_properties

#: Table -> table version. Hudi 0.15.0 and 1.0.2 write HFiles by HBase's writer, 1.1.1 and 1.2.0 by Hudi's own.
TABLES = {
    "0.15.0_main_cow": 6,
    "1.0.2_main_cow": 8,
    "1.0.2_sec_mor": 8,
    "1.1.1_main_mor": 9,
    "1.1.1_expr_cow": 9,
    "1.2.0_bloom_cow": 9,
}
NONE, GZ, CRC32C = 0, 1, 2
#: Column -> wrapper and, in version 9, ordinal and additional information of ``valueType``.
BOUNDS: dict[int, dict[str, tuple[str, int | None, str | None]]] = {
    6: {
        "b": ("BooleanWrapper", None, None),
        "bin": ("BytesWrapper", None, None),
        "dec": ("DecimalWrapper", None, None),
        "dt": ("DateWrapper", None, None),
        "t": ("LongWrapper", None, None),
    },
    9: {
        "b": ("BooleanWrapper", 2, None),
        "i": ("IntWrapper", 3, None),
        "l": ("LongWrapper", 4, None),
        "f": ("FloatWrapper", 5, None),
        "d": ("DoubleWrapper", 6, None),
        "s": ("StringWrapper", 7, None),
        "bin": ("BytesWrapper", 8, None),
        "dec": ("BytesWrapper", 10, "10,2"),
        "dec30": ("BytesWrapper", 10, "30,10"),
        "dt": ("IntWrapper", 12, None),
        "t": ("LongWrapper", 16, None),
    },
}
BOUNDS[8] = BOUNDS[6]


@dataclass(frozen=True)
class Written:
    """The metadata table of one table."""

    folder: Path
    version: int

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Each base and log file with its partition."""
        for path in sorted((self.folder / ".hoodie" / "metadata").glob("*/*")):
            if (
                path.parent.name != ".hoodie"
                and path.suffix != ".crc"
                and (path.suffix == ".hfile" or ".log." in path.name)
            ):
                yield path.parent.name, path.read_bytes()

    def hfiles(self) -> Iterator[tuple[str, bytes]]:
        """Each HFile: a base file, or the content of a log block."""
        for partition, data in self.files():
            if data.startswith(b"#HUDI#"):
                yield from ((partition, block.content) for block in read_log_blocks(data) if block.type == HFILE_DATA)
            else:
                yield partition, data

    def records(self) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
        """Partition, key and value of each entry."""
        for partition, data in self.hfiles():
            hfile = HFile.open(Bytes(data))
            schema = fastavro.parse_schema(hfile.schema)
            for block in hfile.blocks():
                for key, start, end in entries(block):
                    value = fastavro.schemaless_reader(
                        io.BytesIO(block[start:end]), schema, None, return_record_name=True
                    )
                    yield partition, key, value


@pytest.fixture(params=TABLES)
def written(request: pytest.FixtureRequest, hudi_table: Any) -> Written:
    return Written(hudi_table(request.param), TABLES[request.param])


def part(value: dict[str, Any], name: str) -> dict[str, Any] | None:
    """One of the records in a value: fastavro names the branch of a union of several records."""
    found = value.get(name)
    return found[1] if isinstance(found, tuple) else found


def test_blocks_are_gzip_members_and_checksums_depend_on_the_release(written: Written) -> None:
    seen = Counter[tuple[int, int, int]]()
    for _, data in written.hfiles():
        hfile = HFile.open(Bytes(data))
        for entry in hfile.index:
            magic, checksum = data[entry.offset + 33 : entry.offset + 35], data[entry.offset + 24]
            assert magic == b"\x1f\x8b"
            seen[hfile.codec, data[-4], checksum] += 1
    assert set(seen) == {(GZ, 0, NONE) if written.version == 9 else (GZ, 3, CRC32C)}


def test_the_key_stands_in_the_entry_and_not_in_the_value(written: Written) -> None:
    found = [(key, value["key"]) for _, key, value in written.records()]
    assert len(found) > 100
    assert {inside for _, inside in found} == {""}
    assert all(key for key, _ in found)


def test_statistics_are_tight_for_partitions_and_never_for_files(written: Written) -> None:
    seen = Counter[tuple[int, bool | None]]()
    for partition, key, value in written.records():
        if (one := part(value, "ColumnStatsMetadata")) is not None:
            assert ("isTightBound" in one, "valueType" in one) == (written.version >= 8, written.version == 9)
            assert (partition == "partition_stats" or len(key) == 36) == bool(one.get("isTightBound"))
            seen[len(key), one.get("isTightBound")] += 1
    assert {of for _, of in seen} <= ({None} if written.version == 6 else {False, True})
    assert sum(seen.values()) >= 13


def test_bounds_are_wrapped_by_type_and_release(written: Written) -> None:
    seen: dict[str, set[tuple[str, int | None, str | None]]] = {}
    for partition, _, value in written.records():
        one = part(value, "ColumnStatsMetadata")
        if partition == "column_stats" and one is not None and one["minValue"] is not None:
            wrapper = one["minValue"][0].rpartition(".")[2].removeprefix("HoodieMetadata")
            of = part(one, "valueType")
            said = (of["typeOrdinal"], of["additionalInfo"]) if of else (None, None)
            seen.setdefault(one["columnName"], set()).add((wrapper, *said))
    known = BOUNDS[written.version]
    assert {name: wrappers for name, wrappers in seen.items() if name in known} == {
        name: {known[name]} for name in seen if name in known
    }
    assert {"dec", "dt", "t", "b"} <= set(seen)
    assert written.version == 9 or "dec30" not in seen


def test_empty_delete_blocks_mark_new_file_groups_and_indexes_of_keys_delete_by_blocks(written: Written) -> None:
    deleted = Counter[tuple[str, bool]]()
    for partition, data in written.files():
        if data.startswith(b"#HUDI#"):
            for block in read_log_blocks(data):
                if block.type == DELETE:
                    keys = deleted_keys(block.content)
                    assert keys or block.content == bytes.fromhex("000000030000000100")
                    deleted[partition, bool(keys)] += 1
    assert deleted["files", False] == 1
    assert not deleted["files", True]
    assert not deleted["bloom_filters", True]
    if "sec_mor" in written.folder.name:
        assert deleted["secondary_index_si_s", True] > 0
    for _, _, value in written.records():
        assert not (part(value, "SecondaryIndexMetadata") or {}).get("isDeleted")


def test_the_metadata_table_begins_with_instants_that_are_no_times(written: Written) -> None:
    timeline = written.folder / ".hoodie" / "metadata" / ".hoodie"
    instants = sorted({path.name.split(".")[0].split("_")[0] for path in timeline.rglob("*.deltacommit")})
    first = "00000000000000010" if written.version == 6 else "00000000000000000"
    assert instants[0] == first
    assert instants[1] == str(int(first) + 1).zfill(17)
    assert all(len(instant) in ((17, 20) if written.version == 6 else (17,)) for instant in instants)


def test_a_requested_commit_is_an_empty_file(written: Written) -> None:
    requested = [
        path
        for path in (written.folder / ".hoodie").rglob("*commit.requested")
        if "metadata" not in path.parts and not path.name.partition(".")[2].startswith("replacecommit")
    ]
    assert requested
    assert {path.stat().st_size for path in requested} == {0}


def test_properties_and_index_definitions_by_version(written: Written) -> None:
    properties = parse_properties((written.folder / ".hoodie" / "hoodie.properties").read_text())
    assert ("hoodie.table.ordering.fields" in properties) == (written.version == 9)
    assert ("hoodie.table.precombine.field" in properties) == (written.version < 9)
    path = written.folder / ".hoodie" / ".index_defs" / "index.json"
    assert path.exists() == (written.version >= 8)
    if path.exists():
        definitions = json.loads(path.read_text())["indexDefinitions"]
        versions = {name: one.get("version") for name, one in definitions.items()}
        known = {"column_stats": "V2", "record_index": "V1"} if written.version == 9 else {}
        assert versions == {name: known.get(name, "V2" if written.version == 9 else None) for name in versions}
        assert "column_stats" in versions


def test_locations_of_records_have_a_position_since_hudi_1(written: Written) -> None:
    schemas = {
        json.dumps(HFile.open(Bytes(data)).schema)
        for partition, data in written.hfiles()
        if partition == "record_index"
    }
    assert all(('"position"' in schema) == (written.version >= 8) for schema in schemas)
    assert schemas or written.folder.name in ("1.1.1_expr_cow", "1.2.0_bloom_cow")
