"""prune: what it answers, and that nothing that fails makes it skip a file."""

import shutil

import pytest

from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import Column, Compare, Literal, Unknown
from evaluator.language.types import INT
from handler import FileSlice, OpenTable, Plan, TableError, open_table, prune
from handler.planning.filters import default_engine, is_hive_filter
from handler.planning.prune import OnFailure, plan_expression
from handler.sql.parsing import SqlError
from index_store import StatsError
from sarg import DecodeError
from tests.handler.conftest import hive_filters

I_IS_100 = Compare("=", Column(("i",)), Literal(100, INT))
HIVE_FILTER = next(f["filter"] for f in hive_filters() if f["hive"] == "4.0.1" and f["sql"] == "i = 100")


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


def test_kept_and_skipped_are_all_slices(table):
    plan = prune(table, "i = 100", time_zone="UTC")
    assert isinstance(plan, Plan)
    assert isinstance(table, OpenTable)
    assert len(plan.kept) == 3
    assert len(plan.kept) + len(plan.skipped) == 14
    assert set(plan.kept) | set(plan.skipped) == set(plan.slices)
    assert set(plan.fully_matched) <= set(plan.kept)
    assert plan.instant == plan.slices.instant
    assert plan.reasons == ()
    assert isinstance(plan.kept[0], FileSlice)


@pytest.mark.parametrize(
    "given", ["i = 100", I_IS_100, HIVE_FILTER, HIVE_FILTER.encode()], ids=["SQL", "HudiExpression", "Base64", "bytes"]
)
def test_all_forms_of_a_filter_give_one_answer(table, given):
    expected = {item.file_id for item in prune(table, "i = 100", time_zone="UTC").kept}
    plan = prune(table, given, time_zone="UTC")
    assert {item.file_id for item in plan.kept} == expected
    assert plan.engine == ("hive" if given in (HIVE_FILTER, HIVE_FILTER.encode()) else "spark")


def test_a_path_will_do(main_cow):
    assert len(prune(main_cow, "i = 100").kept) == len(prune(str(main_cow), "i = 100").kept) == 3


def test_fully_matched_slices_need_no_filter(table):
    plan = prune(table, "i IS NOT NULL OR i IS NULL", time_zone="UTC")
    assert len(plan.kept) == 14
    plan = prune(table, "id IS NOT NULL AND id >= 'k'", time_zone="UTC")
    assert len(plan.fully_matched) == 14


def test_the_statistics_are_read_once(main_cow, monkeypatch):
    table = open_table(main_cow)
    first = prune(table, "i = 100 AND l > 5", time_zone="UTC")
    for known in table.at().cached:
        monkeypatch.setattr(known.kind, "provide", Broken(known.kind.name).provide)
    second = prune(table, "l > 5 AND i = 100", time_zone="UTC")
    assert second.kept == first.kept
    assert second.reasons == ()


class Broken:
    """An index kind that cannot be read."""

    def __init__(self, name):
        self.name = name

    def requires(self, asked):
        return asked

    def provide(self, required):
        raise StatsError("x.hfile", [column.name for column in required.columns], "torn")

    def coverage(self, columns):
        raise StatsError("x.hfile", columns[0].name, "torn")


def break_kind(table, name):
    at = table.at()
    for known in at.cached:
        if known.kind.name == name:
            known.kind = Broken(name)


def test_a_kind_that_fails_says_nothing_and_the_others_still_prune(main_cow):
    table = open_table(main_cow)
    break_kind(table, "column_stats")
    plan = prune(table, "i = 100 AND p = 'p1'", time_zone="UTC")
    assert 0 < len(plan.skipped) < 14
    assert any(r.scope == "store" and "column_stats" in r.text and "torn" in r.text for r in plan.reasons)
    with pytest.raises(StatsError):
        prune(table, "i = 100", strict=True)


def test_a_broken_metadata_table_skips_less_and_never_fails(main_cow_copy):
    for folder in (main_cow_copy / ".hoodie" / "metadata" / "column_stats",):
        for file in folder.iterdir():
            if file.is_file() and not file.name.startswith(".hoodie"):
                file.write_bytes(b"\x00garbage" * 20)
    plan = prune(main_cow_copy, "i = 100", time_zone="UTC")
    assert len(plan.kept) == 3  # by footers
    assert any(r.scope == "store" for r in plan.reasons)
    with pytest.raises((StatsError, TableError)):
        prune(main_cow_copy, "i = 100", strict=True)


def test_a_lost_metadata_table_is_replaced_by_listing_the_files(main_cow_copy, table):
    shutil.rmtree(main_cow_copy / ".hoodie" / "metadata")
    plan = prune(main_cow_copy, "i = 100", time_zone="UTC")
    assert {item.file_id for item in plan.slices} == {item.file_id for item in table.at().slices}
    assert plan.kept == prune(table, "i = 100", time_zone="UTC").kept  # by footers
    assert plan.reasons


@pytest.mark.parametrize("given", ["i = ", "SELECT 1", b"\x01garbage", "AQEA" + "A" * 60])
@pytest.mark.parametrize("strict", [False, True])
def test_a_filter_that_cannot_be_read_is_an_error(table, given, strict):
    with pytest.raises((SqlError, DecodeError)):
        prune(table, given, strict=strict)


def test_a_condition_that_a_front_end_could_not_read_skips_nothing(table):
    unread = Unknown("the filter cannot be read: torn")
    plan = plan_expression(table, unread, "hive", on_failure=OnFailure.SKIP_NOTHING)
    assert len(plan.kept) == 14
    assert plan.skipped == plan.fully_matched == ()
    assert [reason.text for reason in plan.reasons] == ["the filter cannot be read: torn"]


@pytest.mark.parametrize("strict", [False, True])
def test_an_unknown_time_zone_is_an_error(table, strict):
    with pytest.raises(UnsupportedError, match="Mars/Olympus"):
        prune(table, "i = 100", time_zone="Mars/Olympus", strict=strict)


def test_a_session_in_an_unknown_time_zone_skips_nothing(table):
    plan = plan_expression(table, I_IS_100, "spark", None, "Mars/Olympus", on_failure=OnFailure.SKIP_NOTHING)
    assert len(plan.kept) == 14
    assert "Mars/Olympus" in plan.reasons[0].text
    with pytest.raises(UnsupportedError):
        plan_expression(table, I_IS_100, "spark", None, "Mars/Olympus", on_failure=OnFailure.RAISE)


def test_an_unknown_column_is_unknown_and_its_siblings_prune(table):
    plan = prune(table, "nope = 5 AND i = 100", time_zone="UTC")
    assert len(plan.kept) == 3
    assert any(r.scope == "leaf" and "nope" in r.text for r in plan.reasons)
    assert len(prune(table, "nope = 5 OR i = 100", time_zone="UTC").kept) == 14
    assert len(prune(table, "NOT (nope = 5)", time_zone="UTC").kept) == 14


def test_something_unexpected_in_the_store_skips_nothing(main_cow, monkeypatch):
    table = open_table(main_cow)

    def explode(columns):
        raise ZeroDivisionError("surprise")

    for known in table.at().cached:
        broken = Broken(known.kind.name)
        broken.provide = explode
        known.kind = broken
    plan = prune(table, "i = 100", time_zone="UTC")
    assert len(plan.kept) == 14
    assert "ZeroDivisionError surprise" in plan.reasons[0].text


def test_no_table_is_an_error(tmp_path):
    with pytest.raises(TableError):
        prune(tmp_path, "i = 100")
    with pytest.raises(TableError):
        open_table(tmp_path / "nothing")


def test_an_earlier_instant_has_its_own_slices(main_cow):
    table = open_table(main_cow)
    latest = prune(table, "i = 100", time_zone="UTC")
    again = prune(table, "i = 100", as_of=latest.instant, time_zone="UTC")
    assert again.kept == latest.kept
    with pytest.raises(TableError):
        prune(table, "i = 100", as_of="20000101000000000")


def test_leaf_reports_say_how_much_and_why_not_more(table, no_footers):
    plan = prune(table, "i = 100 AND NOT (p = 'p1') AND u > 5 AND s RLIKE 'x'", time_zone="UTC")
    by_text = {leaf.text: leaf for leaf in plan.leaves}
    assert by_text["i = 100"].skipped == 11
    assert by_text["p = 'p1'"].negated
    assert by_text["p = 'p1'"].skipped == 4
    assert by_text["u > 5"].skipped == 0
    assert sum(shortfall.slices for shortfall in by_text["u > 5"].shortfalls) == 14
    assert "no statistics" in by_text["u > 5"].shortfalls[0].text
    unknown = [leaf for leaf in plan.leaves if leaf.skipped == 0 and "regular" in leaf.text]
    assert unknown
    assert unknown[0].shortfalls[0].slices == 14


def test_text_is_told_from_base64():
    assert is_hive_filter(HIVE_FILTER)
    assert is_hive_filter(HIVE_FILTER[:76] + "\n" + HIVE_FILTER[76:])
    for text in ("i = 100", "is_active", "a_very_long_boolean_column_name_that_is_one_bare_word", "AQ", ""):
        assert not is_hive_filter(text)
    assert default_engine(HIVE_FILTER) == default_engine(b"x") == "hive"
    assert default_engine("i = 100") == default_engine(I_IS_100) == "spark"
