"""``what_helps``: what is proposed makes the filter keep fewer slices when it is really built, and nothing else is."""

from __future__ import annotations

import datetime
import itertools
import shlex
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner

from handler import open_table, prune, what_helps
from handler.advise import remedy_search
from handler.advise.advisor import SKETCHES
from handler.cli.main import main
from index_store.own.sketches import parse_sketch
from tests.handler.plain_table import cut, plain_table
from tests.sampling import share

DAY = datetime.date(1994, 1, 1)
WORDS = ("ECONOMY", "PROMO", "STANDARD")
METALS = ("BRASS", "COPPER", "STEEL", "TIN")


def rows(n=2_000, seed=3):
    """``id`` and ``dt`` in order; few values of ``kind`` in each file; ``near`` spread little; the others anywhere."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": np.arange(n),
            "dt": pa.array([DAY + datetime.timedelta(days=int(one) * 700 // n) for one in range(n)]),
            "x": rng.integers(0, 400, n),
            "far": rng.integers(0, 1 << 40, n),
            "flag": rng.integers(0, 2, n),
            "kind": [f"k{one * 20 // n + drawn:02d}" for one, drawn in enumerate(rng.integers(0, 3, n).tolist())],
            "part": [f"{WORDS[one % 3]} {one // 12:02d} {METALS[one % 4]}" for one in rng.integers(0, 120, n).tolist()],
            "note": [None if one == 0 else f"N{one:04d}" for one in rng.integers(0, 3_000, n)],
        }
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table with bounds of some columns, and none of ``far``, ``kind`` and ``note``."""
    folder = plain_table(tmp_path_factory.mktemp("remedies") / "t", [("", one) for one in cut(rows(), 16)])
    run("index", "create", str(folder), *(f"--on={one}" for one in ("dt", "x", "flag", "part")), "--name", "base")
    return folder


def run(*arguments):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == 0, result.output + result.stderr
    return result.stdout


CONDITIONS = [
    "part LIKE '%BRASS'",
    "part NOT LIKE '%BRASS%'",
    "part <> 'PROMO 03 TIN'",
    "NOT (part = 'PROMO 03 TIN')",
    "NOT (x IN (3, 4))",
    "part LIKE 'PROMO%'",
    "part = 'PROMO 03 TIN'",
    "x = 33",
    "x IN (3, 200)",
    "x BETWEEN 30 AND 40",
    "x % 7 = 3",
    "x > 390",
    "flag = 1",
    "flag <> 1",
    "far = 77",
    "far > 1000",
    "far < 30000000000",
    "kind = 'k03'",
    "kind <> 'k03'",
    "kind LIKE '%3'",
    "note = 'N0077'",
    "note LIKE 'N00%'",
    "note IS NULL",
    "note IS NOT NULL",
    "upper(note) = 'N0077'",
    "id = 700",
    "id % 100 = 3",
    "dt < DATE '1994-03-01'",
    "dt >= DATE '1994-03-01' - INTERVAL '30' DAY",
    "year(dt) = 1995",
    "my_udf(x) = 3",
]
PAIRS = [
    f"{first} {joiner} {second}" for first, second in itertools.combinations(CONDITIONS, 2) for joiner in ("AND", "OR")
]


def kept(folder, condition):
    return len(prune(open_table(folder), condition, time_zone="UTC").kept)


def check(folder, scratch, condition):
    """Build each thing that is proposed, and count; of what is not proposed nothing is known to help."""
    plan = prune(open_table(folder), condition, time_zone="UTC")
    found = what_helps(plan, seconds=60)
    assert not found.not_asked
    assert bool(found.remedies) != bool(found.nothing)
    for command in found.commands:
        shutil.copytree(folder, scratch)
        program, *arguments = shlex.split(command.replace(str(folder), str(scratch)))
        assert program == "sargo"
        run(*arguments)
        now = kept(scratch, condition)
        alone = [one for one in found.remedies if one.command == command]
        assert now < len(plan.kept), command
        assert len(alone) > 1 or now == alone[0].kept, command
        shutil.rmtree(scratch)
    for one in found.remedies:
        assert one.exact
        if one.kind == "clustering":
            clustered(scratch, one.columns[0])
            now = kept(scratch, condition)
            assert (now, now < len(plan.kept)) == (one.kept, True), one.text
            shutil.rmtree(scratch)
    return found


def clustered(folder, column):
    """The table of ``rows`` sorted by a column, NULL first, with the same index."""
    table = rows()
    keys = table.append_column("valid", pc.is_valid(table[column]).cast(pa.int8()))
    order = pc.sort_indices(keys, [("valid", "ascending"), (column, "ascending")])
    plain_table(folder, [("", one) for one in cut(table.take(order), 16)])
    run("index", "create", str(folder), *(f"--on={one}" for one in ("dt", "x", "flag", "part")), "--name", "base")


@pytest.mark.parametrize("condition", share(CONDITIONS, 48, seed=5))
def test_what_is_proposed_really_skips_more(table, tmp_path, condition):
    check(table, tmp_path / "t", condition)


@pytest.mark.parametrize("condition", share(PAIRS, 2880, seed=18))
def test_what_is_proposed_for_two_conditions_really_skips_more(table, tmp_path, condition):
    check(table, tmp_path / "t", condition)


@pytest.mark.parametrize(
    "condition",
    share(
        [
            "part LIKE '%BRASS'",
            "part NOT LIKE '%BRASS%'",
            "part <> 'PROMO 03 TIN'",
            "NOT (part = 'PROMO 03 TIN')",
            "flag <> 1 OR x <> 3",
            "part LIKE '%BRASS' AND flag >= 0",
            "x % 7 = 3",
        ],
        3,
    ),
)
def test_nothing_is_proposed_where_nothing_helps(table, tmp_path, condition):
    plan = prune(open_table(table), condition, time_zone="UTC")
    found = what_helps(plan, seconds=60)
    assert (found.remedies, found.commands) == ((), ())
    assert not any(one.remedy for one in (*plan.why_not_more, *found.why_not_more))
    assert "clustering by" in found.nothing
    folder = shutil.copytree(table, tmp_path / "all")
    columns = plan.explanation.bound.columns
    for sketch in SKETCHES:
        name = sketch.partition("(")[0]
        of = [column for column in columns if not parse_sketch(sketch).why_not(column.type)]
        if of:
            run("index", "create", str(folder), *(f"--on={one.name}" for one in of), "--using", sketch, "--name", name)
    assert kept(folder, condition) == len(plan.kept)


def test_files_are_asked_about_a_date_that_an_interval_moves(table):
    found = what_helps(prune(open_table(table), "dt + INTERVAL '30' DAY > DATE '1995-06-01' AND x = 33"))
    assert not found.not_asked
    assert found.remedies


def test_a_layout_that_helps_a_pattern_is_named_for_it(tmp_path):
    """Where a file would hold a single value, sorting does help ``LIKE '%x'``: the data decides, not the condition."""
    words = pa.table({"id": range(400), "w": [("oak", "elm", "ash", "fir")[one % 4] for one in range(400)]})
    folder = plain_table(tmp_path / "t", [("", one) for one in cut(words, 8)])
    run("index", "create", str(folder), "--on", "w")
    found = what_helps(prune(open_table(folder), "w LIKE '%k'", time_zone="UTC"), seconds=60)
    assert [(one.text, one.kept) for one in found.remedies] == [("clustering by w", 2.0)]
    [blocker] = found.why_not_more
    assert blocker.remedy == "clustering by w"
    assert "with clustering by w" in blocker.sentence


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("1.1.1_main_cow", "u = 7"),
        ("1.1.1_main_cow", "s = 'c1' AND i > 100"),
        ("1.1.1_main_mor", "i = 100 OR u = 7"),
        ("1.1.1_main_mor", "s LIKE '%1'"),
        ("1.1.1_main_mor", "abs(i) = 100"),
    ],
)
def test_an_index_that_is_proposed_for_a_table_of_hudi_skips_more(unpack_copy, name, condition):
    folder = unpack_copy(name)
    plan = prune(open_table(folder), condition, time_zone="UTC")
    found = what_helps(plan, seconds=60)
    assert bool(found.remedies) != bool(found.nothing)
    for command in found.commands:
        run(*shlex.split(command)[1:])
    if found.commands:
        assert kept(folder, condition) < len(plan.kept)


def test_of_a_part_of_the_files_what_is_proposed_holds_too(table, tmp_path, monkeypatch, no_footers):
    monkeypatch.setattr(remedy_search, "_FEW_FILES", 0)
    monkeypatch.setattr(remedy_search, "DEFAULT_FILES", 6)
    for condition in ("far = 77", "x = 33", "note = 'N0077'"):
        plan = prune(open_table(table), condition, time_zone="UTC")
        found = what_helps(plan, seconds=60)
        assert found.looked_at == 6
        assert found.remedies
        assert not any(one.exact for one in found.remedies)
        for one in found.remedies:
            if one.command:
                scratch = tmp_path / str(one.text)
                shutil.copytree(table, scratch)
                run(*shlex.split(one.command.replace(str(table), shlex.quote(str(scratch))))[1:])
            else:
                scratch = tmp_path / one.text
                clustered(scratch, one.columns[0])
            assert kept(scratch, condition) < len(plan.kept), one.text
            assert kept(scratch, condition) <= one.kept + 3  # few rows make few simulated files, which are coarse


def test_a_secondary_index_is_named_where_it_skips_more_than_any_sketch(tmp_path, no_footers):
    """A Bloom filter that says yes to one of two hundred absent keys keeps a slice: only the rows tell more."""
    even = rows().set_column(3, "far", pa.array(np.random.default_rng(1).integers(0, 1 << 20, 2_000) * 2))
    keyed = even.append_column("_hoodie_record_key", pa.array([str(one) for one in range(2_000)]))
    folder = plain_table(tmp_path / "t", [("", one) for one in cut(keyed, 16)])
    condition = f"far IN ({', '.join(str(2 * one + 100_001) for one in range(200))})"
    found = check(folder, tmp_path / "copy", condition)
    assert [(one.text, one.kept) for one in found.remedies] == [("secondary_index of far", 0.0)]
    assert found.commands[0].startswith("sargo index create")
    assert "--on far --using secondary_index" in found.commands[0]


def test_a_secondary_index_of_slices_that_it_would_not_know_is_not_named(tmp_path, no_footers):
    """Rows without a record key have no entries: such an index answers nothing, so it is not proposed."""
    even = rows().set_column(3, "far", pa.array(np.random.default_rng(1).integers(0, 1 << 20, 2_000) * 2))
    folder = plain_table(tmp_path / "t", [("", one) for one in cut(even, 16)])
    condition = f"far IN ({', '.join(str(2 * one + 100_001) for one in range(200))})"
    found = check(folder, tmp_path / "copy", condition)
    assert not any("secondary" in one.text for one in found.remedies)


def test_a_filter_on_the_moment_is_asked_at_the_plans_clock(table):
    plan = prune(open_table(table), "dt >= current_date() AND x = 33", as_of_clock="1994-06-01", time_zone="UTC")
    assert 0 < len(plan.kept) < len(plan.slices)
    found, written = what_helps(plan, seconds=60), of(table, "dt >= DATE '1994-06-01' AND x = 33", 60)
    assert found.remedies
    assert found.remedies == written.remedies


# -- what is not asked


def of(table, condition, seconds):
    return what_helps(prune(open_table(table), condition, time_zone="UTC"), seconds)


def test_without_time_nothing_is_proposed_and_it_is_said(table, monkeypatch):
    assert of(table, "x = 33", 0).not_asked == "no time was given to read files"
    assert "too much to read" in of(table, "x = 33", 1e-9).not_asked
    monkeypatch.setattr(remedy_search, "_FEW_FILES", 0)
    monkeypatch.setattr(remedy_search, "_MAX_BYTES_PER_SECOND", 1 << 60)
    found = of(table, "x = 33", 1e-6)
    assert "reading one file takes" in found.not_asked
    assert (found.remedies, found.nothing) == ((), "")
    monkeypatch.setattr(remedy_search, "MAX_SLICES", 3)
    assert "sargo advise" in of(table, "x = 33", 5).not_asked


@pytest.mark.parametrize(
    ("condition", "nothing"),
    [
        ("x < -5", "no file slice is kept"),
        ("x >= 0", "every row of the kept file slices matches"),
        ("my_udf(x) = 3", "no statistics decide it"),
        ("dt < my_udf(3)", "no statistics decide it"),
    ],
)
def test_what_no_statistics_can_change_is_not_asked_of_files(table, condition, nothing):
    found = of(table, condition, 60)
    assert nothing in found.nothing
    assert (found.remedies, found.looked_at) == ((), 0)


def test_files_that_cannot_be_read_are_a_reason(table, tmp_path):
    shutil.copytree(table, tmp_path / "t")
    plan = prune(open_table(tmp_path / "t"), "far = 77", time_zone="UTC")
    for file in (tmp_path / "t").glob("*.parquet"):
        file.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    found = what_helps(plan)
    assert found.remedies == ()
    assert found.not_asked or found.nothing


def test_a_plan_of_an_earlier_instant_is_not_asked(unpack):
    opened = open_table(unpack("1.1.1_main_cow"))
    first, *_, last = opened.table.timeline.writes
    assert first != last
    plan = prune(opened, "i = 100", as_of=opened.table.timeline.writes[-2].requested, time_zone="UTC")
    assert len(plan.kept)
    assert "earlier instant" in what_helps(plan).not_asked


@pytest.mark.parametrize(
    ("plan", "seconds", "error"),
    [("a plan", 5, TypeError), (None, "5", TypeError), (None, -1, ValueError), (None, float("nan"), ValueError)],
)
def test_mistakes_raise(table, plan, seconds, error):
    with pytest.raises(error):
        what_helps(plan or prune(open_table(table), "x = 33"), seconds)
