"""``sargo jar`` and ``sargo conf``, from a checkout and from the files of a wheel that is built without Maven."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from handler.cli.main import main
from handler.shipped import artefacts
from handler.sidecar.recording.metrics import BECAUSE, Metrics
from handler.sidecar.settings import Settings
from handler.version import VERSION

ROOT = Path(__file__).parents[3]
HIVE_CONF = ROOT / "hive_conf"
#: What a build needs of the sources; the jar's and the packages' sources are taken whole.
SOURCES = ["*.md", "LICENSE", "Makefile", "MANIFEST.in", "pyproject.toml", "setup.py", "requirements*.lock"]
FOLDERS = ["evaluator", "handler", "hive_conf", "index_store", "sarg", "sargo"]
BUILD = """
import sys
from setuptools import build_meta
print(getattr(build_meta, sys.argv[1])(sys.argv[2]))
"""


def sargo(*arguments):
    return CliRunner().invoke(main, list(arguments))


# -- from a checkout


def test_every_file_of_hive_conf_is_given_by_a_name():
    given = [file for files in artefacts.CONFIGURATIONS.values() for file in files]
    assert sorted(given) == sorted(path.name for path in HIVE_CONF.iterdir())


def test_the_command_takes_the_names_that_there_are():
    command = main.get_command(click.Context(main), "conf")
    names = command.params[0].type.choices
    assert list(names) == list(artefacts.CONFIGURATIONS)
    for name in names:
        assert name in command.help


@pytest.mark.parametrize("name", [name for name, files in artefacts.CONFIGURATIONS.items() if len(files) == 1])
def test_a_single_file_is_printed_as_it_stands(name):
    done = sargo("conf", name)
    assert done.exit_code == 0
    assert done.output == (HIVE_CONF / artefacts.CONFIGURATIONS[name][0]).read_text("utf-8")


def test_prometheus_is_two_documents_and_two_files(tmp_path):
    documents = list(yaml.safe_load_all(sargo("conf", "prometheus").output))
    assert [sorted(document) for document in documents] == [["rule_files", "scrape_configs"], ["groups"]]
    done = sargo("conf", "prometheus", "--copy-to", str(tmp_path / "a" / "b"))
    copies = [Path(line) for line in done.output.splitlines()]
    assert [yaml.safe_load(path.read_text("utf-8")) for path in copies] == documents
    assert documents[0]["rule_files"] == [copies[1].name]


def test_prometheus_reads_where_the_sidecar_listens_and_alerts_on_what_it_has():
    scrape, alerts = yaml.safe_load_all(sargo("conf", "prometheus").output)
    fields = Settings.model_fields
    address = f"{fields['metrics_host'].default}:{fields['metrics_port'].default}"
    assert scrape["scrape_configs"][0]["static_configs"][0]["targets"] == [address]
    check_expressions([rule["expr"] for group in alerts["groups"] for rule in group["rules"]], at_least=6)


def exported():
    """Metrics of the sidecar as Prometheus sees them, and the names of all labels."""
    text = Path(ROOT / "handler/sidecar/run.py").read_text("utf-8")
    described = [
        (metric.describe()[0], set(metric._labelnames))
        for metric in vars(Metrics()).values()
        if hasattr(metric, "_labelnames")
    ]
    labels = {name: set() for name in re.findall(r'watch\(\s*"(\w+)"', text)}
    for metric, names in described:
        endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}.get(metric.type, ("",))
        for ending in endings:
            labels[metric.name + ending] = names | ({"le"} if ending == "_bucket" else set())
    return labels


def check_expressions(expressions, at_least):
    """Each metric and each of its labels is one that the sidecar exports, and each value of a label that is closed."""
    known, used = exported(), set()
    for text in expressions:
        names = re.findall(r"\b(sargo_\w+)(?:\{([^}]*)\})?", text)
        used |= {name for name, _ in names}
        assert {name for name, _ in names} <= known.keys(), text
        allowed = {"instance", "job"}.union(*(known[name] for name, _ in names))
        for name, matchers in names:
            found = dict(re.findall(r'(\w+)\s*=~?\s*"([^"]*)"', matchers))
            assert set(found) <= known[name] | {"instance", "job"}, text
            if name == "sargo_skipped_nothing_total":
                assert found.get("because", "time") in BECAUSE
        for group in re.findall(r"\bby \(([^)]*)\)", text):
            assert {label.strip() for label in group.split(",")} <= allowed, text
    assert len(used) >= at_least


def test_the_dashboard_shows_metrics_that_there_are():
    dashboard = json.loads(sargo("conf", "grafana").output)
    panels = dashboard["panels"]
    check_expressions([target["expr"] for panel in panels for target in panel["targets"]], at_least=12)
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    assert [variable["name"] for variable in dashboard["templating"]["list"]] == ["datasource", "instance"]
    assert "label_values(sargo_tables_open, instance)" in json.dumps(dashboard)


@pytest.mark.parametrize(
    "text", ["sargo_nothing", 'sargo_requests_total{table="t"}', "sum by (user) (sargo_tables_open)"]
)
def test_an_expression_of_what_is_not_exported_is_found(text):
    with pytest.raises(AssertionError):
        check_expressions([text], at_least=0)


def test_the_causes_of_closed_connections_in_the_alerts_are_said_by_the_sidecar():
    source = "".join((ROOT / f"handler/sidecar/{name}.py").read_text("utf-8") for name in ("server", "connection"))
    alerts = (HIVE_CONF / "sargo-alerts.yml").read_text("utf-8")
    for cause in re.search(r'because=~"([^"]+)"', alerts)[1].split("|"):
        assert f'"{cause}"' in source


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not here (Debian: prometheus)")
def test_promtool_finds_nothing_wrong(tmp_path):
    assert sargo("conf", "prometheus", "--copy-to", str(tmp_path)).exit_code == 0
    words = ["promtool", "check", "config", str(tmp_path / "prometheus.yml")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_copy_replaces_a_file_and_leaves_no_other(tmp_path):
    (tmp_path / "hive-site-4.xml").write_text("old")
    assert sargo("conf", "hive4", "--copy-to", str(tmp_path)).output == f"{tmp_path / 'hive-site-4.xml'}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["hive-site-4.xml"]
    assert (tmp_path / "hive-site-4.xml").read_bytes() == (HIVE_CONF / "hive-site-4.xml").read_bytes()


@pytest.mark.parametrize("folder", ["", "\0", "{tmp}/a file", "{tmp}/a file/below"])
def test_a_folder_that_cannot_be_written_is_bad_input(folder, tmp_path):
    (tmp_path / "a file").write_text("")
    done = sargo("conf", "hive4", "--copy-to", folder.replace("{tmp}", str(tmp_path)))
    assert done.exit_code == 2
    assert done.stderr.startswith("sargo: ")
    assert done.stderr.count("\n") == 1


def test_the_source_of_own_scans_is_given(tmp_path):
    done = sargo("jar", "--own-scans", "--copy-to", str(tmp_path))
    assert "class OwnScans" in Path(done.output.strip()).read_text("utf-8")


def test_a_checkout_without_the_jar_says_how_to_build_it(monkeypatch, tmp_path):
    (tmp_path / "handler/java").mkdir(parents=True)
    (tmp_path / "handler/java/pom.xml").write_text("")
    monkeypatch.setattr(artefacts, "_ROOT", tmp_path)
    done = sargo("jar")
    assert (done.exit_code, done.stdout) == (4, "")
    assert "'make jar' builds " in done.stderr
    built = tmp_path / "handler/java/target/sargo-hive.jar"
    built.parent.mkdir()
    built.write_bytes(b"PK")
    assert sargo("jar").output == f"{built}\n"


@pytest.mark.parametrize("version", ["3.4.1", "4.10.0", "5.0", "35", "4", ""])
def test_there_is_no_jar_for_another_version_of_spark(version):
    done = sargo("jar", "--spark", version)
    assert (done.exit_code, done.stdout) == (4, "")
    assert "only for 3.5, 4.0, 4.1, 4.2, 4.3" in done.stderr


def test_the_jars_say_the_same_versions_of_spark():
    said = {}
    for source in (ROOT / "handler/java/spark/src").glob("scala-*/java/io/sargo/spark/shims/SparkLine.java"):
        said[source.relative_to(ROOT).parts[4]] = re.findall(r'"(\d+\.\d+)"', source.read_text("utf-8"))
    assert said == {
        "scala-2.12": [version for version, engine in artefacts.SPARKS.items() if engine == "Spark 3.5"],
        "scala-2.13": [version for version, engine in artefacts.SPARKS.items() if engine == "Spark 4"],
    }


def test_one_file_is_named_at_a_time():
    assert sargo("jar", "--own-scans", "--spark", "3.5").exit_code == 2


# -- from a wheel


def copy_sources(folder):
    folder.mkdir()
    for pattern in SOURCES:
        for path in ROOT.glob(pattern):
            shutil.copy(path, folder)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "target"))


def build(folder, what, out):
    """What a hook of the build backend writes, and what it says."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONPATH": ""}
    out.mkdir(exist_ok=True)
    done = subprocess.run([sys.executable, "-c", BUILD, what, str(out)], cwd=folder, env=environment,
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1], done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, the wheels that are built from it without and with a jar, in two folders; what the builds said."""
    pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path_factory.mktemp("wheel")
    copy_sources(folder / "checkout")
    sdist, _ = build(folder / "checkout", "build_sdist", folder / "sdist")
    for name in ("one", "two"):
        (folder / name).mkdir()
        with tarfile.open(sdist) as archive:
            archive.extractall(folder / name, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    one, two = (folder / name / f"sargo-{VERSION}" for name in ("one", "two"))
    bare, said = build(one, "build_wheel", folder / "bare")
    for engine, jar in artefacts.JARS.items():
        (two / jar).parent.mkdir(parents=True)
        (two / jar).write_bytes(f"PK a jar for {engine}".encode())
    wheel, quiet = build(two, "build_wheel", folder / "wheel")
    return {"sdist": sdist, "bare": bare, "said": said, "wheel": wheel, "quiet": quiet}


def members(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_wheel_carries_the_jars_and_the_settings(built):
    found = members(built["wheel"])
    for engine, jar in artefacts.JARS.items():
        assert found[f"handler/shipped/{Path(jar).name}"] == f"PK a jar for {engine}".encode()
    for path in HIVE_CONF.iterdir():
        assert found[f"handler/shipped/hive_conf/{path.name}"] == path.read_bytes()
    assert found["handler/spark/source/OwnScans.java"]
    assert found["sargo/py.typed"] == b""
    assert not [name for name in found if name.startswith(("handler/java", "tests", "setup"))]
    assert "no jar for" not in built["quiet"]


def test_a_wheel_holds_every_file_of_the_packages(built):
    held = set(members(built["wheel"]))
    for package in ("evaluator", "handler", "index_store", "sarg", "sargo"):
        for path in (ROOT / package).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not name.startswith("handler/java/"):
                assert name in held, f"{name} is missing: name it in [tool.setuptools.package-data]"


def test_a_wheel_without_the_jars_is_built_and_the_build_says_so(built):
    for engine in artefacts.JARS:
        assert f"this wheel carries no jar for {engine}" in built["said"]
    assert "make dist" in built["said"]
    assert not [name for name in members(built["bare"]) if name.endswith(".jar")]


def test_the_same_sources_give_the_same_bytes(built):
    """Two wheels differ by the jars alone; `make dist` compares whole artefacts."""

    def entries(wheel):
        with zipfile.ZipFile(wheel) as archive:
            return [
                (one.filename, one.date_time, one.external_attr, one.CRC)
                for one in archive.infolist()
                if not one.filename.endswith((".jar", "/RECORD"))
            ]

    assert entries(built["wheel"]) == entries(built["bare"])
    assert {date for _, date, _, _ in entries(built["wheel"])} == {(2023, 11, 14, 22, 13, 20)}
    with tarfile.open(built["sdist"]) as archive:
        members = archive.getmembers()
    assert {(one.mtime, one.uid, one.uname) for one in members} == {(1700000000, 0, "")}
    assert {one.mode for one in members} <= {0o644, 0o755}


def test_the_metadata_has_the_version_the_extras_and_the_command(built):
    found = members(built["wheel"])
    folder = f"sargo-{VERSION}.dist-info"
    metadata = found[f"{folder}/METADATA"].decode()
    assert f"\nVersion: {VERSION}\n" in metadata
    assert {"spark", "sidecar", "html"} <= set(re.findall(r"^Provides-Extra: (\S+)$", metadata, re.MULTILINE))
    assert "sargo = sargo.__main__:run" in found[f"{folder}/entry_points.txt"].decode()
    assert f"{folder}/licenses/LICENSE" in found


def test_the_source_archive_holds_what_builds_the_jars(built):
    with tarfile.open(built["sdist"]) as archive:
        names = set(archive.getnames())
    for path in (*(ROOT / "handler/java/src").rglob("*.java"), *(ROOT / "handler/java/spark/src").rglob("*.java")):
        assert f"sargo-{VERSION}/{path.relative_to(ROOT).as_posix()}" in names
    for name in (
        "handler/java/pom.xml",
        "handler/java/spark/pom.xml",
        "Makefile",
        "setup.py",
        "LICENSE",
        "hive_conf/Containerfile",
    ):
        assert f"sargo-{VERSION}/{name}" in names


def test_an_installed_wheel_gives_its_own_files(built, tmp_path):
    """Unpacked beside nothing of the checkout, as pip does it."""
    for kind in ("wheel", "bare"):
        with zipfile.ZipFile(built[kind]) as archive:
            archive.extractall(tmp_path / kind)

    def run(kind, *arguments):
        program = "import sys; sys.path.insert(0, sys.argv.pop(1)); from handler.cli.process import run; run()"
        return subprocess.run([sys.executable, "-c", program, str(tmp_path / kind), *arguments], cwd=tmp_path,
                              capture_output=True, text=True, timeout=60, check=False)  # fmt: skip

    jar = run("wheel", "jar").stdout.strip()
    assert Path(jar) == tmp_path / "wheel/handler/shipped/sargo-hive.jar"
    copy = run("wheel", "jar", "--copy-to", "here").stdout.strip()
    assert (tmp_path / copy).read_bytes() == b"PK a jar for Hive"
    spark4 = "sargo-spark-4_2.13.jar"
    for version, name in (("3.5.5", "sargo-spark-3.5_2.12.jar"), ("4.0.1", spark4), ("4.3", spark4)):
        assert run("wheel", "jar", "--spark", version).stdout.strip() == str(tmp_path / "wheel/handler/shipped" / name)
    assert run("wheel", "conf", "systemd").stdout == (HIVE_CONF / "sargo-sidecar.service").read_text("utf-8")
    missing = run("bare", "jar")
    assert (missing.returncode, missing.stdout) == (4, "")
    assert "was built without the jar for Hive" in missing.stderr
    assert missing.stderr.count("\n") == 1
    assert run("bare", "conf", "hive3").returncode == 0
