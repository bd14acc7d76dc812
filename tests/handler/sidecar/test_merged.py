"""File slices with log files, read for audits: the rows are those of Spark's full read, or there is no verdict."""

from __future__ import annotations

import json
import os
import shutil
import sys

import pytest

from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler import open_table
from handler.sidecar import merged
from handler.sidecar.merged import Unread, merged_batches
from handler.sidecar.recording.audit import SkippedFile, audit_file
from handler.sql.parsing import parse
from tests.handler.conftest import DATA, hive_filters
from tests.handler.sidecar.conftest import request
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.handler.table_rows import value_form
from tests.index_store.format_tables import FORMAT_TABLES, reads_of, unpack_format_table
from tests.sampling import share

SPARK = Semantics.named("spark", "UTC")
#: What hudi-rs refuses to merge: payload classes of one's own, merge modes by such, and a type that was widened.
REFUSED = {
    "0.15.0_pay_partial_mor",
    "0.15.0_pay_sum_mor",
    "1.2.0_pay_sum_mor",
    "0.15.0_widened_mor",
    "1.2.0_widened_mor",
}
#: Merged by a rule of a payload class that hudi-rs does not know: rows of the files' values, but not Hudi's.
OTHERWISE = {"1.2.0_pay_postgres_mor"}
TABLES = [name for name in FORMAT_TABLES if name.endswith("mor") and name not in OTHERWISE]


def rows_of(folder, item):
    columns = [field.name for field in open_table(folder).table.schema.fields if "." not in field.name]
    batches = merged_batches(str(folder), str(folder), item.base_file, item.log_files, columns)
    return [value_form(row) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("name", share(TABLES, 3))
def test_the_rows_of_a_slice_with_log_files_are_those_of_sparks_full_read(tmp_path, name):
    folder = unpack_format_table(name, tmp_path / name)
    [latest] = [read for read in reads_of(folder) if read["as_of"] is None]
    groups = {
        (partition, file_id): (number, rows) for number, (partition, file_id, rows) in enumerate(latest["groups"])
    }
    opened = open_table(folder)
    with_logs = [item for item in opened.at().slices if item.log_files]
    if name in REFUSED:
        for item in with_logs:
            with pytest.raises(UnsupportedError, match="cannot be merged"):
                rows_of(folder, item)
        return
    for item in with_logs:
        number, count = groups.get((item.partition, item.file_id), (-1, 0))
        rows = rows_of(folder, item)
        assert len(rows) == count
        for text, matching in latest["filters"].items():
            condition = parse(text, "spark")
            found = sum(value_of(condition, row, opened.table.schema, SPARK) is True for row in rows)
            assert found == matching.get(str(number), 0), text


def audited(folder, item, expression, log_files=None):
    return SkippedFile(
        table=str(folder),
        root=str(folder),
        storage_options={},
        path=item.base_file,
        expression=expression,
        schema=open_table(folder).table.schema,
        semantics=SPARK,
        max_rows=100_000,
        log_files=item.log_files if log_files is None else log_files,
    )


@pytest.fixture(scope="module")
def main_mor(unpack):
    return unpack("1.1.1_main_mor")


def test_a_row_that_stands_in_a_log_file_only_is_found(main_mor):
    oracle = json.loads((DATA / "oracle_main_mor_1.1.1.json").read_text(encoding="utf-8"))
    with_logs = [item for item in open_table(main_mor).at().slices if item.log_files]
    verdicts, in_log_only = [], 0
    for one in oracle["filters"][::6]:
        condition = parse(one["filter"], "spark")
        for item in with_logs:
            verdict = audit_file(audited(main_mor, item, condition))
            if verdict != "undecided":
                assert verdict == ("failed" if item.file_id in one["files_true_ids"] else "passed"), one["filter"]
            in_log_only += verdict == "failed" and audit_file(audited(main_mor, item, condition, ())) == "passed"
            verdicts.append(verdict)
    assert verdicts.count("passed") > 20
    assert in_log_only > 0


def test_what_cannot_be_read_here_is_said_and_not_passed(main_mor, tmp_path, monkeypatch):
    [item, *_] = [item for item in open_table(main_mor).at().slices if item.log_files]
    never = parse("i < -100000", "spark")
    file = audited(main_mor, item, never)
    assert audit_file(file) == "passed"
    remote = SkippedFile(
        table=file.table,
        root=None,
        storage_options={},
        path=file.path,
        expression=never,
        schema=file.schema,
        semantics=SPARK,
        max_rows=10,
        log_files=file.log_files,
    )
    without_base = SkippedFile(
        table=file.table,
        root=file.root,
        storage_options={},
        path=None,
        expression=never,
        schema=file.schema,
        semantics=SPARK,
        max_rows=10,
        log_files=file.log_files,
    )
    orc = SkippedFile(
        table=file.table,
        root=file.root,
        storage_options={},
        path="p=p0/a.orc",
        expression=never,
        schema=file.schema,
        semantics=SPARK,
        max_rows=10,
    )
    assert [audit_file(one) for one in (remote, without_base, orc)] == ["unread"] * 3
    monkeypatch.setattr(merged, "MAX_LOG_BYTES", 10)
    assert audit_file(file) == "unread"
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "hudi", None)  # as if the extra were not installed
    assert audit_file(file) == "unread"


@pytest.mark.parametrize("what", ["log file", "base file", "properties", "folder"])
def test_no_link_leads_the_reader_out_of_the_roots(main_mor, tmp_path, what):
    [item, *_] = [item for item in open_table(main_mor).at().slices if item.log_files]
    folder = shutil.copytree(main_mor, tmp_path / "roots" / "t")
    moved = {
        "log file": folder / item.log_files[0],
        "base file": folder / item.base_file,
        "properties": folder / ".hoodie" / "hoodie.properties",
        "folder": folder / ".hoodie",
    }[what]
    shutil.move(moved, tmp_path / "outside")
    os.symlink(tmp_path / "outside", moved)
    with pytest.raises(UnsupportedError, match=r"leads out|holds links"):
        next(merged_batches(str(folder), str(tmp_path / "roots"), item.base_file, item.log_files, ["i"]))


def test_a_table_that_is_not_local_is_not_read():
    with pytest.raises(Unread):
        next(merged_batches("s3://lake/t", None, "a", ["b"], ["i"]))


def test_answers_about_slices_with_log_files_are_audited_as_they_are_read(sidecar, main_mor):
    names = [name for item in open_table(main_mor).at().slices if item.log_files for name in item.files]
    text = next(one["filter"] for one in hive_filters() if (one["hive"], one["sql"]) == ("4.0.1", "i = 100"))
    running = sidecar(roots=[str(main_mor)], audit_rate=1, audit_files=100)
    with running.client() as client:
        skipped = client.prune(request(main_mor, text, names)).skipped
    slices = sum(1 for item in open_table(main_mor).at().slices if item.log_files)
    wait_for(lambda: running.metric("sargo_audits_total", verdict="passed") > 0)
    assert 0 < skipped < len(names)
    assert running.metric("sargo_audits_total", verdict="passed") <= slices
    assert running.metric("sargo_audit_alarm_tables") == 0
