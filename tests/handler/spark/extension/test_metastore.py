"""Tables of a Hive metastore, as most sessions of Spark have them, on a machine that is not in UTC."""

from __future__ import annotations

import pytest

from tests.handler.spark.extension.metastore import QUERIES, ZONE
from tests.handler.spark.extension.programs import QUICK, told_by
from tests.tables.releases import RELEASES

pytestmark = [pytest.mark.extension, pytest.mark.timeout(900)]

SYNCED = ("synced_cow", "synced_mor", "synced_mor_ro", "synced_mor_rt")
MADE = ("made", "made_ro", "made_rt", "view")
#: The merged tables of 0.15.0 are read by a relation of their own.
LEFT = {"0.15.0": ("synced_mor", "synced_mor_rt", "made", "made_rt", "view")}


@pytest.mark.parametrize("hudi", ["1.2.0"] if QUICK else ["1.2.0", "1.0.2", "0.15.0"])
def test_tables_of_a_metastore_have_the_same_rows_and_fewer_files(
    hudi: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    RELEASES[hudi].fetch()
    monkeypatch.setenv("TZ", ZONE)
    outcomes = told_by("metastore", "3.5", tmp_path_factory.mktemp("metastore"), hudi, seconds=800)
    assert set(outcomes) == {f"{table}: {query}" for table in (*SYNCED, *MADE) for query in QUERIES}
    assert {what: one["rows"] for what, one in outcomes.items()} == {
        what: one["truth"] for what, one in outcomes.items()
    }
    found = {what for what, one in outcomes.items() if one["rows"]}
    assert {f"{table}: {query}" for table in ("synced_cow", "view") for query in QUERIES} <= found
    for table in (*SYNCED, *MADE):
        says = outcomes[f"{table}: id = 42"]["says"]
        of_log_files = 2 if table == "synced_mor_ro" else 1  # a read-optimised query reads every slice that has some
        assert says == ("" if table in LEFT.get(hudi, ()) else f"{of_log_files} of 3 file slices"), table
