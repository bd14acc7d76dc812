"""Which rule compares the versions of a row, by the properties of a table; and which log files are surely committed."""

from __future__ import annotations

import pytest

from evaluator.language.errors import UnsupportedError
from handler import open_table
from index_store.table.merge_rule import COMMIT_TIME_STRATEGY, EVENT_TIME_STRATEGY, PAYLOAD_PACKAGE
from index_store.table.row_precedence import row_precedence, why_not_committed
from tests.index_store.merged_tables import FIELDS, SCHEMA, Group, Written, instant, log_name, write_merged

ROWS = [Group([{"k": "a", "ts": 1, "i": 3, "s": "x"}], [Written(instant(1), [{"k": "a", "ts": 2, "i": 4, "s": "x"}])])]
EVENT, COMMIT = ({"hoodie.record.merge.mode": f"{mode}_TIME_ORDERING"} for mode in ("EVENT", "COMMIT"))


def payload(name):
    return {"hoodie.compaction.payload.class": f"{PAYLOAD_PACKAGE}.{name}"}


def written(tmp_path, version, properties):
    return open_table(write_merged(tmp_path / "t", ROWS, version=version, properties=properties), cache=None).table


@pytest.mark.parametrize(
    ("version", "properties", "ordering", "by_commit"),
    [
        *((version, EVENT, "ts", False) for version in (8, 9)),
        *((version, COMMIT, "ts", True) for version in (8, 9)),
        *((version, COMMIT | {"hoodie.table.precombine.field": ""}, "", True) for version in (8, 9)),
        (6, {}, "ts", False),
        (6, payload("DefaultHoodieRecordPayload"), "ts", False),
        (8, EVENT | payload("OverwriteWithLatestAvroPayload"), "ts", False),
        (8, COMMIT | payload("OverwriteWithLatestAvroPayload"), "ts", True),
        (9, EVENT | payload("EventTimeAvroPayload"), "ts", False),
        (9, EVENT | {"hoodie.table.ordering.fields": "i"}, "i", False),
        (8, EVENT | {"hoodie.record.merge.strategy.id": EVENT_TIME_STRATEGY}, "ts", False),
        (8, COMMIT | {"hoodie.record.merge.strategy.id": COMMIT_TIME_STRATEGY}, "ts", True),
    ],
)
def test_the_rule_of_a_table(tmp_path, version, properties, ordering, by_commit):
    rule = row_precedence(written(tmp_path, version, properties))
    assert (rule.ordering, rule.by_commit) == (ordering, by_commit)
    assert rule.completed == (frozenset({instant(0), instant(1)}) if version == 6 else None)


@pytest.mark.parametrize(
    ("version", "properties", "why"),
    [
        (8, EVENT | payload("EventTimeAvroPayload"), "EventTimeAvroPayload, ordering field ts"),
        (6, payload("EventTimeAvroPayload"), "EventTimeAvroPayload, ordering field ts"),
        (8, COMMIT | payload("DefaultHoodieRecordPayload"), "DefaultHoodieRecordPayload"),
        (9, {"hoodie.record.merge.mode": ""}, "nothing said of merging, ordering field ts"),
        (9, EVENT | {"hoodie.table.precombine.field": ""}, "EVENT_TIME_ORDERING, no ordering field"),
        (6, EVENT, "EVENT_TIME_ORDERING"),
        (6, COMMIT, "COMMIT_TIME_ORDERING"),
        (9, EVENT | {"hoodie.table.precombine.field": "s.ts"}, "ordering field s.ts"),
        (9, EVENT | {"hoodie.table.ordering.fields": "ts,i"}, r"several ordering fields \(ts, i\)"),
        (8, EVENT | {"hoodie.record.merge.strategy.id": COMMIT_TIME_STRATEGY}, "the strategy"),
        (8, COMMIT | {"hoodie.record.merge.strategy.id": EVENT_TIME_STRATEGY}, "the strategy"),
        (9, EVENT | {"hoodie.table.base.file.format": "ORC"}, "format ORC"),
        (9, EVENT | {"hoodie.populate.meta.fields": "false"}, "without Hudi's own columns"),
    ],
)
def test_a_table_whose_rule_is_not_known_is_refused(tmp_path, version, properties, why):
    with pytest.raises(UnsupportedError, match=why):
        row_precedence(written(tmp_path, version, properties))


@pytest.mark.parametrize(("column", "is_refused"), [("_hoodie_operation", True), ("_HOODIE_operation", False)])
def test_a_table_that_keeps_changes_as_rows_is_refused(tmp_path, monkeypatch, column, is_refused):
    monkeypatch.setitem(SCHEMA, "fields", [*FIELDS, {"name": column, "type": ["null", "string"]}])
    table = written(tmp_path, 9, EVENT)
    if is_refused:
        with pytest.raises(UnsupportedError, match="changes as rows"):
            row_precedence(table)
    else:
        assert row_precedence(table).ordering == "ts"


@pytest.mark.parametrize("version", [8, 9])
def test_a_log_file_is_committed_when_the_timeline_tells_so(tmp_path, version):
    timeline = written(tmp_path, version, {}).timeline
    assert why_not_committed([log_name(0, instant(1))], timeline, version) == ""
    later = log_name(0, instant(2))
    why = f"nothing tells when {later} was completed"
    assert why_not_committed([log_name(0, instant(1)), f"p=1/{later}"], timeline, version) == why
    assert why_not_committed(["p=1/.odd"], timeline, version) == "nothing tells when .odd was completed"


def test_blocks_of_table_version_6_are_looked_at_when_they_are_read(tmp_path):
    timeline = written(tmp_path, 6, {}).timeline
    assert why_not_committed([log_name(0, instant(2))], timeline, 6) == ""
