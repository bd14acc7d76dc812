"""Footers that were read for one question are not read for the next one, and answer it alike."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handler.aggregates.aggregate import Aggregate
from handler.aggregates.answers import answer_slices
from handler.aggregates.footer_facts import ColumnFacts, FooterFacts, KeptFacts, facts_of
from index_store.formats.parquet_footers import Footers
from index_store.table.file_types import FileType
from index_store.table.footer_values import FooterValues
from tests.handler.aggregates.counted_footers import counted
from tests.handler.aggregates.test_random_files import AGGREGATES, columns_of_a_file, written
from tests.sampling import examples

COUNT, MIN_I, MAX_I, MAX_DT = (Aggregate.parse(text) for text in ("count(*)", "min(i)", "max(i)", "max(dt)"))
ROWS = pa.table({"id": ["a", "b"], "i": pa.array([3, 5], pa.int64()), "dt": pa.array([1, 2], pa.date32())})


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return iter(lambda: tmp_path_factory.mktemp("files"), None)


@pytest.fixture
def footers_read(monkeypatch):
    return counted(monkeypatch)


def answers(opened, asked, kept=None):
    items = list(opened.at().slices)
    return answer_slices(opened.table, opened.at().slices, items, frozenset(items), asked, kept=kept)


@settings(
    max_examples=examples(15, at_night=1000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    files=st.lists(columns_of_a_file(), min_size=1, max_size=3),
    questions=st.lists(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=3), min_size=2, max_size=5),
    limit=st.sampled_from([0, 1500, 4000, 1 << 20]),
)
def test_a_question_is_answered_as_without_the_ones_before(folders, files, questions, limit):
    opened, kept = written(next(folders), files), KeptFacts(limit)
    for asked in questions:
        assert answers(opened, asked, kept) == answers(opened, asked)
        assert kept.bytes <= limit


def test_a_footer_is_read_once_for_its_columns(folders, footers_read):
    opened, kept = written(next(folders), [(ROWS, {})] * 3), KeptFacts()
    assert answers(opened, [COUNT, MIN_I], kept).totals == (6, 3)
    assert len(footers_read) == 3
    assert answers(opened, [MAX_I], kept).totals == (5,)
    assert len(footers_read) == 3
    assert answers(opened, [MAX_DT], kept).totals == (2,)
    assert len(footers_read) == 6
    assert answers(opened, [COUNT, MAX_I, MAX_DT], kept).totals == (6, 5, 2)
    assert len(footers_read) == 6
    assert len(kept) == 3


def test_a_question_goes_on_where_the_time_of_the_one_before_was_over(folders, footers_read):
    opened, kept = written(next(folders), [(ROWS, {})] * 3), KeptFacts()
    items = list(opened.at().slices)
    assert answers(opened, [COUNT], kept).totals == (6,)
    found = answer_slices(opened.table, opened.at().slices, items, frozenset(items), [COUNT], seconds=0, kept=kept)
    assert (found.totals, found.scanned) == ((6,), ())
    found = answer_slices(opened.table, opened.at().slices, items, frozenset(items), [MIN_I], seconds=0, kept=kept)
    assert {one.reason for one in found.scanned} == {"the limit of 4096 footers, 0 seconds, 32 MiB is reached"}
    assert len(footers_read) == 3


def test_a_footer_that_cannot_be_read_is_read_again(folders, footers_read):
    folder = next(folders)
    opened, kept = written(folder, [(ROWS, {})] * 2), KeptFacts()
    damaged = next(folder.glob("f00001_*.parquet"))
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-4] + b"PAR?")
    found = answers(opened, [COUNT], kept)
    assert (found.totals, [one.reason for one in found.scanned]) == (
        (2,),
        ["the footer of the base file cannot be read"],
    )
    damaged.write_bytes(whole)
    assert answers(opened, [COUNT], kept).totals == (4,)
    assert footers_read.count(damaged.name) == 2


def test_a_column_that_the_file_lacks_is_a_fact_too(folders):
    opened = written(next(folders), [(ROWS, {})])
    facts = facts_of(Footers(opened.table.storage).read(opened.at().slices[0].base_file), ["i", "b"])
    assert (facts.rows, facts.why) == (2, "")
    assert {name: one.in_file for name, one in facts.columns.items()} == {"i": True, "b": False}


def test_those_that_were_used_last_are_kept():
    def facts(*names):
        return FooterFacts(1, {name: ColumnFacts(True, None) for name in names})

    kept = KeptFacts(2500)
    kept.keep({"a": facts("i"), "b": facts("i")})
    assert kept.of(["a", "b", "c"], ["i"]).keys() == {"a", "b"}
    assert kept.of(["a"], ["i", "s"]) == {}
    assert kept.of(["a"], []).keys() == {"a"}
    kept.keep({"c": facts("i", "s")})
    assert kept.bytes == 401 * 3 + 300 * 4
    kept.keep({"a": facts("s")})  # "b" was not used since
    assert kept.of("bca", ["i"]).keys() == {"a", "c"}
    assert kept.of("bca", ["i", "s"]).keys() == {"a", "c"}
    assert kept.bytes == 401 * 2 + 300 * 4
    kept.keep({"d": FooterFacts(0, {}, "of another writer")})
    assert kept.of("bcad", ["i"]).keys() == {"a", "c", "d"}


def test_long_texts_count_by_their_bytes():
    def facts(text):
        return FooterFacts(1, {"s": ColumnFacts(True, FooterValues(FileType("string"), 1, 0, text, text))})

    kept = KeptFacts(10_000)
    kept.keep({str(number): facts(b"x" * 2000) for number in range(10)})
    assert len(kept) == 2
    kept.keep({"long": facts(b"x" * 8000)})
    assert (len(kept), kept.bytes) == (0, 0)
