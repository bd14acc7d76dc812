"""A file group that a plan keeps, and that Hudi skips rightly, may hold a matching row by all recorded statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from evaluator.language.semantics import Semantics
from handler import prune
from index_store.opened_table import OpenTable
from tests.conformance.paths import of_text
from tests.conformance.stored_truth import TABLES, truth_of
from tests.conformance.witnesses import find_witness
from tests.sampling import share

LEGACY = Semantics.named("spark-legacy", "UTC")
#: No row is found here, and why the groups stay.
LEFT_OPEN = {
    "i | 2 = 102": "the bits in which the ends of a range differ are taken for free",
    "cast(i as tinyint) = 4": "an integer that does not fit wraps around, which the reference does not do",
    "upper(s) >= 'ZE'": "in Turkish the upper case of i is beyond all letters, which the reference does not know",
}


def looser_pairs(opened: OpenTable, name: str) -> Iterator[tuple[str, str, str]]:
    """(predicate, file group, how) for each group that the plan keeps and Hudi's data skipping rightly skips."""
    truth = truth_of(name)
    for sql in truth.predicates:
        by_hudi = truth.kept_by_hudi(sql)
        if by_hudi is None or truth.groups_of(truth.numbers(sql, "legacy") or ()) - by_hudi:
            continue
        plan = prune(opened, of_text(sql), engine="spark-legacy", time_zone="UTC")
        extra = {one.file_id for one in plan.kept} & set(truth.groups) - by_hudi
        for index, one in enumerate(plan.slices):
            if one.file_id in extra:
                assert plan.explanation is not None
                yield sql, one.file_id, find_witness(plan.explanation, index, opened.table.schema, LEGACY).how


@pytest.mark.parametrize("name", share(TABLES, 4))
def test_every_group_that_hudi_skips_and_we_keep_has_a_witness(opened: dict[str, OpenTable], name: str) -> None:
    found = list(looser_pairs(opened[name], name))
    nothing = Counter(sql for sql, _, how in found if how == "nothing" and sql not in LEFT_OPEN)
    assert nothing == {}


def test_a_pair_that_statistics_rule_out_has_no_witness(opened: dict[str, OpenTable]) -> None:
    table = opened["1.2.0_wide_cow"]
    everything = prune(table, "i < -100 OR rand() >= 0", engine="spark-legacy", time_zone="UTC")
    above = prune(table, "i < -100", engine="spark-legacy", time_zone="UTC")
    assert above.explanation is not None
    assert len(above.skipped) > 0
    assert len(everything.kept) == len(everything.slices)
    hows = Counter(
        (one in above.kept, find_witness(above.explanation, index, table.table.schema, LEGACY).how)
        for index, one in enumerate(above.slices)
    )
    assert set(hows) == {(True, "witness"), (False, "nothing")}
