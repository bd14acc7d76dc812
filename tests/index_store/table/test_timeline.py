"""Timelines and properties: what is completed, what is pending, and how people name an instant."""

from __future__ import annotations

from pathlib import Path

import pytest

from index_store import TableError, open_table
from index_store.storage.storage import Storage
from index_store.table.properties import parse_properties
from index_store.table.timeline import parse_as_of, read_timeline
from tests.index_store.format_tables import ALL, unpack_format_table
from tests.sampling import share

A, B, C = "20260101000000001", "20260102000000002", "20260103000000003"


def timeline(folder, *names):
    for name in names:
        (folder / name).write_bytes(b"")
    return read_timeline(Storage.at(folder))


@pytest.mark.parametrize(
    ("names", "completed", "pending"),
    [
        pytest.param([f"{A}.commit.requested", f"{A}.inflight", f"{A}.commit"], [A], {}, id="v6 commit"),
        pytest.param([f"{A}.commit.requested", f"{A}.inflight"], [], {A: "commit"}, id="v6 inflight"),
        pytest.param([f"{A}.replacecommit.requested"], [], {A: "replacecommit"}, id="v6 requested"),
        pytest.param([f"{A}.compaction.requested", f"{A}.commit"], [A], {}, id="v6 compaction done"),
        pytest.param([f"{A}.deltacommit.inflight", f"{A}_{B}.deltacommit"], [A], {}, id="v8 deltacommit"),
        pytest.param(
            [f"{A}.clustering.requested", f"{A}.clustering.inflight"], [], {A: "clustering"}, id="v8 clustering"
        ),
        pytest.param([f"{A}.clustering.requested", f"{A}_{B}.replacecommit"], [A], {}, id="v8 clustering done"),
        pytest.param(["hoodie.properties", "history", f".{A}_{B}.commit.crc", "notes.txt"], [], {}, id="no instants"),
    ],
)
def test_which_instants_are_completed(tmp_path, names, completed, pending):
    found = timeline(tmp_path, *names)
    assert [instant.requested for instant in found.writes] == completed
    assert found.pending == pending


def test_an_instant_is_committed_when_listed_or_archived(tmp_path):
    found = timeline(tmp_path, f"{B}_{C}.commit", f"{C}.commit.requested", "20250101000000000.deltacommit.inflight")
    assert found.is_committed(B)
    assert found.is_committed(A)  # older than the first one listed
    assert not found.is_committed(C)
    assert not found.is_committed("20250101000000000")  # pending, however old
    assert not found.is_committed("20260102100000000")  # rolled back: newer than the first one, and not listed
    assert (found.completion(B), found.completion(A)) == (C, None)


def test_a_commit_that_only_a_savepoint_keeps_does_not_start_the_timeline(tmp_path):
    found = timeline(tmp_path, f"{A}.commit", f"{A}.savepoint", f"{C}.commit")
    assert found.start == C
    assert found.is_committed(B)


def test_what_was_archived_beyond_a_savepoint_is_committed_and_disputed(tmp_path):
    between, older, pending = "20260101100000000", "20251231000000000", "20260101200000000"
    found = timeline(tmp_path, f"{A}.commit", f"{A}.savepoint", f"{C}.commit", f"{pending}.commit.inflight")
    assert [found.is_committed(name) for name in (between, older, A, C, pending)] == [True, True, True, True, False]
    assert [found.is_disputed(name) for name in (between, older, A, C, pending)] == [True, False, False, False, False]


def test_where_every_commit_is_saved_older_ones_are_archived(tmp_path):
    found = timeline(tmp_path, f"{B}_{B}.commit", f"{B}_{B}.savepoint", f"{C}_{C}.commit", f"{C}_{C}.savepoint")
    assert found.start == B
    assert found.is_committed(A)
    assert not found.is_committed("20260102100000000")


def test_an_empty_timeline_commits_nothing(tmp_path):
    found = timeline(tmp_path)
    assert found.last is None
    assert not found.is_committed(A)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (A, A),
        ("20260101000000", "20260101000000999"),
        ("2026-01-01", "20260101000000000"),
        ("2026-01-01 10:20:30", "20260101102030999"),
        ("2026-01-01T10:20:30.123", "20260101102030123"),
        ("001", "001"),
    ],
)
def test_instants_as_people_write_them(text, expected):
    assert parse_as_of(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2026-1-1", "2026-01-01 10"])
def test_what_is_no_instant(text):
    with pytest.raises(ValueError, match="not an instant"):
        parse_as_of(text)


def test_metadata_that_is_no_record_is_an_error(tmp_path):
    for content in (b"[1, 2]", b"{", b"Obj\x01junk"):
        (tmp_path / f"{A}.commit").write_bytes(content)
        found = read_timeline(Storage.at(tmp_path))
        with pytest.raises(TableError, match=A):
            found.details(found.instants[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a = b ", {"a": "b "}),
        ("a:b", {"a": "b"}),
        ("a b", {"a": "b"}),
        ("a=", {"a": ""}),
        ("#x\n!y\n\n a=1", {"a": "1"}),
        (r"a\:b=c\=d\\e", {"a:b": r"c=d\e"}),
        ("a=1\\\n   2", {"a": "12"}),
        (r"a=\u00e9\t|", {"a": "é\t|"}),
        ("a", {"a": ""}),
        ("a=x\\\\\nb=2", {"a": "x\\", "b": "2"}),
    ],
)
def test_properties_as_java_reads_them(text, expected):
    assert parse_properties(text) == expected


@pytest.mark.parametrize("name", ["0.15.0_evolved_cow", "1.2.0_evolved_cow"])
def test_a_commit_with_the_content_of_another_one_is_refused(tmp_path, name):
    """Its schema is that of an older state: ``x`` was a number, and was compared as one."""
    table = unpack_format_table(name, tmp_path / "table")
    opened = open_table(table)
    first, last = (one for one in (opened.timeline.writes[0], opened.timeline.writes[-1]) if one.action == "commit")
    folder = opened.timeline.storage
    Path(folder.absolute(last.file)).write_bytes(Path(folder.absolute(first.file)).read_bytes())
    with pytest.raises(TableError, match="files of other instants only"):
        _ = open_table(table).schema


@pytest.mark.parametrize("name", share(ALL, 4))
def test_no_commit_of_a_real_table_is_taken_for_another_ones(tmp_path, name):
    opened = open_table(unpack_format_table(name, tmp_path / "table"))
    for instant in opened.timeline.instants:
        if instant.action in ("commit", "replacecommit"):
            opened.timeline.details(instant)
