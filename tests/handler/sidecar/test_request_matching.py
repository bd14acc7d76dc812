"""Which names get a bit, held against what a reader would merge of the very files that were listed.

A small model writes file groups: base files, log files that update one column or both, compactions. The sidecar looks
at one moment of that history, Hudi lists at another. A reader that drops every split whose names all have a bit must
not lose a row.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.evaluation.bit_sets import bits_of_mask
from handler.sidecar import request_matching
from handler.sidecar.names import ListedNames
from handler.sidecar.request_matching import ViewFiles, names_to_skip, needs_fresh_view
from index_store import FileSlice, FileSlices
from tests.sampling import examples

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
#: A condition, whether a row (a, b) satisfies it, and whether some file's values leave it possible.
CONDITIONS = {
    "a = 1": (lambda a, _: a == 1, lambda records: any(a == 1 for a, _ in records)),
    "b IS NULL": (lambda _, b: b is None, lambda records: any(b is None for _, b in records)),
    "a = 1 OR b = 2": (lambda a, b: a == 1 or b == 2, lambda records: any(a == 1 or b == 2 for a, b in records)),
}
ABSENT = object()  # a column that a partial update leaves as it was


@dataclass
class File:
    name: str
    records: dict = field(default_factory=dict)  # key -> (a, b)


@dataclass
class Group:
    base: File | None = None
    logs: list = field(default_factory=list)

    def copy(self):
        return Group(self.base, list(self.logs))

    def files(self):
        return [*([self.base] if self.base else []), *self.logs]


def merged(files):
    """The rows of a split: later records update earlier ones; a column that nobody wrote is NULL."""
    rows = {}
    for file in files:
        for key, record in file.records.items():
            old = rows.get(key, (None, None))
            rows[key] = tuple(before if new is ABSENT else new for before, new in zip(old, record, strict=True))
    return list(rows.values())


def keys_of(files):
    return {key for file in files for key in file.records}


def written(files):
    """What statistics speak of: the values that are written in some file, column by column."""
    return [(a, b) for file in files for a, b in file.records.values()]


def filter_might_match(condition, files):
    possible = CONDITIONS[condition][1]
    columns = list(zip(*written(files), strict=True)) or [(), ()]
    return possible([(a, b) for a in columns[0] for b in columns[1]])


VALUES = st.sampled_from([0, 1, 2, None])
RECORDS = st.dictionaries(st.integers(0, 3), st.tuples(VALUES, VALUES), min_size=1, max_size=3)
PARTIAL = st.dictionaries(
    st.integers(0, 3), st.tuples(VALUES | st.just(ABSENT), VALUES | st.just(ABSENT)), min_size=1, max_size=3
)
EVENTS = st.lists(
    st.tuples(st.sampled_from(["log", "log", "insert", "compact"]), st.integers(0, 2), RECORDS, PARTIAL),
    min_size=1,
    max_size=8,
)


def history(events, with_logs):
    """The groups after each event."""
    groups, moments = {}, []
    for place, (kind, group, records, partial) in enumerate(events):
        instant = f"2026010100000{place:04d}"
        current = groups.get(group, Group()).copy()
        base_name = f"p=1/group{group}-0_0-1-{place}_{instant}.parquet"
        if kind == "insert" and current.base is None and not current.logs:
            current.base = File(base_name, records)
        elif not with_logs:  # copy on write: a new version of the whole file
            rows = {**(current.base.records if current.base else {}), **records}
            current = Group(File(base_name, rows))
        elif kind == "compact":
            rows = dict(enumerate(merged(current.files())))
            current = Group(File(base_name, rows)) if rows else current
        else:
            name = f"p=1/.group{group}-0_{instant}.log.1_0-1-{place}"
            updates = {key: record for key, record in partial.items() if key in keys_of(current.files())}
            current.logs.append(File(name, updates or records))  # only rows that are there are updated in part
        groups = {**groups, group: current}
        moments.append(groups)
    return moments


def slices_of(groups):
    return [
        FileSlice(
            "p=1", f"group{number}-0", group.base.name if group.base else None, tuple(log.name for log in group.logs)
        )
        for number, group in sorted(groups.items())
    ]


def bits(known, skipped, listed, table_type, query_type):
    matched = known.match(listed, table_type)
    skipped = bits_of_mask(skipped)
    verdicts = matched.verdicts(skipped, ~skipped)
    may_skip, _ = names_to_skip(skipped, verdicts, matched, query_type)
    return may_skip


def answer(view, names, condition, table_type, query_type):
    known = ViewFiles.of(FileSlices("1", "test", tuple(slices_of(view))))
    skipped = np.array([not filter_might_match(condition, group.files()) for _, group in sorted(view.items())], bool)
    blob = "\n".join(names).encode()
    may_skip = bits(known, skipped, ListedNames(blob, False, len(names), 1 << 20), table_type, query_type)
    return {name for name, bit in zip(names, may_skip.tolist(), strict=True) if bit}


@settings(max_examples=examples(78, at_night=4000))
@given(
    events=EVENTS,
    data=st.data(),
    condition=st.sampled_from(sorted(CONDITIONS)),
    query_type=st.sampled_from(["snapshot", "as_of"]),
)
def test_no_split_of_a_merge_on_read_table_is_dropped_that_holds_a_row(events, data, condition, query_type):
    moments = history(events, with_logs=True)
    view, listing = (data.draw(st.sampled_from(moments)) for _ in range(2))
    splits = [group.files() for group in listing.values()]
    if data.draw(st.booleans()):  # splits of fewer files: what a client may list as well
        splits = [[file for file in files if data.draw(st.booleans())] for files in splits]
    names = data.draw(st.permutations([file.name for files in splits for file in files]))
    skipped = answer(view, names, condition, MOR, query_type)
    for files in splits:
        if files and {file.name for file in files} <= skipped:
            assert not any(CONDITIONS[condition][0](*row) for row in merged(files)), [file.name for file in files]


@settings(max_examples=examples(39, at_night=2000))
@given(
    events=EVENTS,
    data=st.data(),
    condition=st.sampled_from(sorted(CONDITIONS)),
    query_type=st.sampled_from(["snapshot", "incremental", "as_of", "read_optimized"]),
)
def test_no_file_of_a_copy_on_write_table_is_dropped_that_holds_a_row(events, data, condition, query_type):
    moments = history(events, with_logs=False)
    view, listing = (data.draw(st.sampled_from(moments)) for _ in range(2))
    files = [group.base for group in listing.values() if group.base]
    skipped = answer(view, [file.name for file in files], condition, COW, query_type)
    for file in files:
        if file.name in skipped:
            assert not any(CONDITIONS[condition][0](*row) for row in file.records.values())


@settings(max_examples=examples(39, at_night=2000))
@given(events=EVENTS, data=st.data(), condition=st.sampled_from(sorted(CONDITIONS)))
def test_a_read_optimised_query_loses_no_row_of_a_base_file_whatever_the_logs_say(events, data, condition):
    moments = history(events, with_logs=True)
    view, listing = (data.draw(st.sampled_from(moments)) for _ in range(2))
    files = [group.base for group in listing.values() if group.base]
    skipped = answer(view, [file.name for file in files], condition, MOR, "read_optimized")
    for file in files:
        if file.name in skipped:
            assert not any(CONDITIONS[condition][0](*row) for row in merged([file]))


@settings(max_examples=examples(39, at_night=2000))
@given(events=EVENTS, data=st.data(), condition=st.sampled_from(sorted(CONDITIONS)))
def test_no_split_is_dropped_that_holds_a_row_when_the_table_became_merge_on_read_since(events, data, condition):
    moments = history(events, with_logs=True)
    view = {key: group for key, group in data.draw(st.sampled_from(moments)).items() if not group.logs}
    splits = [group.files() for group in data.draw(st.sampled_from(moments)).values()]
    names = [file.name for files in splits for file in files]
    skipped = answer(view, names, condition, COW, "snapshot")
    for files in splits:
        if files and {file.name for file in files} <= skipped:
            assert not any(CONDITIONS[condition][0](*row) for row in merged(files))


# -- each rule by itself

BASE, NEWER = "p=1/g-0_0-1-1_20260101000000000.parquet", "p=1/g-0_0-1-2_20260102000000000.parquet"
LOG, LATER = "p=1/.g-0_20260101000000001.log.1_0-1-1", "p=1/.g-0_20260101000000002.log.1_0-1-1"
BOOTSTRAPPED = "p=1/g-0_0-1-1_00000000000001.parquet"
OTHER = "p=1/h-0_0-1-1_20260101000000000.parquet"


@pytest.mark.parametrize(
    ("table_type", "query_type", "slice_files", "names", "skipped"),
    [
        (COW, "snapshot", [BASE], [BASE, OTHER], [BASE]),
        (COW, "snapshot", [BASE], [NEWER], []),
        (COW, "incremental", [BASE], [BASE], [BASE]),
        (COW, "as_of", [NEWER], [BASE, NEWER], [NEWER]),
        (COW, "snapshot", [BOOTSTRAPPED], [BOOTSTRAPPED], []),
        (MOR, "snapshot", [BASE], [BASE], [BASE]),
        (MOR, "snapshot", [BASE, LOG], [BASE, LOG], [BASE, LOG]),
        (MOR, "snapshot", [BASE, LOG], [LOG, BASE, BASE, LOG], [BASE, LOG]),
        (MOR, "snapshot", [BASE, LOG], [BASE], []),
        (MOR, "snapshot", [BASE], [BASE, LOG], []),
        (MOR, "snapshot", [BASE, LOG], [BASE, LOG, LATER], []),
        (MOR, "snapshot", [BASE, LOG, LATER], [BASE, LOG], []),
        (MOR, "snapshot", [BASE, LOG], [NEWER, LOG], []),
        (MOR, "snapshot", [BASE, LOG], [BASE, LOG, NEWER], []),
        (MOR, "snapshot", [LOG], [LOG], [LOG]),
        (MOR, "snapshot", [BASE], [BASE, OTHER], [BASE]),
        (MOR, "snapshot", [BASE], [BASE, "p=1/.g-0_20260101000000001.log.1_0-1-1.cdc"], []),
        (MOR, "snapshot", [BASE], [BASE, "not of Hudi"], []),
        (MOR, "snapshot", [BASE], [BASE, "p=2/.g-0_20260101000000001.log.1_0-1-1"], [BASE]),
        (MOR, "snapshot", [BOOTSTRAPPED, LOG], [BOOTSTRAPPED, LOG], []),
        (MOR, "as_of", [BASE, LOG], [BASE, LOG], [BASE, LOG]),
        (MOR, "read_optimized", [BASE, LOG], [BASE], [BASE]),
        (MOR, "read_optimized", [BASE, LOG], [BASE, LOG], [BASE]),
        (MOR, "read_optimized", [BOOTSTRAPPED, LOG], [BOOTSTRAPPED], []),
        (MOR, "incremental", [BASE, LOG], [BASE, LOG], []),
        (MOR, "incremental", [BASE], [BASE], []),
    ],
    ids=str,
)
def test_what_a_name_of_a_skipped_slice_gets(table_type, query_type, slice_files, names, skipped):
    base = next((name for name in slice_files if name.endswith(".parquet")), None)
    item = FileSlice("p=1", "g-0", base, tuple(name for name in slice_files if name != base))
    known = ViewFiles.of(FileSlices("1", "test", (item,)))
    listed = ListedNames("\n".join(names).encode(), False, len(names), 1 << 20)
    may_skip = bits(known, np.array([True]), listed, table_type, query_type)
    assert [name for name, bit in zip(names, may_skip.tolist(), strict=True) if bit] == [
        name for name in names if name in skipped
    ]
    assert not bits(known, np.array([False]), listed, table_type, query_type).any()


def test_a_list_of_many_unknown_names_skips_nothing_of_a_merge_on_read_table_and_compares_none(monkeypatch):
    known = ViewFiles.of(FileSlices("1", "test", (FileSlice("p=1", "g-0", BASE, ()),)))
    parsed, parse = [], request_matching.file_id_of
    monkeypatch.setattr(request_matching, "file_id_of", lambda name: (parsed.append(name), parse(name))[1])
    for unknown, skips in ((request_matching.MAX_UNKNOWN, True), (request_matching.MAX_UNKNOWN + 2, False)):
        names = [BASE, *(f"p=2/f{n}_0-0-0_1.parquet" for n in range(unknown))]
        parsed.clear()
        listed = ListedNames("\n".join(names).encode(), False, len(names), 1 << 20)
        assert bits(known, np.array([True]), listed, MOR, "snapshot").any() == skips
        assert len(parsed) == (unknown if skips else 0)
        assert bits(known, np.array([True]), listed, COW, "snapshot").any()


def test_a_short_list_is_matched_on_the_event_loop_only_where_that_is_quick():
    items = tuple(FileSlice("p=1", f"g{n}-0", f"p=1/g{n}-0_0-0-0_20260101000000000.parquet", ()) for n in range(6_000))
    large, small = ViewFiles.of(FileSlices("1", "test", items)), ViewFiles.of(FileSlices("1", "test", items[:100]))
    listed = ListedNames(BASE.encode(), False, 1, 1 << 20)
    assert small.matches_quickly(COW)
    assert small.matches_quickly(MOR)
    assert not large.matches_quickly(COW)
    large.match(listed, COW)
    assert large.matches_quickly(COW)
    assert not large.matches_quickly(MOR)
    large.match(listed, MOR)
    assert large.matches_quickly(MOR)


@pytest.mark.parametrize(
    ("table_type", "version", "query_type", "fresh"),
    [
        (MOR, 6, "snapshot", True),
        (MOR, 6, "as_of", True),
        (MOR, 6, "read_optimized", False),
        (MOR, 6, "incremental", False),
        (MOR, 8, "snapshot", False),
        (COW, 6, "snapshot", False),
    ],
    ids=str,
)
def test_log_files_that_may_be_appended_to_need_a_view_made_after_the_list(table_type, version, query_type, fresh):
    assert needs_fresh_view(table_type, version, query_type) is fresh
