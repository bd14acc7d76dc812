"""No predicate of the suite loses a file group to an index of our own that was refreshed after every commit.

Here one in forty predicates; ``make conformance`` asks all, with each index alone on every table, and reads rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.own_indexes import ALL, VARIANTS, lost_groups, refreshed_indexes
from tests.conformance.stored_truth import TABLES, truth_of
from tests.sampling import ALL_CASES, share

#: Updates and a clustering; log files and compactions.
ONE_BY_ONE = ("1.2.0_wide_cow", "1.0.2_wide_mor")
ONE_IN = 80
#: Nothing else is decided by counts of NaN alone.
ALWAYS = ("f is null", "d is null")


@pytest.mark.parametrize("name", TABLES if ALL_CASES else ONE_BY_ONE)
def test_no_predicate_loses_a_file_group(folders: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    variants = share(VARIANTS, 12) if name in ONE_BY_ONE else [ALL]
    indexes = refreshed_indexes(folders(name), tmp_path, variants)
    every = truth_of(name).predicates
    predicates = [*share(every, ONE_IN), *(one for one in every if one in ALWAYS)]
    for variant, index in indexes.items():
        lost, skipped = lost_groups(name, folders(name), index, predicates)
        assert lost == {}, variant
        assert skipped > 0, variant
