"""``register`` in a session with a JVM: existing queries read fewer files, with the same rows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.language.errors import UnsupportedError
from handler.shipped.artefacts import MissingError, spark_jar
from handler.spark import register
from handler.spark.extension import installing
from handler.spark.extension.in_process import sidecar_of_process
from tests.conformance.stored_truth import unpack
from tests.tables.releases import PYTHON, RELEASES, ROOT

NOTEBOOK = "tests.handler.spark.extension.notebook"


def missing(hudi: str) -> str:
    """Why the notebook cannot run here, or ""."""
    try:
        spark_jar("3.5.5")
    except MissingError as error:
        return str(error)
    if not PYTHON.exists():
        return "there is no .venv/spark35 (make test-spark35)"
    return "" if RELEASES[hudi].jar.exists() else f"the bundle of Hudi {hudi} is not in the Maven repository"


def run(folder: Path, hudi: str, out: Path, *given: str) -> dict:
    done = subprocess.run(
        [str(PYTHON), "-m", NOTEBOOK, str(folder), hudi, str(out), *given],
        cwd=ROOT,
        env={**os.environ, "TZ": "UTC", "SARGO_CACHE": "off"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(out.read_text("utf-8"))


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.spark_full
@pytest.mark.parametrize("hudi", ["1.2.0", "1.0.2"])
def test_a_notebook_with_one_line_more_reads_fewer_files_and_has_the_same_rows(tmp_path, hudi):
    if why := missing(hudi):
        pytest.skip(why)
    for name in ("cow", "mor"):
        unpack(f"{hudi}_wide_{name}", tmp_path / "from").rename(tmp_path / name)
    if hudi == "1.2.0":
        shutil.unpack_archive(ROOT / "tests/data/hudi/1.1.1_bucket_cow.zip", tmp_path / "buckets")
    results, rows = {}, {}
    for variant in ("plain", "register", "register cluster"):
        (tmp_path / variant).mkdir()
        results[variant] = run(tmp_path, hudi, tmp_path / variant / "out.json", *variant.split())
        rows[variant] = {what: one["rows"] for what, one in results[variant]["queries"].items()}
        assert (tmp_path / variant / "runs").read_text() == "one run\n"
    assert results["register"]["registered"] == [True, True, True]
    plain, registered = results["plain"]["queries"], results["register"]["queries"]
    assert rows["register"] == rows["plain"]
    assert rows["register cluster"] == rows["plain"]
    assert sum(bool(one["rows"]) for one in plain.values()) > 15
    files = {what: (plain[what]["files"], registered[what]["files"]) for what in plain}
    narrowed = {what for what, one in registered.items() if any("Sargo:" in name for name in one["scans"])}
    assert narrowed == set(plain) - {"turned off", "cow: no filter", "mor: no filter", "buckets: groups"}
    assert {what for what, one in registered.items() if one["by_buckets"]} == set(plain) & {"buckets: groups"}
    more = {what: counts for what, counts in files.items() if counts[1] > counts[0]}
    assert more.keys() <= {"mor: read optimised"}, "every slice that has log files is read"
    fewer = {what for what, counts in files.items() if counts[1] < counts[0]}
    assert fewer >= {"cow: a nested column", "mor: a nested column"}, files
    assert files["turned off"][0] == files["turned off"][1]
    print(f"Hudi {hudi}: files read without register and with it: {files}")  # pytest -s


# -- what is said where it is not possible


class Conf:
    def __init__(self, **given):
        self.given = given

    def get(self, name, otherwise=None):
        return self.given.get(name, otherwise)


class Session35:
    """A session of Spark 3.5, as far as it is asked before the JVM is."""

    version = "3.5.5"
    conf = Conf()


def test_without_hudi_on_the_class_path_the_error_says_so(monkeypatch):
    monkeypatch.setattr("handler.spark.registration.has_hudi", lambda _: False)
    with pytest.raises(UnsupportedError, match=r"Hudi's Spark bundle is not on the class path.*handler\.spark\.read"):
        register(Session35())


def test_with_spark_connect_the_error_says_what_the_server_needs(monkeypatch):
    monkeypatch.setattr("handler.spark.registration.has_jvm", lambda _: False)
    with pytest.raises(UnsupportedError, match=r"spark\.sql\.extensions=io\.sargo\.spark\.Sargo.*sargo serve"):
        register(Session35())


def test_why_the_extension_cannot_be_installed_is_said(monkeypatch):
    def failing(*_):
        raise UnsupportedError("no jar for this version")

    monkeypatch.setattr("handler.spark.registration.has_hudi", lambda _: True)
    monkeypatch.setattr("handler.spark.registration.install_extension", failing)
    with pytest.raises(UnsupportedError, match="no jar for this version"):
        register(Session35())


@pytest.mark.nightly
def test_a_session_without_hudi_gets_no_extension_and_no_sidecar(spark):
    assert not installing.has_hudi(spark)
    before = spark.conf.get("spark.sargo.sidecar.address", "")
    if sys.modules.get("pyspark.sql.datasource"):
        assert register(spark)
    assert spark.conf.get("spark.sargo.sidecar.address", "") == before


def test_the_extension_is_installed_once_and_later_sessions_have_it(spark):
    """On any Spark that there is a jar for: without Hudi's tables the rules find nothing."""
    try:
        spark_jar(spark.version)
    except MissingError as error:
        pytest.skip(str(error))
    session = spark.newSession()
    installing.install_extension(session)
    ours = sidecar_of_process()
    names = ("spark.sargo.sidecar.address", "spark.sargo.secret", "spark.sargo.extension.applied")
    settings = [session.conf.get(name) for name in names]
    assert settings[:2] == [ours.address, ours.secret]
    installing.install_extension(session)
    assert [session.conf.get(name) for name in names] == settings
    later = spark.newSession()
    assert [later.conf.get(name) for name in names] == settings
    assert later.range(5).where("id > 2").count() == 2
    redacted = str(spark._jsparkSession.sessionState().conf().redactOptions(
        spark._jvm.PythonUtils.toScalaMap({"spark.sargo.secret": ours.secret})
    ))  # fmt: skip
    assert ours.secret not in redacted


def test_an_address_that_the_user_has_set_is_kept(spark, monkeypatch):
    try:
        spark_jar(spark.version)
    except MissingError as error:
        pytest.skip(str(error))
    session = spark.newSession()
    session.conf.set("spark.sargo.sidecar.address", "sidecar.example:10950")
    session.conf.unset("spark.sargo.extension.applied")
    monkeypatch.setattr(installing, "_ask_in_process", lambda *_: pytest.fail("a sidecar is started"))
    installing.install_extension(session)
    assert session.conf.get("spark.sargo.sidecar.address") == "sidecar.example:10950"
