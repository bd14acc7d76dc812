"""A seeded sample of what ``make torture`` does with every byte: damage never loses a file."""

from __future__ import annotations

import random

import pytest

from tests.torture.damage import PATTERNS, all_cases, some_cases
from tests.torture.tables import TABLES, subject
from tests.torture.verdict import FAULTS, Judge

CASES, QUERIES = 40, 3


@pytest.mark.parametrize("name", TABLES)
def test_no_sampled_byte_loses_a_file(name):
    judge = Judge(subject(name, QUERIES))
    seen = set()
    for case in some_cases(judge.files, 1, CASES):
        verdict = judge.judge(case.path, case.apply(judge.subject.files[case.path]))
        assert verdict.kind not in FAULTS, (case, verdict)
        seen.add(verdict.kind)
    assert "noticed" in seen


def test_the_judge_sees_a_file_that_is_lost(monkeypatch):
    judge = Judge(subject("1.2.0_partcols_cow", QUERIES))
    query = judge.subject.queries[0]
    assert query.matching
    plan = judge._plan(judge._open(), query)
    assert judge._fault(query, plan) is None
    monkeypatch.setitem(judge.truth, query.as_of, frozenset(plan.slices[:1]))
    assert judge._fault(query, plan).kind == "extra"
    whole = {one for one in plan.slices if one.file_id in query.matching}
    plan.__dict__["skipped"] = tuple(whole)
    judge.truth[query.as_of] = frozenset(plan.slices)
    assert judge._fault(query, plan).kind == "lost"


def test_patterns_change_every_byte_and_keep_digits_digits():
    rnd = random.Random(0)
    for value in range(256):
        for name, pattern in PATTERNS.items():
            new = pattern(value, rnd)
            assert new != value
            assert 0 <= new < 256
            if name == "alike" and 48 <= value < 58:
                assert 48 <= new < 58
    cases = list(all_cases({"a": b"12", "b": b""}, 7))
    assert [(case.path, case.offset) for case in cases] == [("a", 0)] * 2 + [("a", 1)] * 2
    assert list(all_cases({"a": b"12"}, 7)) == cases
    assert cases[0].apply(b"12")[1:] == b"2"
