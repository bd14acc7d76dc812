"""The log of plans: one line each at INFO, without values."""

from __future__ import annotations

import logging

import sargo


def test_a_plan_is_one_line_that_holds_no_value(main_cow, caplog):
    caplog.set_level(logging.INFO, "sargo")
    plan = sargo.prune(main_cow, "i = 100 AND s = 'secret'")
    [record] = caplog.records
    assert (record.name, record.levelname) == ("sargo.planning", "INFO")
    said = record.getMessage()
    assert f"{str(main_cow)!a} as of {plan.instant}, rules of spark: {len(plan.kept)} of 14 file slices kept" in said
    assert "secret" not in said
    assert len(said.splitlines()) == 1


def test_the_filter_and_the_reasons_are_told_to_those_who_look(main_cow, caplog):
    caplog.set_level(logging.DEBUG, "sargo")
    plan = sargo.prune(main_cow, "nope = 1 OR s = 'a\nb'")
    said = [record.getMessage() for record in caplog.records]
    assert "\\n" in said[1]
    assert len(said) == 2 + len(plan.reasons)
    assert all(len(one.splitlines()) == 1 for one in said)


def test_nothing_is_printed_by_itself(main_cow, capfd):
    sargo.prune(main_cow, "i = 100")
    assert capfd.readouterr() == ("", "")
