"""Every merged row that Hudi's Spark reader shows is among the surviving rows, on every real table with log files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from evaluator.language.errors import UnsupportedError
from evaluator.language.types import decimal_type
from index_store import FileSlice, TableError, open_table
from index_store.formats.log_file import read_log_blocks
from index_store.own.builders.surviving_rows import _OneType, merge_slice
from index_store.own.store.merged_slices import MergedPart, is_merged, merged_parts, merged_slices
from index_store.storage.errors import FormatError
from index_store.table.file_rows import read_rows
from index_store.table.file_types import FileType
from index_store.table.row_precedence import row_precedence, why_not_committed
from tests.handler.spark.true_rows import reads, true_rows, unpack
from tests.sampling import share

KEY, NUMBER = "_hoodie_record_key", "_hoodie_commit_seqno"
#: Tables that are refused as a whole, and why.
REFUSED = {
    "1.0.2_nometa": "without Hudi's own columns",
    "1.2.0_nometa": "without Hudi's own columns",
    "archived_saved": "Hudi's readers do not agree",
    "pay_partial": "column by column",
    "pay_PartialUpdateAvroPayload": "column by column",
    "pay_nondefault": "column by column",
    "pay_postgres": "column by column",
    "pay_sum": "of the user's own",
    "ord_two": "several ordering fields",
}
#: Tables all of whose slices with log files are refused, and why.
UNKNOWN = {
    "ord_float": "ordering field ts: float",
    "upgraded_pending": "in a log file of another instant",
    "1.0.2_partial_mor": "partial updates",
    "1.2.0_partial_mor": "partial updates",
}
#: Tables some of whose slices are refused at some instants, and why.
IN_PART = {
    "1.2.0_upgraded_mor": "in a log file of another instant",
    "0.15.0_restored_mor": "which the timeline does not list as completed",
}
MERGED = [name for name in reads() if "_mor" in name or name.startswith("merging_")]


def _size(path: Path, files) -> int:
    return sum((path / file).stat().st_size for file in files)


def _versions_of(batches) -> Counter[tuple[bytes, bytes]]:
    found: Counter[tuple[bytes, bytes]] = Counter()
    for batch in batches:
        if batch.rows:
            columns = (batch.columns[name].values.to_pylist() for name in (KEY, NUMBER))
            found.update(zip(*columns, strict=True))
    return found


def _because(name: str, reasons: dict[str, str]) -> str:
    return next((why for part, why in reasons.items() if part in name), "")


@pytest.mark.parametrize("name", share(MERGED, 3))
def test_no_merged_row_of_hudi_is_lost(name, tmp_path):
    path = unpack(name, tmp_path / "t")
    table = open_table(path)
    if table.table_type != "MERGE_ON_READ":
        pytest.skip("COPY_ON_WRITE")
    if _because(name, REFUSED):
        with pytest.raises(UnsupportedError, match=_because(name, REFUSED)):
            row_precedence(table)
        return
    row_precedence(table)
    hidden, reasons, slices = 0, [], 0
    for read in reads()[name]:
        instant = read.partition("_")[2] or None if read.startswith("asof_") else None
        if not (read == "snapshot" or read.startswith("asof_")) or reads()[name][read] is None:
            continue
        if instant is not None and table.version < 8:
            continue  # a log file may hold later blocks: an index does not answer for older instants
        try:
            listed = table.slices(instant)
        except TableError:
            continue  # files of that time are cleaned
        found: Counter[tuple[bytes, bytes]] = Counter()
        for one in listed:
            stored = _versions_of(
                batch for file in one.files for batch in read_rows(table.storage, file, [KEY, NUMBER])
            )
            try:
                if not one.log_files or why_not_committed(one.log_files, table.timeline, table.version):
                    found += stored
                    continue
                rows = _versions_of(_rows(path, table, one))
            except TableError as error:
                reasons.append(error.why)
                found += stored
                continue
            assert not rows - stored
            hidden += (stored - rows).total()
            slices += 1
            found += rows
        expected = Counter(
            (key.encode(), number.encode())
            for key, number in zip(
                *(true_rows(name, read).column(part).to_pylist() for part in (KEY, NUMBER)), strict=True
            )
        )
        assert not expected - found, read
    if _because(name, UNKNOWN):
        assert not slices
        assert all(_because(name, UNKNOWN) in why for why in reasons)
    else:
        assert slices or not reasons
        assert all(_because(name, IN_PART) and _because(name, IN_PART) in why for why in reasons)
    if name in ("merging_1.2.0_types", "merging_1.0.2_isdel", "merging_0.15.0_types", "merging_1.2.0_commit_time"):
        assert hidden > 0


def _rows(path, table, one):
    """The rows that are left of a slice."""
    base_part, *_ = merged_parts(one)
    merged = merge_slice(table.storage, base_part, [KEY, NUMBER], row_precedence(table))
    for part in merged_parts(one):
        yield from merged.rows_of(part, _size(path, part.files))


def _table(tmp_path, name="merging_1.2.0_types"):
    path = unpack(name, tmp_path / "t")
    table = open_table(path)
    return path, table, next(one for one in table.slices() if one.log_files and one.base_file)


def test_files_of_another_length_than_listed_are_refused(tmp_path):
    path, table, one = _table(tmp_path)
    merged = merge_slice(table.storage, merged_parts(one)[0], [KEY, NUMBER], row_precedence(table))
    for part in merged_parts(one):
        size = _size(path, part.files)
        assert list(merged.rows_of(part, size))
        for listed in (size - 1, size + 1):
            with pytest.raises(TableError, match=f"its files have {size:,} bytes, and {listed:,} were listed"):
                list(merged.rows_of(part, listed))


def test_a_key_that_stands_twice_in_the_base_file_hides_no_row(tmp_path):
    path, table, one = _table(tmp_path)
    stored = _versions_of(read_rows(table.storage, one.base_file, [KEY, NUMBER]))
    gone = stored - _versions_of(_rows(path, table, one))
    assert gone
    base = parquet.read_table(path / one.base_file, partitioning=None)
    key = next(iter(gone))[0].decode()
    again = base.filter([one == key for one in base.column(KEY).to_pylist()])
    parquet.write_table(pa.concat_tables([base, again]), path / one.base_file)
    left = stored - _versions_of(_rows(path, table, one))
    assert {one for one, _ in left} == {one for one, _ in gone} - {key.encode()}


def test_an_instant_that_is_not_completed_hides_nothing(tmp_path):
    """Table version 6: a block may be of a write that is still going on, and that the timeline does not list."""
    path, table, one = _table(tmp_path, "merging_0.15.0_types")
    assert list(_rows(path, table, one))
    blocks = read_log_blocks((path / one.log_files[0]).read_bytes())
    last = blocks[-1].instant
    for file in (path / ".hoodie").glob(f"{last}*.deltacommit"):
        file.unlink()
    with pytest.raises(TableError, match=f"a block of {last}, which the timeline does not list as completed"):
        list(_rows(path, open_table(path), one))


def test_decimals_of_more_than_18_digits_are_no_ordering_values(tmp_path):
    """Ordering values are compared as 64-bit integers."""
    path, *_ = _table(tmp_path)
    properties = path / ".hoodie" / "hoodie.properties"
    text = properties.read_text()
    for field in ("dec", "big"):
        properties.write_text(text.replace("ordering.fields=ts", f"ordering.fields={field}"))
        table = open_table(path)
        one = next(one for one in table.slices() if one.log_files and one.base_file)
        if field == "dec":
            assert list(_rows(path, table, one))
        else:
            with pytest.raises(TableError, match=r"ordering field big: decimal\(38,6\)"):
                list(_rows(path, table, one))


@pytest.mark.parametrize(
    ("name", "type_", "why"),
    [
        (KEY, None, "a row without a record key"),
        (KEY, pa.int64(), "a row without a record key: bigint"),
        ("ts", pa.int32(), "ordering field ts: int beside bigint"),
    ],
)
def test_a_base_file_whose_keys_or_ordering_values_are_not_those_of_its_log_files(tmp_path, name, type_, why):
    path, table, one = _table(tmp_path)
    base = parquet.read_table(path / one.base_file, partitioning=None)
    values = [None, *base.column(name).to_pylist()[1:]] if type_ is None else range(len(base))
    changed = pa.array(values, type_ or base.column(name).type)
    parquet.write_table(base.set_column(base.column_names.index(name), name, changed), path / one.base_file)
    with pytest.raises(TableError, match=why):
        list(_rows(path, table, one))


def test_the_most_digits_of_an_ordering_value():
    _OneType("ts", {FileType.of(decimal_type(18, 2))})
    with pytest.raises(FormatError, match=r"ordering field ts: decimal\(19,2\)"):
        _OneType("ts", {FileType.of(decimal_type(19, 2))})


def test_a_slice_of_one_log_file_has_its_records(tmp_path):
    path, table, one = _table(tmp_path)
    alone = FileSlice(one.partition, one.file_id, None, one.log_files[:1])
    assert _versions_of(_rows(path, table, alone)) == _versions_of(
        read_rows(table.storage, one.log_files[0], [KEY, NUMBER])
    )


@pytest.mark.parametrize(
    ("item", "names"),
    [
        (FileSlice("p=a", "f1", "p=a/f1.parquet", ("p=a/.f1.l",)), ("p=a/f1.parquet|.f1.l", "p=a/|f1.parquet|.f1.l")),
        (FileSlice("", "f1", "f1.parquet", (".f1.l", ".f1.m")), ("f1.parquet|.f1.l|.f1.m", "|f1.parquet|.f1.l|.f1.m")),
        (FileSlice("p=a", "f1", None, ("p=a/.f1.l",)), ("p=a/|.f1.l",)),
        (
            FileSlice("p=x|y", "f1", "p=x|y/f1.parquet", ("p=x|y/.f1.l",)),
            ("p=x|y/f1.parquet|.f1.l", "p=x|y/|f1.parquet|.f1.l"),
        ),
    ],
)
def test_a_name_has_the_files_of_its_slice(item, names):
    parts = merged_parts(item)
    assert tuple(part.path for part in parts) == names
    assert tuple(MergedPart.named(name) for name in names) == parts
    assert parts[0].files == item.files
    assert parts[-1].files == item.log_files
    assert merged_slices(pa.array(names)) == 1
    assert is_merged(pa.array(names)).all()
    assert not is_merged(pa.array(item.files)).any()
    assert [MergedPart.named(path) for path in item.files] == [None] * len(item.files)
