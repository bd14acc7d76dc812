"""What only Hive knows of a filter is left undecided: its partition columns, timestamps of an unknown session."""

import base64

import pytest

import sarg
from evaluator.language.expression import to_text
from handler import open_table, prune
from handler.planning.hive_filter import OF_HIVE, ZONELESS, read_hive_filter
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request, skipped_names
from tests.sarg.corpus import records
from tests.sarg.kryo_writer import STRING, column, constant, function, integer, write

ZONES = ("UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "Pacific/Kiritimati", "Etc/GMT+12")


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


def of_hive(name):
    made = column(name, STRING)
    made.fields["isPartitionColOrVirtualCol"] = True
    return made


def encoded(top):
    return base64.b64encode(write(top)).decode()


P_IS_P1 = [
    function("OPEqual", of_hive("p"), constant("p1", STRING)),
    function("OPEqual", column("p", STRING), constant("p1", STRING)),
]
I_BELOW_0 = function("OPLessThan", column("i"), integer(-100_000))


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (P_IS_P1[0], f"?({OF_HIVE})"),
        (P_IS_P1[1], "p = 'p1'"),
        (function("OPAnd", P_IS_P1[0], I_BELOW_0), f"(?({OF_HIVE}) AND i < -100000)"),
        (function("OPOr", P_IS_P1[0], I_BELOW_0), f"(?({OF_HIVE}) OR i < -100000)"),
        (function("OPNot", function("OPNull", of_hive("P"))), f"NOT ?({OF_HIVE})"),
    ],
    ids=["partition", "ordinary", "and", "or", "not"],
)
def test_conditions_on_hives_own_columns_are_left_to_hive(table, tree, text):
    found = read_hive_filter(encoded(tree), table.table.schema, zone_known=True)
    assert to_text(found) == text


def test_the_metastores_partition_values_rule_out_no_file_but_ordinary_columns_do(sidecar, main_cow, table):
    names = [item.base_file for item in table.at().slices]
    with sidecar(roots=[str(main_cow)]).client() as client:
        for tree, skips in ((P_IS_P1[0], False), (P_IS_P1[1], True), (function("OPAnd", P_IS_P1[0], I_BELOW_0), True)):
            assert bool(client.prune(request(main_cow, encoded(tree), names)).skipped) is skips


def test_a_search_argument_is_refused_for_it_does_not_mark_hives_columns(table):
    argument = next(one["sarg_kryo_base64"] for one in records("4.0.1") if "sarg_kryo_base64" in one)
    assert sarg.decode(argument)
    with pytest.raises(sarg.DecodeError, match="SearchArgument"):
        read_hive_filter(argument, table.table.schema, zone_known=True)


@pytest.mark.parametrize("one", hive_filters(), ids=lambda one: f"Hive {one['hive']}: {one['sql']}")
def test_without_a_zone_a_filter_skips_what_it_skips_in_every_zone(table, one):
    unzoned = read_hive_filter(one["filter"], table.table.schema, zone_known=False)
    skipped = set(prune(table, unzoned, "hive", time_zone="UTC").skipped)
    for zone in ZONES:
        in_zone = set(prune(table, one["filter"], "hive", time_zone=zone).skipped)
        assert skipped <= in_zone, zone
        if ZONELESS not in to_text(unzoned):
            assert skipped == in_zone, zone


def test_timestamps_are_undecided_without_a_zone_and_dates_are_not(table):
    texts = {
        one["sql"]: to_text(read_hive_filter(one["filter"], table.table.schema, zone_known=False))
        for one in hive_filters()
    }
    undecided = {sql for sql, text in texts.items() if ZONELESS in text}
    assert undecided
    assert any("t " in sql or "timestamp" in sql.lower() for sql in undecided)
    assert not any(sql.startswith("dt =") or sql == "i = 100" for sql in undecided)


@pytest.mark.parametrize("zone", [None, "", "Nowhere/None", "../../etc/passwd", "UTC\0", "+99:00"], ids=repr)
def test_a_zone_that_is_not_known_is_none(sidecar, main_cow, table, zone):
    names = [item.base_file for item in table.at().slices]
    on_timestamp = next(
        one
        for one in hive_filters()
        if one["hive"] == "4.0.1"
        and ZONELESS in to_text(read_hive_filter(one["filter"], table.table.schema, zone_known=False))
    )
    plan = prune(table, read_hive_filter(on_timestamp["filter"], table.table.schema, zone_known=False), "hive4")
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.prune(request(main_cow, on_timestamp["filter"], names, time_zone=zone))
    assert skipped_names(names, reply) == {item.base_file for item in plan.skipped}
