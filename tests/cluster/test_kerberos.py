"""HDFS with Kerberos: a keytab reads, tickets are renewed, and what goes wrong is said with its remedy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.sidecar.client import Client
from tests.cluster.cluster import Cluster
from tests.cluster.kdc import Kdc
from tests.handler.conftest import hive_filters
from tests.hive.sidecars import Sidecar
from tests.hive.tables import unpack

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not Kdc.is_there(), reason="apt-get install krb5-kdc krb5-admin-server krb5-user"),
]
#: The table has no such column: the answer names its instant, and skips nothing.
ANY_FILTER = next(one["filter"] for one in hive_filters() if one["hive"] == "4.0.1" and one["sql"] == "i = 100")
#: Seconds of a ticket: a reader lives longer than that here.
LIFE = 20
PRUNE = [
    sys.executable,
    "-c",
    "from handler.cli.main import main; main()",
    "prune",
    "--where",
    "id between 309 and 311",
]


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    found = Kdc(tmp_path_factory.mktemp("kdc"), LIFE)
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def secured(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("secured")
    with Cluster(home, datanodes=1, nodemanagers=0, extra=kdc.settings(), variables=kdc.environment) as cluster:
        cluster.start_hdfs()
        tables = unpack(tmp_path_factory.mktemp("tables"))
        put = (
            "import sys; from pathlib import Path; from index_store.storage.storage import Storage\n"
            "client = Storage.at(sys.argv[1], None, dict(part.split('=', 1) for part in sys.argv[4:])).client\n"
            "base = Path(sys.argv[2])\n"
            "for path in base.rglob('*'):\n"
            "    if path.is_file():\n"
            "        place = f'{sys.argv[3]}/{path.relative_to(base)}'\n"
            "        client.create_folder(place.rpartition('/')[0])\n"
            "        client.write(place, path)\n"
        )
        options = [f"principal={kdc.daemon}", f"keytab={kdc.keytab}"]
        command = [sys.executable, "-c", put, f"{cluster.hdfs}/", str(tables / "flat"), "/lake/flat", *options]
        subprocess.run(command, env=environment(kdc, cluster), check=True, timeout=300)
        yield cluster


@pytest.fixture(scope="module")
def keytab(kdc: Kdc) -> Path:
    path = kdc.home / "sargo.keytab"
    kdc.add("sargo", path)
    return path


def environment(kdc: Kdc, cluster: Cluster, **more: str) -> dict[str, str]:
    return {**os.environ, **kdc.environment, "HADOOP_CONF_DIR": str(cluster.conf), **more}


def prune(kdc: Kdc, cluster: Cluster, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [*PRUNE, f"{cluster.hdfs}/lake/flat", "--json", "--storage-option", "tries=1"]
    command += [part for option in options for part in ("--storage-option", option)]
    return subprocess.run(command, env=environment(kdc, cluster, **more), capture_output=True, text=True, timeout=120)


def test_a_keytab_reads(kdc: Kdc, secured: Cluster, keytab: Path) -> None:
    done = prune(kdc, secured, "kerberos_principal=sargo", f"kerberos_keytab={keytab}")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_a_ticket_of_a_cache_reads(kdc: Kdc, secured: Cluster, keytab: Path, tmp_path: Path) -> None:
    cache = f"FILE:{tmp_path}/ticket"
    kinit = ["kinit", "-k", "-t", str(keytab), "sargo"]
    subprocess.run(kinit, env=environment(kdc, secured, KRB5CCNAME=cache), check=True, timeout=30)
    assert prune(kdc, secured, KRB5CCNAME=cache).returncode == 0


def test_without_a_ticket_the_error_says_what_to_do(kdc: Kdc, secured: Cluster) -> None:
    done = prune(kdc, secured)
    assert done.returncode != 0
    assert "there is no Kerberos ticket: give the options kerberos_principal and kerberos_keytab" in done.stderr
    assert "Unknown error" not in done.stderr


def test_without_hadoops_configuration_the_error_says_what_to_do(kdc: Kdc, secured: Cluster, tmp_path: Path) -> None:
    done = prune(kdc, secured, HADOOP_CONF_DIR=str(tmp_path))
    assert done.returncode != 0
    assert "the cluster wants Kerberos" in done.stderr


def test_a_keytab_of_somebody_else_is_said(kdc: Kdc, secured: Cluster, keytab: Path) -> None:
    done = prune(kdc, secured, "kerberos_principal=nobody", f"kerberos_keytab={keytab}")
    assert done.returncode != 0
    assert "access is denied" in done.stderr


def test_a_kerberos_server_that_is_down_is_said(kdc: Kdc, secured: Cluster, keytab: Path, tmp_path: Path) -> None:
    conf = tmp_path / "krb5.conf"
    conf.write_text((kdc.home / "krb5.conf").read_text().replace(f"localhost:{kdc.port}", "localhost:1"))
    done = prune(kdc, secured, "kerberos_principal=sargo", f"kerberos_keytab={keytab}", KRB5_CONFIG=str(conf))
    assert done.returncode != 0
    assert "no Kerberos server answers" in done.stderr


def test_a_sidecar_with_a_keytab_reads_on_after_its_ticket_has_ended(
    kdc: Kdc, secured: Cluster, keytab: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in environment(kdc, secured).items():
        monkeypatch.setenv(name, value)
    options = ("--kerberos-principal", "sargo", "--kerberos-keytab", str(keytab), "--refresh-seconds", "0")
    sidecar = Sidecar(f"{secured.hdfs}/lake", tmp_path / "log", more=options).start()
    try:
        client = Client(sidecar.address, 60)
        for wait in (0, LIFE + 5, LIFE + 5):
            time.sleep(wait)
            if wait:  # every connection breaks, and the next one needs a ticket
                secured.restart_namenode()
                time.sleep(2)  # the sidecar pauses after a failure
            reply = client.prune(f"{secured.hdfs}/lake/flat", ANY_FILTER.encode(), ["a.parquet"])
            log = (tmp_path / "log").read_text()
            assert reply.instant, log[-3000:]
            assert "could not be read" not in " ".join(reply.reasons), log[-3000:]
    finally:
        sidecar.stop()
