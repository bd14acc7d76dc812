"""Which slices with log files are merged when an index is built, by their files."""

from __future__ import annotations

import pytest

from handler import open_table
from index_store.own.maintenance.merged_files import BASE_BYTES, LOG_BYTES, MAX_LOGS, sketched_files, why_not_merged
from index_store.table.file_slices import FileSlice
from tests.index_store.merged_tables import Group, Written, base_name, instant, log_name, write_merged

ROW = {"k": "a", "ts": 1, "i": 3, "s": "x"}
BASE, LOG = base_name(0), log_name(0, instant(1))
MIB = 1 << 20


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    groups = [Group([ROW], [Written(instant(1), [ROW])])]
    return open_table(write_merged(tmp_path_factory.mktemp("merged") / "t", groups), cache=None).table


@pytest.mark.parametrize(
    ("base", "logs", "sizes", "why"),
    [
        (BASE, [LOG], {}, ""),
        (None, [LOG], {}, ""),
        (BASE, [LOG], {BASE: None}, "not listed"),
        (BASE, [LOG], {LOG: None}, "not listed"),
        (BASE, [LOG] * MAX_LOGS, {}, ""),
        (BASE, [LOG] * (MAX_LOGS + 1), {}, "201 log files are more than the 200 that are merged"),
        (BASE, [LOG], {LOG: LOG_BYTES}, ""),
        (BASE, [LOG], {LOG: LOG_BYTES + MIB}, "log files of 65 MiB are more than the 64 MiB that are merged"),
        (BASE, [LOG], {BASE: BASE_BYTES}, ""),
        (BASE, [LOG], {BASE: BASE_BYTES + MIB}, "a base file of 1,025 MiB is more than the 1,024 MiB that are merged"),
        ("g0-0_0-1-0_00000000000001.parquet", [LOG], {}, "no rows of its own"),
        (BASE.replace("parquet", "orc"), [LOG], {}, "is not Parquet"),
        ("odd.parquet", [LOG], {}, "is not Parquet"),
        (BASE, [LOG, log_name(0, instant(2))], {}, "nothing tells when"),
    ],
)
def test_what_is_merged(table, base, logs, sizes, why):
    item = FileSlice("", "g0-0", base, tuple(logs))
    listed = {path: sizes.get(path, 1_000) for path in item.files}
    found = why_not_merged(table, item, {path: size for path, size in listed.items() if size is not None})
    assert (why in found) if why else found == ""


def sketched(tmp_path, groups, **properties):
    return sketched_files(open_table(write_merged(tmp_path / "t", groups, properties=properties), cache=None).table)


@pytest.mark.parametrize("of_type", ["MERGE_ON_READ", "COPY_ON_WRITE"])
def test_a_table_without_log_files_has_nothing_to_merge(tmp_path, of_type):
    found = sketched(tmp_path, [Group([ROW])], **{"hoodie.table.type": of_type})
    assert (found.files.num_rows, found.instant, found.logged, found.refused) == (1, instant(0), 0, {})


def test_what_is_not_merged_is_named_by_its_first_file(tmp_path):
    write = Written(instant(1), [ROW])
    found = sketched(
        tmp_path, [Group([ROW], [write]), Group(None, [write])], **{"hoodie.record.merge.strategy.id": "another"}
    )
    assert found.logged == 2
    assert found.refused.keys() == {BASE, log_name(1, instant(1))}
    assert set(found.refused.values()) == {
        "rows that are merged column by column, or by a payload or merger of the user's own"
    }
