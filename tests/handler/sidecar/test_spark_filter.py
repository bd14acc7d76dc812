"""Filters of Spark over a real connection: the bits are those of a plan by Spark's rules, and doubts skip nothing."""

import json
from datetime import datetime, timezone

import pytest
from click.testing import CliRunner

from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import STRING
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from handler.advise.workload import read_workload
from handler.catalyst.document import read_document
from handler.cli.main import main
from handler.planning.hive_filter import ZONELESS
from handler.planning.prune import OnFailure, plan_expression
from handler.sidecar.decisions.planning import SMALL, FilterQuery, PlanningLimits, TooExpensive, plan_filter
from handler.sidecar.idl import PlanRequest, RefusedMessage
from handler.sidecar.recording.audit import SkippedFile, audit_file
from handler.spark.pruning.read_optimized import plan_of_base_files
from tests.handler.catalyst.documents import attribute, document, literal, node
from tests.handler.key_generator_tables import READ, folder_of_release, rows_read
from tests.handler.planning.test_key_generators import slice_of_rows, spark_type, value
from tests.handler.sidecar.conftest import request, skipped_names
from tests.sampling import share

ENGINES = ("spark-ansi", "spark-legacy")


def compared(operator, column, value, data_type="integer"):
    return node(operator, attribute(column, data_type), literal(value, data_type)), {}


I_IS_100 = document(compared("EqualTo", "i", 100))
#: SQL text and the condition as Catalyst has it.
CONDITIONS = {
    "i = 100": compared("EqualTo", "i", 100),
    "i > 100": compared("GreaterThan", "i", 100),
    "l <= 200000000000": compared("LessThanOrEqual", "l", 200_000_000_000, "long"),
    "f > 5.0": compared("GreaterThan", "f", "5.0", "float"),
    "s = 'banana-010'": compared("EqualTo", "s", "banana-010", "string"),
    "dt < DATE '2020-01-14'": compared("LessThan", "dt", "2020-01-14", "date"),
    "p = 'p1'": compared("EqualTo", "p", "p1", "string"),
    "i IS NULL": (node("IsNull", attribute("i", "integer")), {}),
    "i IN (1, 100, NULL)": (
        node("InSet", attribute("i", "integer"), hset=None),
        {0: [["integer", 1], ["integer", 100], ["integer", None]]},
    ),
    "s LIKE 'apple%'": (node("Like", attribute("s", "string"), literal("apple%", "string")), {0: "\\"}),
    "s ILIKE 'APPLE/_%' ESCAPE '/'": (
        node("ILike", attribute("s", "string"), literal("APPLE/_%", "string")),
        {0: "/"},
    ),
}


def asked(table, filter_, names, **given):
    fields = {"engine": "spark-ansi", "engine_version": "3.5.5", **given}
    return request(table, filter_.decode(), names, **fields)


def files(table):
    return [name for item in open_table(table).at().slices for name in item.files]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor", "1.0.2_main_cow"])
def test_the_bits_are_what_the_same_text_skips(sidecar, unpack, name, engine):
    table = unpack(name)
    opened, listed, skipped = open_table(table), files(table), 0
    with sidecar(roots=[str(table)]).client() as client:
        for text, condition in CONDITIONS.items():
            plan = prune(opened, text, engine, time_zone="UTC")
            reply = client.prune(asked(table, document(condition), listed, engine=engine))
            assert skipped_names(listed, reply) == {file for item in plan.skipped for file in item.files}, text
            assert reply.fully_matched == sum(len(item.files) for item in plan.fully_matched)
            skipped += reply.skipped
    assert skipped > len(listed)


def test_conditions_are_joined_by_and(sidecar, main_cow, names):
    both = document(CONDITIONS["i > 100"], CONDITIONS["p = 'p1'"])
    plan = prune(main_cow, "i > 100 AND p = 'p1'", "spark-ansi", time_zone="UTC")
    with sidecar(roots=[str(main_cow)]).client() as client:
        assert skipped_names(names, client.prune(asked(main_cow, both, names))) == {
            item.base_file for item in plan.skipped
        }


@pytest.mark.parametrize(
    "sent",
    [b"", b"i = 100", document(version=2), I_IS_100[:-3], I_IS_100.replace(b'"num-children": 2', b'"num-children": 3')],
    ids=["empty", "SQL", "version 2", "cut", "no tree"],
)
def test_a_filter_that_cannot_be_read_skips_nothing_and_says_so(sidecar, main_cow, names, sent):
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        reply = client.prune(asked(main_cow, sent, names))
        assert (reply.skip, reply.skipped) == (b"", 0)
        assert reply.reasons[0] == "the filter cannot be read"
        assert client.prune(asked(main_cow, I_IS_100, names)).skipped > 0  # the connection lives on
    assert running.metric("sargo_skipped_nothing_total", because="filter") == 1


@pytest.mark.parametrize("engine", ["spark", "spark-", "SPARK-ANSI", "hive4"])
def test_the_engine_says_how_the_filter_is_read(sidecar, main_cow, names, engine):
    with sidecar(roots=[str(main_cow)]).client() as client:
        if engine == "hive4":
            assert client.prune(asked(main_cow, I_IS_100, names, engine=engine)).skipped == 0
            return
        with pytest.raises(RefusedMessage) as refused:
            client.prune(asked(main_cow, I_IS_100, names, engine=engine))
        assert refused.value.code == "request"


def test_what_sparks_side_does_not_ask_is_refused(sidecar, main_cow, names):
    with sidecar(roots=[str(main_cow)]).client() as client:
        with pytest.raises(RefusedMessage, match="incremental"):
            client.prune(asked(main_cow, I_IS_100, names, query_type="incremental", instant="20200101000000000"))
        with pytest.raises(RefusedMessage, match="the engine is none of hive, hive3, hive4"):
            client.plan(
                PlanRequest(
                    protocol_version=1, table=str(main_cow), engine="spark-ansi", instant="20200101", instant_count=1
                )
            )


def test_a_read_optimised_query_reads_every_slice_with_log_files_as_prune_plans_it(sidecar, unpack):
    table = unpack("1.1.1_main_mor")
    opened = open_table(table)
    bases = [item.base_file for item in opened.at().slices if item.base_file]
    skipped = 0
    with sidecar(roots=[str(table)]).client() as client:
        for text, condition in CONDITIONS.items():
            plan = plan_of_base_files(prune(opened, text, "spark-ansi", time_zone="UTC"))
            reply = client.prune(asked(table, document(condition), bases, query_type="read_optimized"))
            kept = {item.base_file for item in plan.kept}
            assert skipped_names(bases, reply) == {base for base in bases if base not in kept}, text
            skipped += reply.skipped
    assert skipped
    assert any(item.log_files for item in opened.at().slices)


def test_a_query_as_of_an_instant_is_about_the_files_of_then(sidecar, unpack):
    table = unpack("1.1.1_main_cow")
    opened = open_table(table)
    instants = sorted({item.base_file.rpartition("_")[2].partition(".")[0] for item in opened.at().slices})
    listed = [item.base_file for item in opened.at(instants[-2]).slices]
    plan = prune(opened, "i > 100", "spark-ansi", as_of=instants[-2], time_zone="UTC")
    with sidecar(roots=[str(table)]).client() as client:
        sent = document(CONDITIONS["i > 100"])
        reply = client.prune(asked(table, sent, listed, query_type="as_of", instant=instants[-2]))
    assert skipped_names(listed, reply) == {item.base_file for item in plan.skipped}
    assert reply.instant == plan.instant


ZONED = (node("LessThan", attribute("t", "timestamp"), literal("x", "timestamp")), {2: 1_000_000})


def query(sent, engine="spark-ansi", zone="UTC"):
    return FilterQuery(sent, engine, zone)


def planned(table, sent, engine="spark-ansi", zone="UTC", limits=SMALL):
    return plan_filter(open_table(table), None, query(sent, engine, zone), limits)


def test_without_the_sessions_zone_no_timestamp_is_decided(unpack):
    table = unpack("1.1.1_main_cow")
    both = document(ZONED, CONDITIONS["i = 100"])
    assert planned(table, document(ZONED)).skipped.any()
    assert not planned(table, document(ZONED), zone=None).skipped.any()
    unzoned = planned(table, both, zone=None)
    assert ZONELESS in unzoned.text
    assert unzoned.skipped == planned(table, I_IS_100).skipped


@pytest.mark.parametrize(
    ("zone", "known"), [("GMT+8", True), ("PST", True), ("Z", True), ("UTC", True), ("Nowhere/Land", False)]
)
def test_zones_may_have_javas_names(sidecar, main_cow, names, zone, known):
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.prune(asked(main_cow, I_IS_100, names, time_zone=zone))
        assert any("time zone is not known" in reason for reason in reply.reasons) != known
        assert reply.skipped


def test_a_function_of_the_clock_means_now_or_later(unpack):
    """What the optimizer has folded is a constant; a plan of what it has not folded holds for a later query too."""
    table, today = unpack("1.1.1_main_cow"), node("CurrentDate")
    dt = attribute("dt", "date")
    rows = open_table(table).at().slices
    future = planned(table, document((node("GreaterThanOrEqual", dt, today), {})))
    assert future.skipped.count() > len(rows) / 2, "all dates of the table are in the past"
    folded = datetime.now(timezone.utc).date().isoformat()
    same = planned(table, document((node("GreaterThanOrEqual", dt, literal(folded, "date")), {})))
    assert same.skipped == future.skipped


def test_the_plan_of_another_run_of_the_same_query_is_found_again(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        for number in (7, 99):
            tree = node("EqualTo", attribute("i", "integer", number), literal(100, "integer"))
            sent = json.dumps({"version": 1, "conditions": [{"nodes": tree, "exact": {}}]}, separators=(",", ":"))
            client.prune(asked(main_cow, sent.encode(), names))
        [entry] = running.sidecar.service.tables._entries.values()
        assert len(entry.view._decisions) == 1


# -- limits


def one_of(count):
    tree = node("Or", *[compared("EqualTo", "i", number)[0] for number in range(2)])
    for number in range(2, count):
        tree = node("Or", compared("EqualTo", "i", number)[0], tree)
    return document((tree, {}))


def test_a_large_filter_goes_to_the_planning_process_and_is_answered(sidecar, main_cow, names):
    sent = one_of(400)
    with pytest.raises(TooExpensive):
        planned(main_cow, sent)
    plan = prune(main_cow, " OR ".join(f"i = {number}" for number in range(400)), "spark-ansi", time_zone="UTC")
    with sidecar(roots=[str(main_cow)]).client(timeout=60_000) as client:
        reply = client.prune(asked(main_cow, sent, names))
    assert skipped_names(names, reply) == {item.base_file for item in plan.skipped}


@pytest.mark.parametrize("members", [200, 5_000])
def test_a_list_counts_by_its_members(main_cow, members):
    sent = document(
        (node("InSet", attribute("i", "integer"), hset=None), {0: [["integer", n] for n in range(members)]})
    )
    if members < SMALL.nodes:
        assert planned(main_cow, sent).is_read
    else:
        with pytest.raises(TooExpensive):
            planned(main_cow, sent)
        assert planned(main_cow, sent, limits=PlanningLimits(filter_bytes=1 << 20, nodes=100_000)).is_read


def test_beyond_the_last_limits_nothing_is_skipped(main_cow):
    found = planned(main_cow, one_of(400), limits=PlanningLimits(filter_bytes=1 << 20, nodes=1_000))
    assert found.is_too_large
    assert not found.skipped.any()
    assert "too large" in found.reasons[0]


def test_a_filter_of_more_bytes_than_allowed_is_refused(sidecar, main_cow, names):
    with sidecar(roots=[str(main_cow)], max_filter_bytes=2_000).client() as client:
        with pytest.raises(RefusedMessage) as refused:
            client.prune(asked(main_cow, one_of(20), names))
        assert refused.value.code == "limit"


# -- reports, the log of filters and audits


def test_a_report_is_found_by_the_id_of_the_query(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        reply = client.prune(asked(main_cow, I_IS_100, names, query_id="spark-app-1-4"))
        text = client.explain("spark-app-1-4")
        assert text.splitlines()[:5] == client.explain(reply.report_id).splitlines()[:5]
        assert "i = 100" in text
        assert "spark-ansi" in text
        other = client.prune(asked(main_cow, document(CONDITIONS["i > 100"]), names, query_id="spark-app-1-4"))
        client.prune(asked(main_cow, I_IS_100, names))  # of no query
        several = client.explain("spark-app-1-4")
        assert all(one.report_id in several for one in (reply, other))
        assert "2 answers" in several
        for unknown in ("spark-app-1", "", "spark-app-1-44"):
            with pytest.raises(RefusedMessage) as refused:
                client.explain(unknown)
            assert refused.value.code == "unknown_report"
    at = ["--sidecar", f"127.0.0.1:{running.port}"]
    shown = CliRunner().invoke(main, ["report", "spark-app-1-4", *at])
    assert (shown.exit_code, other.report_id in shown.output) == (0, True)


def test_the_log_and_the_page_show_the_filter_where_values_may_be_shown(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], log_values=True)
    with running.client() as client:
        client.prune(asked(main_cow, I_IS_100, names))
    [answered] = [json.loads(line) for line in running.log.getvalue().splitlines() if '"answered"' in line]
    assert (answered["filter"], answered["engine"]) == ("i = 100", "spark-ansi")
    [report] = running.sidecar.service.records.reports.latest(5)
    assert report.filter_text == "i = 100"


def test_the_filter_log_is_a_workload(sidecar, main_cow, names, tmp_path):
    log = tmp_path / "filters"
    with sidecar(roots=[str(main_cow)], filter_log=log).client() as client:
        for text in ("i = 100", "i > 100", "i = 100"):
            client.prune(asked(main_cow, document(CONDITIONS[text]), names))
    schema = open_table(main_cow).table.schema
    workload = read_workload(log.read_text().splitlines(), str(main_cow), schema)
    assert [(one.text, one.engine, one.count) for one in workload.filters] == [
        ("i = 100", "spark-ansi", 2),
        ("i > 100", "spark-ansi", 1),
    ]


def test_a_right_skip_passes_its_audit_and_a_wrong_one_does_not(sidecar, main_cow):
    opened = open_table(main_cow)
    plan = prune(opened, "i = 100", "spark-ansi", time_zone="UTC")

    def verdict(item, **given):
        return audit_file(
            SkippedFile(
                table=str(main_cow),
                root=str(main_cow),
                storage_options={},
                path=item.base_file,
                expression=query(I_IS_100),
                schema=opened.table.schema,
                semantics=plan.explanation.bound.semantics,
                max_rows=100_000,
                **given,
            )
        )

    assert {verdict(item) for item in plan.skipped} == {"passed"}
    assert "failed" in {verdict(item) for item in plan.kept}
    assert {verdict(item, from_paths=frozenset({"i"})) for item in plan.kept} == {"undecided"}


# -- C11: what the engine reads decides

#: Hudi's reader's types as Catalyst's JSON has them; values of these stand in it as text.
JSON_TYPES = {"string": "string", "int": "integer", "bigint": "long", "date": "date", "double": "double"}


@pytest.mark.parametrize(("written", "reader", "name"), share(READ, 20))
def test_every_row_that_hudis_reader_returns_is_kept_whatever_the_files_hold(written, reader, name):
    types, rows = rows_read(written, reader, name)
    path = folder_of_release(written) / name
    opened = open_table(path, cache=None)
    slices = slice_of_rows(path, opened)
    kinds = {column: spark_type(text) for column, text in types.items()}
    schema = Schema([Field("id", STRING), *(Field(column, kind) for column, kind in kinds.items())])
    typed = {
        key: {"id": key, **{column: value(one[column], kind) for column, kind in kinds.items()}}
        for key, one in rows.items()
    }
    for column, text in types.items():
        for constant in sorted({one[column] for one in rows.values() if one[column] and text in JSON_TYPES})[:4]:
            for operator in ("EqualTo", "LessThan", "GreaterThan"):
                sent = document(compared(operator, column, constant, JSON_TYPES[text]))
                found = plan_filter(opened, None, query(sent), SMALL)
                expression = read_document(sent)
                semantics = Semantics.named("spark-ansi", "UTC")
                true = {
                    slices[key] for key, row in typed.items() if value_of(expression, row, schema, semantics) is True
                }
                assert not any(found.skipped[number] for number in true), (column, operator, constant)
                plan = plan_expression(opened, expression, "spark-ansi", None, "UTC", on_failure=OnFailure.RAISE)
                assert found.skipped == ~plan.kept_bits
