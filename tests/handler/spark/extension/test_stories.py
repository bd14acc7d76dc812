"""What the extension does on real Spark 3.5 with real Hudi: `make test-extension`.

The stories of one release run in one session of another process (``stories``); the tests look at what came of them.
"""

from __future__ import annotations

import pytest

from tests.handler.spark.extension.aggregate_stories import ANSWERED, AS_BEFORE, BELIEVED
from tests.handler.spark.extension.aggregate_stories import FAULTS as AGGREGATE_FAULTS
from tests.handler.spark.extension.exact_conditions import CONDITIONS, NOT_SENT
from tests.handler.spark.extension.merge_stories import MERGED, MERGES
from tests.handler.spark.extension.programs import QUICK, Outcomes, told_by
from tests.handler.spark.extension.queries import QUERIES
from tests.handler.spark.extension.read_stories import BY_HUDI, OTHERS, READS
from tests.handler.spark.extension.shapes import FRAMES, STATEMENTS
from tests.handler.spark.extension.sum_stories import AFTER_A_COMMIT, SUMS
from tests.tables.releases import BY_INDEX, RELEASES, Release

pytestmark = [pytest.mark.extension, pytest.mark.timeout(1800)]

#: A run of all stories for each: a release of Hudi, and settings of the session.
TESTED: dict[str, tuple[str, dict[str, str]]] = {
    "1.2.0": ("1.2.0", {}),
    "1.1.1": ("1.1.1", {}),
    "1.0.2": ("1.0.2", {}),
    "1.0.1": ("1.0.1", {}),
    "0.15.0": ("0.15.0", {}),
    "0.15.0 by an index": ("0.15.0", BY_INDEX),
}
FAULTS = {
    "down": "sidecar down",
    "slow": "sidecar slow",
    "refusing": "refused",
    "answering for another list": "wrong answer",
    "miscounting": "wrong answer",
    "answering for fewer names": "wrong answer",
}
UNTOUCHED = (
    "an incremental query",
    "rows that are not merged",
    "columns by their ids",
    "partition columns alone",
    "no filter at all",
    "a bootstrapped table",
    "changes by a function",
    "a timeline by a function",
    "the metadata table by a function",
    "Parquet files",
    "a stream",
)
NOT_IN_0_15 = ("a timeline by a function", "the metadata table by a function")
CHANGES = [f"{change} of {table}" for table in ("w_cow", "w_mor") for change in ("UPDATE", "DELETE", "MERGE")]
UNSEEN = [
    f"{change} of {table}"
    for table in ("u_cow", "u_mor")
    for change in ("an update", "a delete", "an insert", "a compaction", "a clustering")
    if (change, table) != ("a compaction", "u_cow")
]


@pytest.fixture(scope="module", params=[*TESTED][: 1 if QUICK else None])
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The outcomes of all stories with one release of Hudi."""
    hudi, settings = TESTED[request.param]
    (RELEASES.get(hudi) or Release(hudi, 8)).fetch()
    folder = tmp_path_factory.mktemp("stories")
    given = [f"{name}={value}" for name, value in settings.items()]
    return told_by("stories", "3.5", folder, hudi, "quick" if QUICK else "all", *given, seconds=1700)


def is_left_as_it_is(outcomes: Outcomes, table: str) -> bool:
    """Whether the release reads a table by a relation of its own, without an index of files."""
    is_old = outcomes["release"]["hudi"] == "0.15.0"
    return is_old and not is_read_by_an_index_of_0_15(outcomes) and table.endswith("mor")


def is_read_by_an_index_of_0_15(outcomes: Outcomes) -> bool:
    """Whether the session says so to Hudi 0.15.0, which later releases need not be told."""
    return bool(outcomes["release"]["settings"])


def fails_in_hudi(outcomes: Outcomes, name: str) -> bool:
    """Whether Hudi itself does not answer a query: ``TIMESTAMP AS OF`` by the index of 0.15.0."""
    return name == "the past in SQL" and is_read_by_an_index_of_0_15(outcomes)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_reads_the_same_rows_from_few_files(outcomes: Outcomes, name: str) -> None:
    outcome = outcomes[name]
    if fails_in_hudi(outcomes, name):
        assert "MISSING_ATTRIBUTES" in outcome["error"], outcome  # of Hudi, without the extension, too
        return
    most, _ = QUERIES[name]
    assert outcome["equal"], outcome
    assert outcome["files"] <= most, outcome
    if outcome["files"] < outcome["files_without"]:
        assert any("Sargo: " in node for node in outcome["nodes"]), outcome


def test_queries_skip_files_that_hudi_reads(outcomes: Outcomes) -> None:
    told = [outcomes[name] for name in QUERIES if not fails_in_hudi(outcomes, name)]
    assert sum(outcome["files"] < outcome["files_without"] for outcome in told) > 1


@pytest.mark.skipif(QUICK, reason="only in the whole run")
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("name", [*STATEMENTS, *FRAMES])
def test_a_query_of_any_shape_has_the_same_rows(outcomes: Outcomes, name: str, adaptive: str) -> None:
    outcome = outcomes[f"{name} (adaptive: {adaptive})"]
    assert outcome["equal"], outcome


@pytest.mark.skipif(QUICK, reason="only in the whole run")
def test_many_shapes_read_fewer_files_than_with_hudis_own_skipping(outcomes: Outcomes) -> None:
    told = [outcomes[f"{name} (adaptive: true)"] for name in (*STATEMENTS, *FRAMES)]
    fewer = sum(outcome["files"] < outcome["files_without"] for outcome in told)
    assert fewer == 0 if is_left_as_it_is(outcomes, "mor") else fewer > 20, fewer


@pytest.mark.parametrize("table", ["cow", "mor"])
def test_a_user_sees_how_many_slices_are_left(outcomes: Outcomes, table: str) -> None:
    seen = outcomes[f"the plan of {table}"]
    if is_left_as_it_is(outcomes, table):
        assert not seen["nodes"]
        assert seen["input_files"] == 4
        assert not seen["explained"]
        return
    assert seen["explained"], seen
    assert seen["input_files"] == 1
    assert len(seen["nodes"]) == 1
    assert "Sargo: 1 of 4 file slices" in seen["nodes"][0]
    assert seen["in_batches"] == [table == "cow" or not is_read_by_an_index_of_0_15(outcomes)]


def test_the_log_says_how_a_table_that_is_left_as_it_is_can_be_narrowed(outcomes: Outcomes) -> None:
    said = [why for why in outcomes["the plan of mor"]["reasons"] if "a relation of its own" in why]
    way = "hoodie.datasource.read.use.new.parquet.file.format=true makes it read by an index of files"
    expected = [f"Hudi 0.15.0 reads it by a relation of its own; {way}"]
    assert said == (expected if is_left_as_it_is(outcomes, "mor") else [])


@pytest.mark.parametrize("what", ["a frame", "a view"])
def test_what_was_analysed_in_another_time_zone_keeps_its_hours(outcomes: Outcomes, what: str) -> None:
    assert outcomes[f"{what} of another time zone"]["equal"], outcomes[f"{what} of another time zone"]
    assert outcomes[f"{what} of another time zone"]["rows"] == 30


def test_small_integers_of_a_bulk_insert_are_read_by_rows(outcomes: Outcomes) -> None:
    if outcomes["release"]["hudi"] not in ("1.0.1", "1.0.2"):
        pytest.skip("later releases do not write them, and earlier ones do not read them without the extension either")
    assert outcomes["small integers of a bulk insert"]["rows"] == 10
    assert outcomes["small integers of a bulk insert"]["equal"], outcomes["small integers of a bulk insert"]


def test_errors_of_rows_are_seen_unless_the_user_hides_them(outcomes: Outcomes) -> None:
    outcome = outcomes["errors of rows"]
    assert outcome["rows"] == 4
    assert outcome["false"] is True, outcome  # the query fails, and its error names the text
    assert outcome["true"] == [True, 1], outcome


def test_sargo_report_knows_a_query_by_the_number_that_spark_gives_it(outcomes: Outcomes) -> None:
    report = outcomes["the report of a query"]["report"]
    assert "/cow" in report
    assert "i = 7" in report
    assert "s LIKE" in report


@pytest.mark.parametrize("name", ANSWERED)
def test_footers_answer_aggregates_of_files_whose_rows_all_count(outcomes: Outcomes, name: str) -> None:
    outcome, (table, _, files) = outcomes[f"aggregates: {name}"], ANSWERED[name]
    assert outcome["equal"], outcome
    assert outcome["same"], "the columns of the result have other types"
    if is_left_as_it_is(outcomes, table.removesuffix("_p")):
        assert outcome["files"] == outcome["files_without"]
        return
    assert outcome["files"] == files, outcome


@pytest.mark.parametrize("name", AS_BEFORE)
def test_other_aggregates_stay_as_they_are(outcomes: Outcomes, name: str) -> None:
    outcome = outcomes[f"aggregates: {name}"]
    assert outcome["equal"], outcome
    assert outcome["files"] == outcome["files_off"] == outcome["files_without"] > 0
    assert not [node for node in outcome["nodes"] if "by footers" in node]


def test_aggregates_are_of_the_time_that_a_query_is_about(outcomes: Outcomes) -> None:
    for name in ("the past", "base files alone", "kept in memory", "after a commit"):
        assert outcomes[f"aggregates: {name}"]["equal"], outcomes[f"aggregates: {name}"]
    assert outcomes["aggregates: the past"]["files"] == outcomes["aggregates: after a commit"]["files"] == 0


@pytest.mark.parametrize("arithmetic", ["", ", ANSI"])
@pytest.mark.parametrize("name", SUMS)
def test_an_own_index_answers_sums_of_files_whose_rows_all_count(
    outcomes: Outcomes, name: str, arithmetic: str
) -> None:
    outcome, files = outcomes[f"sum {name}{arithmetic}"], SUMS[name][1]
    assert outcome["equal"], outcome
    assert outcome["same"], "the result has another value or type"
    if is_left_as_it_is(outcomes, "cow"):
        files = outcome["files_without"]
    assert outcome["files"] == files, outcome


def test_sums_of_files_that_the_index_does_not_know_are_read(outcomes: Outcomes) -> None:
    outcome = outcomes[f"sum {AFTER_A_COMMIT}"]
    assert outcome["equal"], outcome
    assert outcome["files"] == [1, 0], outcome


@pytest.mark.parametrize("name", AGGREGATE_FAULTS)
def test_an_answer_that_is_not_about_the_aggregates_is_not_used(outcomes: Outcomes, name: str) -> None:
    assert outcomes[f"aggregates: {name}"]["rows"] == [1109]
    assert outcomes[f"aggregates: {name}"]["files"] == 4
    believed = outcomes[f"aggregates: {BELIEVED}"]
    assert (believed["rows"], believed["files"]) == ([7], 0)


def test_a_setting_of_aggregates_that_is_not_known_is_off_and_said(outcomes: Outcomes) -> None:
    outcome = outcomes["aggregates: another word"]
    assert outcome["equal"]
    assert outcome["files"] == 4
    assert any("neither footers nor false: yes" in why for why in outcome["reasons"])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_sidecar_leaves_the_scan_to_hudi(outcomes: Outcomes, fault: str) -> None:
    outcome = outcomes[f"a sidecar {fault}"]
    assert outcome["equal"], outcome
    assert outcome["rows"] == 1
    assert outcome["files"] == outcome["files_without"]
    assert f"Sargo: nothing skipped ({FAULTS[fault]})" in outcome["nodes"][0]


def test_the_sidecar_of_the_faults_skips_everything_when_it_is_well(outcomes: Outcomes) -> None:
    assert outcomes["a sidecar that skips everything is believed"]["equal"]
    assert outcomes["a sidecar that skips everything is believed"]["asked"] == 1


@pytest.mark.parametrize("case", UNTOUCHED)
def test_a_scan_that_is_not_asked_about(outcomes: Outcomes, case: str) -> None:
    outcome = outcomes[f"untouched: {case}"]
    if case in NOT_IN_0_15 and outcomes["release"]["hudi"] == "0.15.0":
        assert "UNRESOLVABLE_TABLE_VALUED_FUNCTION" in outcome["error"]
        return
    assert outcome["equal"], outcome
    assert outcome["rows"]
    assert outcome["asked"] == 0
    assert not [node for node in outcome.get("nodes", ()) if "Sargo" in node]


def test_without_an_address_nothing_is_touched(outcomes: Outcomes) -> None:
    outcome = outcomes["untouched: without an address"]
    assert outcome["equal"]
    assert "Sargo" not in outcome["nodes"][0]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_is_read_as_it_is(outcomes: Outcomes, condition: str) -> None:
    assert CONDITIONS[condition] in outcomes["conditions"][condition]


@pytest.mark.parametrize("condition", NOT_SENT)
def test_a_condition_that_has_no_exact_form_is_not_sent(outcomes: Outcomes, condition: str) -> None:
    assert "DATE" not in outcomes["conditions"][condition]


@pytest.mark.skipif(QUICK, reason="only in the whole run")
@pytest.mark.parametrize("change", CHANGES)
def test_a_write_changes_the_same_rows(outcomes: Outcomes, change: str) -> None:
    outcome = outcomes[change]
    assert outcome["equal"], outcome
    assert "failed" not in outcome or (change, outcomes["release"]["hudi"]) == ("MERGE of w_mor", "0.15.0"), outcome


@pytest.mark.skipif(QUICK, reason="only in the whole run")
@pytest.mark.parametrize("change", UNSEEN)
def test_what_the_sidecar_has_not_seen_loses_no_row(outcomes: Outcomes, change: str) -> None:
    outcome = outcomes[change]
    assert outcome["equal"], outcome
    assert outcome["rows"]
    if is_left_as_it_is(outcomes, change):
        assert not outcome["nodes"]
    else:
        assert "Sargo: " in outcome["nodes"][0]


@pytest.mark.skipif(QUICK, reason="only in the whole run")
@pytest.mark.parametrize("name", READS)
def test_read_gives_hudis_rows_from_the_slices_that_are_kept(outcomes: Outcomes, name: str) -> None:
    outcome = outcomes[f"read: {name}"]
    *_, merged, files = READS[name]
    if name == "the past" and is_read_by_an_index_of_0_15(outcomes):
        merged = "Sargo: 1 of 4 file slices"  # names of log files of version 6 do not tell when they were written
    assert outcome["equal"], outcome
    if is_left_as_it_is(outcomes, "mor"):
        return
    assert not outcome["workers"], outcome
    assert (outcome["merged"], outcome["files"]) == ([merged] if merged else [], files)


@pytest.mark.skipif(QUICK, reason="only in the whole run")
@pytest.mark.parametrize("name", OTHERS)
def test_read_in_another_way_gives_hudis_rows(outcomes: Outcomes, name: str) -> None:
    outcome = outcomes[f"read: {name}"]
    assert outcome["equal"], outcome
    assert outcome["rows"], outcome
    if "narrowed" in outcome:
        assert outcome["narrowed"] != is_left_as_it_is(outcomes, "mor")
    if name in BY_HUDI and not is_left_as_it_is(outcomes, "mor"):
        assert outcome["merged"] == ["Sargo: 1 of 4 file slices"], outcome
        assert outcome["files"] <= 2, outcome


@pytest.mark.parametrize("table", MERGED)
def test_tables_to_merge_have_log_files(outcomes: Outcomes, table: str) -> None:
    assert outcomes[f"merged {table}"].get("logs", 0) >= 6, outcomes[f"merged {table}"]


@pytest.mark.parametrize("name", MERGES)
def test_base_files_decoded_by_columns_are_merged_as_those_decoded_by_rows(outcomes: Outcomes, name: str) -> None:
    outcome = outcomes[name]
    if "fails_in_hudi" in outcome:
        assert outcomes["release"]["hudi"] == "0.15.0"
        assert "with later columns" in name
        return
    assert outcome["equal"], outcome
    assert outcome["rows"] > 300
    assert not outcome["reasons"], "they are decoded by rows"
