"""One cluster for a session of tests, with Hive on it; started when the first test wants it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.hive.tables import unpack


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as found:
        found.start_hdfs()
        yield found


@pytest.fixture(scope="session")
def tables(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the Hive tests here, and the same ones on HDFS below /lake."""
    directory = unpack(tmp_path_factory.mktemp("tables"))
    cluster.put(directory, "/lake")
    return directory


@pytest.fixture(scope="session")
def yarn(cluster: Cluster) -> Cluster:
    cluster.make_folders()
    cluster.start_yarn()
    return cluster


@pytest.fixture(scope="session")
def hive(yarn: Cluster, tables: Path) -> Iterator[HiveOnYarn]:
    with HiveOnYarn(yarn, tables) as found:
        yield found
