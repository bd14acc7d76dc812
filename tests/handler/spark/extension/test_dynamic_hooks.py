"""The joins of ``test_dynamic`` on Spark 4, over Parquet files named as Hudi's (`make test-hooks`).

No bundle of Hudi for Scala 2.13 was at hand: this shows nothing about Hudi on Spark 4.
"""

from __future__ import annotations

import pytest

from tests.handler.spark.extension.programs import QUICK, Outcomes, told_by
from tests.handler.spark.extension.test_dynamic import (
    test_a_key_that_fails_fails_no_query_that_does_not_look_at_it,
    test_a_scan_that_waited_for_keys_says_what_they_left,
    test_a_side_whose_exchange_has_the_keys_is_read_once,
    test_executors_need_no_class_of_sargo,
    test_files_are_read_that_have_a_key,
    test_random_joins_have_the_rows_without_their_keys,
    test_rows_are_those_without_dynamic_pruning,
    test_rows_without_a_key_are_not_exchanged,
    test_rows_without_a_key_of_a_broadcast_are_not_exchanged,
    test_settings_decide_whether_keys_narrow,
    test_what_spark_itself_plans_by_partitions_stays,
)

__all__ = [
    "test_a_key_that_fails_fails_no_query_that_does_not_look_at_it",
    "test_a_scan_that_waited_for_keys_says_what_they_left",
    "test_a_side_whose_exchange_has_the_keys_is_read_once",
    "test_executors_need_no_class_of_sargo",
    "test_files_are_read_that_have_a_key",
    "test_random_joins_have_the_rows_without_their_keys",
    "test_rows_are_those_without_dynamic_pruning",
    "test_rows_without_a_key_are_not_exchanged",
    "test_rows_without_a_key_of_a_broadcast_are_not_exchanged",
    "test_settings_decide_whether_keys_narrow",
    "test_what_spark_itself_plans_by_partitions_stays",
]
pytestmark = [pytest.mark.extension, pytest.mark.skipif(QUICK, reason="make test-hooks PART=quick")]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return told_by("dynamic_hooks", "4", tmp_path_factory.mktemp("hooks") / "work", seconds=3000)
