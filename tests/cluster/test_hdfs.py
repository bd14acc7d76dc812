"""Tables on real HDFS, read without Java: what is kept, names, writing, and a DataNode that dies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from handler.planning.prune import prune
from index_store.opened_table import open_table
from index_store.storage.storage import Storage
from tests.cluster.cluster import Cluster
from tests.hive.tables import TABLES

pytestmark = pytest.mark.cluster

FILTERS = ("id between 309 and 311", "k < 150 or k >= 1900", "maybe is null and id < 900", "dt = '2024-01-02'")


def decided(place: str, condition: str) -> dict[str, bool]:
    """Whether each slice is kept, by the name of its base file, or of its first log file."""
    plan = prune(open_table(place), condition, engine="hive")
    kept = set(plan.kept)
    return {str(item.base_file or item.log_files[0]): item in kept for item in plan.slices}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_files_that_are_kept_are_those_of_the_local_copy(cluster: Cluster, tables: Path, table) -> None:
    for condition in FILTERS if table.partitioned else FILTERS[:3]:
        local = decided(str(tables / table.name), condition)
        assert decided(f"{cluster.hdfs}/lake/{table.name}", condition) == local
        assert len(local) > 1


@pytest.mark.parametrize("name", ["a b", "a%20b", "a?b=c", "a#b", "dt=2024-01-01", "é€"])
def test_a_name_stands_as_it_is(cluster: Cluster, name: str, tmp_path: Path) -> None:
    client = cluster.client()
    (tmp_path / "f").write_bytes(name.encode())
    client.create_folder(f"/names/{name}")
    client.write(f"/names/{name}/{name}", tmp_path / "f", new=True)
    folder = Storage.at(f"{cluster.hdfs}/names/{name}")
    assert [entry.path for entry in folder.files()] == [name]
    assert folder.read(name) == name.encode()
    assert folder.filesystem.open_input_stream(f"/names/{name}/{name}").read() == name.encode()
    client.remove_all("/names")


def test_a_long_listing_is_whole(cluster: Cluster, tmp_path: Path) -> None:
    client = cluster.client()
    (tmp_path / "f").write_bytes(b"")
    client.create_folder("/many")
    for number in range(1100):  # dfs.ls.limit is 1,000
        client.write(f"/many/{number}", tmp_path / "f", new=True)
    assert len(client.listed("/many")) == len(client.listed("/many", recursive=True)) == 1100
    client.remove_all("/many")


def test_an_own_index_is_built_read_and_refreshed(cluster: Cluster, tables: Path) -> None:
    place = f"{cluster.hdfs}/lake/flat"
    run = [sys.executable, "-c", "from handler.cli.main import main; main()", "index"]
    columns = ["--on", "amount", "--name", "amounts", "--local"]
    for step in (["create", place, *columns], ["refresh", place], ["list", place]):
        done = subprocess.run([*run, *step], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    assert "amounts" in done.stdout


def test_a_datanode_that_dies_changes_no_answer(cluster: Cluster, tables: Path) -> None:
    before = decided(f"{cluster.hdfs}/lake/trips", FILTERS[0])
    cluster.kill("datanode2")
    try:
        assert decided(f"{cluster.hdfs}/lake/trips", FILTERS[0]) == before
    finally:
        cluster.restart_datanode("datanode2")


def test_the_command_reads_hdfs_without_options(cluster: Cluster, tables: Path) -> None:
    run = [sys.executable, "-c", "from handler.cli.main import main; main()", "prune", f"{cluster.hdfs}/lake/trips"]
    done = subprocess.run([*run, "--where", FILTERS[0], "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
