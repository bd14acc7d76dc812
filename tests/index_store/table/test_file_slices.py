"""Which files make a slice, by version, as tables of names."""

from __future__ import annotations

import json
from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from index_store import TableError
from index_store.storage.storage import Storage
from index_store.table.file_slices import FileSlice, build_slices, parse_base_name, parse_log_name
from index_store.table.history import History
from index_store.table.timeline import Instant, Timeline

END = "9" * 20


def timeline(done, pending=None):
    """Instants as "1-4 deltacommit": requested, completed, action."""
    instants = []
    for text in done:
        times, action = text.split()
        requested, _, completed = times.partition("-")
        instants.append(Instant(requested, completed or requested, action))
    return Timeline(tuple(instants), pending or {})


def slices_of(files, *given, **more):
    """Of pairs of a partition and a name."""
    names = defaultdict(list)
    for partition, name in files:
        names[partition].append(name)
    return build_slices(names, *given, **more)


def base(instant, group="g"):
    return f"{group}_0-1-2_{instant}.parquet"


def log(instant, version=1, group="g"):
    return f".{group}_{instant}.log.{version}_0-1-2"


CASES = [
    pytest.param(6, ["1 commit", "3 commit"], {}, [base(1), base(3)], (base(3), ()), id="the latest base file"),
    pytest.param(6, ["1 commit"], {"3": "commit"}, [base(1), base(3)], (base(1), ()), id="a pending base file"),
    pytest.param(6, ["2 commit", "5 commit"], {}, [base(2), base(3)], (base(2), ()), id="a rolled back base file"),
    pytest.param(6, ["2 commit"], {}, [base(1)], (base(1), ()), id="an archived instant"),
    pytest.param(
        6,
        ["1 deltacommit", "2 deltacommit"],
        {},
        [base(1), log(1, 2), log(1, 1)],
        (base(1), (log(1, 1), log(1, 2))),
        id="v6 log files carry the base's instant",
    ),
    pytest.param(
        6,
        ["1 deltacommit", "3 commit"],
        {},
        [base(1), log(1), base(3), log(3)],
        (base(3), (log(3),)),
        id="v6 after a compaction",
    ),
    pytest.param(
        6,
        ["1 deltacommit", "4 deltacommit"],
        {"3": "compaction"},
        [base(1), log(1), log(3)],
        (base(1), (log(1), log(3))),
        id="v6 a pending compaction's log files are merged in",
    ),
    pytest.param(6, ["1 deltacommit"], {}, [log(1)], (None, (log(1),)), id="v6 log files only"),
    pytest.param(6, ["1 deltacommit"], {"2": "deltacommit"}, [log(2)], None, id="v6 a file group not yet committed"),
    pytest.param(
        6,
        ["1 deltacommit"],
        {"3": "compaction"},
        [log(1), log(3)],
        (None, (log(1), log(3))),
        id="v6 log files only, and a pending compaction",
    ),
    pytest.param(
        9,
        ["1-2 deltacommit", "3-4 deltacommit"],
        {},
        [base(1), log(3)],
        (base(1), (log(3),)),
        id="v9 a log file on top",
    ),
    pytest.param(
        9,
        ["1-2 deltacommit", "3-6 deltacommit", "4-5 commit"],
        {},
        [base(1), log(3), base(4)],
        (base(4), (log(3),)),
        id="v9 a log file that completed after the compaction was requested",
    ),
    pytest.param(
        9,
        ["1-2 deltacommit", "3-4 deltacommit", "5-6 commit"],
        {},
        [base(1), log(3), base(5)],
        (base(5), ()),
        id="v9 a log file that is compacted",
    ),
    pytest.param(
        9, ["1-2 deltacommit"], {"3": "deltacommit"}, [base(1), log(3)], (base(1), ()), id="v9 a pending log file"
    ),
    pytest.param(
        9,
        ["1-2 deltacommit", "5-6 deltacommit"],
        {"4": "compaction"},
        [base(1), log(5)],
        (base(1), (log(5),)),
        id="v9 a pending compaction",
    ),
    pytest.param(
        9,
        ["1-2 deltacommit", "3-8 deltacommit", "4-5 deltacommit"],
        {},
        [base(1), log(3), log(4)],
        (base(1), (log(4), log(3))),
        id="v9 log files apply in the order of completion",
    ),
    pytest.param(9, ["2-3 deltacommit"], {}, [log(1)], (None, (log(1),)), id="v9 an archived log file"),
    pytest.param(
        9,
        ["1-2 commit"],
        {},
        [base(1), log(1) + ".cdc", "a_1.txt", "_SUCCESS", ".hoodie_x"],
        (base(1), ()),
        id="other files",
    ),
]


@pytest.mark.parametrize(("version", "done", "pending", "names", "expected"), CASES)
def test_the_files_of_a_slice(version, done, pending, names, expected):
    found = slices_of([("", name) for name in names], timeline(done, pending), version, END)
    assert [(one.base_file, one.log_files) for one in found] == ([] if expected is None else [expected])


def archived(folder, **times):
    """A history in which instants completed: ``archived(folder, i3="6")``."""
    rows = {name[1:]: completed for name, completed in times.items()}
    first, last = min(rows), max(rows)
    columns = {"instantTime": list(rows), "completionTime": list(rows.values())}
    parquet.write_table(pa.table(columns), folder / f"{first}_{last}_0.parquet")
    (folder / "manifest_1").write_text(json.dumps({"files": [{"fileName": f"{first}_{last}_0.parquet", "fileLen": 1}]}))
    (folder / "_version_").write_text("1")
    return History(Storage.at(folder))


@pytest.mark.parametrize(
    ("times", "expected", "unsure"),
    [
        pytest.param({"i3": "6"}, (log(3),), [], id="completed after the compaction was requested"),
        pytest.param({"i3": "4"}, (), [], id="compacted"),
        pytest.param({"i2": "4"}, (log(3),), [log(3)], id="not known to the history: counted in"),
        pytest.param(None, (log(3),), [log(3)], id="no history: counted in"),
    ],
)
def test_an_archived_log_file_is_on_top_unless_the_history_proves_that_it_is_compacted(
    tmp_path, times, expected, unsure
):
    later = timeline(["7-8 deltacommit"])
    whole = Timeline(later.instants, history=archived(tmp_path, **times) if times else None)
    doubts = []
    found = slices_of(
        [("p", base(1)), ("p", log(3)), ("p", base(5))],
        whole,
        9,
        END,
        doubtful=lambda partition, name: doubts.append((partition, name)),
    )
    assert [(one.base_file, one.log_files) for one in found] == [
        (f"p/{base(5)}", tuple(f"p/{name}" for name in expected))
    ]
    assert doubts == [("p", name) for name in unsure]


@st.composite
def file_groups(draw):
    """A group's life: writers and compactions, requested in the order of their names, completed in any order after."""
    names = [f"{number:02d}" for number in range(1, draw(st.integers(2, 9)))]
    instants, files = [], []
    for name in names:
        done = f"{int(name) + draw(st.integers(0, 4)):02d}"
        if not instants or draw(st.integers(0, 3)) == 0:
            instants.append(Instant(name, done, "commit"))
            files.append(("", base(name)))
        else:
            instants.append(Instant(name, done, "deltacommit"))
            files.append(("", log(name)))
    return instants, files


@settings(max_examples=60)
@given(life=file_groups(), data=st.data())
def test_archiving_changes_no_slice_and_a_lost_history_takes_no_log_file_away(tmp_path, life, data):
    instants, files = life
    whole = slices_of(files, Timeline(tuple(instants)), 9, END)
    kept = data.draw(st.integers(0, len(instants) - 1))
    active = tuple(instants[kept:])
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    folder.mkdir()
    gone = {f"i{one.requested}": one.completed for one in instants[:kept]}
    history = archived(folder, **gone) if gone else None
    assert slices_of(files, Timeline(active, history=history), 9, END) == whole
    doubts = []
    without = slices_of(files, Timeline(active), 9, END, doubtful=lambda *file: doubts.append(file[1]))
    assert [one.base_file for one in without] == [one.base_file for one in whole]
    for now, then in zip(without, whole, strict=True):
        assert set(then.log_files) <= set(now.log_files)
        assert set(now.log_files) - set(then.log_files) <= set(doubts)


@st.composite
def listings(draw):
    """Files of some groups in two partitions, in any order, of instants of which some are not committed."""
    instants = st.sampled_from("123456")
    files = st.tuples(
        st.sampled_from(("", "p=1", "p=1/q")), st.sampled_from(("a", "b", "c-0")), instants, st.booleans()
    )
    return [
        (partition, log(instant, 1, group) if is_log else base(instant, group))
        for partition, group, instant, is_log in draw(st.lists(files, max_size=25, unique=True))
    ]


@given(files=listings(), as_of=st.sampled_from("246"), version=st.sampled_from((6, 8, 9)), data=st.data())
def test_the_slices_of_a_table_are_those_of_its_file_groups_in_order(files, as_of, version, data):
    done = timeline(["2-3 deltacommit", "4-6 commit", "6-7 deltacommit"], {"5": "compaction"})
    groups = sorted({(partition, name.lstrip(".").partition("_")[0]) for partition, name in files})
    replaced = {group: data.draw(st.sampled_from("35")) for group in groups if data.draw(st.integers(0, 3)) == 0}

    def of(some):
        doubts = []
        found = slices_of(some, done, version, as_of, replaced, lambda *file: doubts.append(file))
        return [*found], doubts

    slices, doubts = of(files)
    alone = [of([one for one in files if one[0] == p and one[1].lstrip(".").startswith(f"{g}_")]) for p, g in groups]
    assert slices == [one for found, _ in alone for one in found]
    assert doubts == [one for _, unsure in alone for one in unsure]


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        ("1", (base(1), ())),
        ("2", (base(1), ())),
        ("3", (base(1), (log(3),))),
        ("5", (base(5), ())),
        ("7", (base(5), (log(7),))),
        ("0", None),
    ],
)
def test_as_of_an_older_instant(as_of, expected):
    done = ["1-2 deltacommit", "3-4 deltacommit", "5-6 commit", "7-8 deltacommit"]
    names = [base(1), log(3), base(5), log(7)]
    found = slices_of([("", name) for name in names], timeline(done), 9, as_of)
    assert [(one.base_file, one.log_files) for one in found] == ([] if expected is None else [expected])


def test_replaced_groups_are_gone_from_the_instant_that_replaced_them():
    files = [("p", base(1, "a")), ("p", base(1, "b")), ("p", base(3, "c")), ("q", base(1, "a"))]
    done = timeline(["1 commit", "3 replacecommit"])
    replaced = {("p", "a"): "3", ("p", "b"): "3"}
    after = slices_of(files, done, 9, "3", replaced)
    assert [(one.partition, one.file_id) for one in after] == [("p", "c"), ("q", "a")]
    before = slices_of(files, done, 9, "2", replaced)
    assert [(one.partition, one.file_id) for one in before] == [("p", "a"), ("p", "b"), ("q", "a")]


def test_paths_are_relative_to_the_table():
    found = slices_of([("p=1/q=2", base(1)), ("p=1/q=2", log(2))], timeline(["1 commit", "2 deltacommit"]), 9, END)
    assert found == (FileSlice("p=1/q=2", "g", f"p=1/q=2/{base(1)}", (f"p=1/q=2/{log(2)}",)),)
    assert found[0].files == (f"p=1/q=2/{base(1)}", f"p=1/q=2/{log(2)}")


@pytest.mark.parametrize(
    "name", ["a_0-1-2_3.parquet.crc", "a_b_c.parquet", ".a_0-1-2_3.parquet", "_SUCCESS", "a.parquet"]
)
def test_other_names_are_no_base_files(name):
    assert parse_base_name(name) is None


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("g_0-1-2_1.newformat", "of format newformat"),
        ("g_0-1-2_1.avro", "of format avro"),
        ("part-00000.parquet_20260101000000001_hudiext", "registered from outside of Hudi"),
    ],
)
def test_data_files_of_another_form_are_refused_and_not_passed_over(name, form):
    with pytest.raises(TableError, match=f"p/{name}: data files {form} are not supported"):
        slices_of([("p", base(1)), ("p", name)], timeline(["1 commit"]), 9, END)


def test_names_of_old_and_new_releases():
    found = parse_base_name("col-stats-0416_332-9-1062_20220905152941096001.hfile")
    assert (found.file_id, found.instant, found.format) == ("col-stats-0416", "20220905152941096001", "hfile")
    found = parse_log_name(".8aa68f7e-afd6-4c94-b86c-8a886552e08d-0_20251220210129235.log.12_1-1133-3290")
    assert (found.file_id, found.version, found.token) == ("8aa68f7e-afd6-4c94-b86c-8a886552e08d-0", 12, "1-1133-3290")
    assert parse_log_name(".a_1.log.2").token == ""
