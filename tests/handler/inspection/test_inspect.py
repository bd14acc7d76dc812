"""``sargo inspect``: every index of every real table is listed as read, or as not read with the reason."""

from __future__ import annotations

import io
import json
import shutil

import pytest
from rich.console import Console

from handler import open_table
from handler.inspection.table_report import report_table
from handler.views.table import show_table
from tests.handler.conftest import DATA
from tests.sampling import share

TABLES = sorted(str(path.relative_to(DATA).with_suffix("")) for path in DATA.rglob("*.zip"))
EXPRESSIONS, RELISTED = "proofs/1.1.1_expr_part_cow", "proofs/1.1.1_relisted_cow"


def shown(report):
    stream = io.StringIO()
    show_table(report, Console(file=stream, width=400))
    return stream.getvalue()


@pytest.mark.parametrize("name", share(TABLES, 3, seed=3))
def test_every_partition_of_a_metadata_table_is_listed_as_read_or_with_the_reason(unpack, name):
    folder = unpack(name)
    report = report_table(open_table(folder))
    on_disk = {one.name for one in (folder / ".hoodie" / "metadata").glob("*") if one.is_dir()} - {".hoodie"}
    assert {index.name for index in report.indexes} == on_disk
    text = shown(report)
    for index in report.indexes:
        assert index.read is not bool(index.why_not), index
        line = next(line for line in text.splitlines() if line.split()[:1] == [index.name])
        assert (" not read " in line) is not index.read
        assert index.why_not in line
    assert {"files", "partition_stats"} & {index.name for index in report.indexes if index.read} <= {"files"}
    for covered in report.coverage:
        assert f"Coverage of {covered.kind}" in text


def reasons(opened, as_of=None):
    return {index.name: index.why_not for index in report_table(opened, as_of).indexes}


def test_an_expression_index_that_no_filter_can_use_is_not_called_read(unpack):
    found = reasons(open_table(unpack(EXPRESSIONS)))
    unused = {name: why for name, why in found.items() if why}
    assert set(unused) == {
        "expr_index_dfd",
        "expr_index_fu",
        "expr_index_hr",
        "expr_index_ss",
        "expr_index_yt",
        "partition_stats",
    }
    assert unused["expr_index_hr"] == "hour may depend on the writer's time zone, or on the engine"
    assert unused["expr_index_yt"].startswith("year of type timestamp")


def test_the_sums_of_partitions_are_not_read_and_the_reason_is_the_files_that_they_leave_out(unpack):
    why = reasons(open_table(unpack(RELISTED)))["partition_stats"]
    assert why == (
        "its bounds leave out files that were written while the column was not listed, and nothing tells "
        "whether there are any"
    )


def test_an_index_of_keys_does_not_answer_for_an_older_instant(unpack):
    opened = open_table(unpack("1.1.1_sec_mor"))
    first = min(instant.requested for instant in opened.table.timeline.writes)
    now, then = reasons(opened), reasons(opened, first)
    assert now["record_index"] == now["secondary_index_si_s"] == ""
    assert then["record_index"] == then["secondary_index_si_s"] == "it knows the table as it is, not as it was"
    assert then["column_stats"] == ""


def test_a_metadata_table_that_lags_behind_is_not_read(main_cow_copy):
    timeline = main_cow_copy / ".hoodie" / "metadata" / ".hoodie" / "timeline"
    last = max(one.requested for one in open_table(main_cow_copy).table.timeline.writes)
    for file in timeline.glob(f"{last}*"):
        file.unlink()
    report = report_table(open_table(main_cow_copy))
    assert "does not know the commit" in report.slices.note
    assert {index.why_not for index in report.indexes if index.name != "partition_stats"} == {
        "the metadata table does not describe the latest commit"
    }
    assert not any(index.read for index in report.indexes)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "V3"}, "version V3"),
        ({"indexType": "bloom_filters"}, "type bloom_filters"),
        ({"indexFunction": "lower"}, "of lower"),
        ({"sourceFields": ["s", "i"]}, "not of one column"),
        ({"sourceFields": []}, "not of one column"),
    ],
    ids=str,
)
def test_a_secondary_index_that_is_not_known_says_so(unpack, tmp_path, change, why):
    copy = shutil.copytree(unpack("1.1.1_sec_cow"), tmp_path / "t")
    path = copy / ".hoodie" / ".index_defs" / "index.json"
    stored = json.loads(path.read_text())
    stored["indexDefinitions"]["secondary_index_si_s"].update(change)
    path.write_text(json.dumps(stored))
    found = reasons(open_table(copy))
    assert why in found["secondary_index_si_s"]
    assert found["secondary_index_si_i"] == ""


def test_an_index_that_is_being_built_or_not_defined_or_not_known_says_so(main_cow_copy):
    properties = main_cow_copy / ".hoodie" / "hoodie.properties"
    text = (
        properties.read_text()
        .replace("partitions.inflight=", "partitions.inflight=record_index")
        .replace("metadata.partitions=", "metadata.partitions=expr_index_x,future_index,")
    )
    properties.write_text(text)
    found = reasons(open_table(main_cow_copy))
    assert found["record_index"] == "it is being built"
    assert found["expr_index_x"] == "index.json does not define it"
    assert found["future_index"] == "this version of Sargo does not know it"
