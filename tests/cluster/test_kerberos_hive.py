"""HiveServer2, HDFS and YARN with Kerberos: queries skip files, and `sargo doctor` says what is wrong with a login."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.compare import seen_after, totals
from tests.cluster.hive_on_yarn import HiveOnYarn
from tests.cluster.kdc import Kdc
from tests.cluster.test_faults import SQL
from tests.hive.tables import unpack
from tests.hive.test_matrix import rows

pytest.importorskip("kerberos", reason="apt-get install libkrb5-dev gcc; pip install pykerberos")
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not Kdc.is_there(), reason="apt-get install krb5-kdc krb5-admin-server krb5-user"),
]
LIFE = 3600
FETCH = "select id, dt, name from {} where id between 309 and 311"


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    found = Kdc(tmp_path_factory.mktemp("kdc"), LIFE)
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def secured(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveOnYarn]:
    cluster = Cluster(
        tmp_path_factory.mktemp("secured"),
        datanodes=1,
        nodemanagers=1,
        extra=kdc.settings(),
        variables=kdc.environment,
    )
    user = kdc.daemon.partition("/")[0]
    more = {
        **kdc.settings(),
        "hive.server2.authentication": "KERBEROS",
        "hive.server2.authentication.kerberos.principal": kdc.daemon,
        "hive.server2.authentication.kerberos.keytab": str(kdc.keytab),
        "yarn.resourcemanager.principal": kdc.daemon,
    }
    options = ("--kerberos-principal", kdc.daemon, "--kerberos-keytab", str(kdc.keytab))
    variables = {**kdc.environment, "HADOOP_CONF_DIR": str(cluster.conf)}
    with pytest.MonkeyPatch.context() as patch, cluster:
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setenv("KRB5CCNAME", kdc.login(kdc.home / "ticket"))  # of this process: it writes files, and asks Hive
        cluster.start_hdfs()
        cluster.make_folders()
        cluster.start_yarn()
        tables = unpack(tmp_path_factory.mktemp("tables"))
        cluster.put(tables, "/lake")
        hive = HiveOnYarn(cluster, tables, more=more, options=options, variables=variables)
        hive.server.environment = dict(kdc.environment)
        hive.server.login = {"host": "localhost", "auth": "KERBEROS", "kerberos_service_name": user}
        with hive:
            yield hive


@pytest.mark.parametrize("listing", ["hudi", "sidecar"])
@pytest.mark.parametrize("sql", [FETCH, SQL], ids=["fetch task", "containers"])
def test_a_query_skips_files(secured: HiveOnYarn, sql: str, listing: str) -> None:
    with secured.server.connect({"hive.execution.engine": "tez", "sargo.listing": listing}) as connection:
        cursor = connection.cursor()
        want = rows(cursor, sql.format("plain_trips"))
        before = Counter(secured.log().splitlines())
        assert rows(cursor, sql.format("stored_trips")) == want
        listed, kept = totals(seen_after(secured, before, (20, 1 if sql is FETCH else 2)))
        assert (listed, 0 < kept < listed) == (20, True)


def doctor(secured: HiveOnYarn, *options: str, **variables: str) -> str:
    command = [sys.executable, "-c", "from handler.cli.main import main; main()", "doctor"]
    command += ["--hive", f"localhost:{secured.server.port}", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **variables})
    return " ".join((done.stdout + done.stderr).split())


def service(kdc: Kdc) -> str:
    return kdc.daemon.partition("/")[0]


def test_the_doctor_asks_a_hive_with_kerberos(secured: HiveOnYarn, kdc: Kdc) -> None:
    said = doctor(secured, "--auth", "KERBEROS", "--kerberos-service", service(kdc))
    assert "Hive hands out filters and asks" in said
    assert "kinit" not in said


def test_the_doctor_names_a_missing_ticket(secured: HiveOnYarn, kdc: Kdc, tmp_path: Path) -> None:
    said = doctor(secured, "--auth", "KERBEROS", "--kerberos-service", service(kdc), KRB5CCNAME=f"FILE:{tmp_path}/none")
    assert "there is no Kerberos ticket: kinit" in said


def test_the_doctor_names_a_service_that_kerberos_does_not_know(secured: HiveOnYarn) -> None:
    said = doctor(secured, "--auth", "KERBEROS", "--kerberos-service", "nobody")
    assert "Kerberos knows no service of this name" in said


def test_the_doctor_names_a_login_without_kerberos(secured: HiveOnYarn) -> None:
    said = doctor(secured, "--auth", "NONE", "--user", "sargo")
    assert "--auth must be what hive.server2.authentication says" in said
