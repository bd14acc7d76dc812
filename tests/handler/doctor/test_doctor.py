"""``sargo doctor`` finds what is wrong with an installation, and nothing wrong with one that is right."""

import json
import struct
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from handler.cli.main import main
from handler.doctor.hudi import BUNDLE, THIN, check_hudi, check_reader
from handler.doctor.jar import check_jar
from handler.doctor.settings import check_settings, site_settings
from handler.doctor.sidecar import check_filter, check_sidecar, check_table
from handler.sidecar.client import Client, ClientError

HIVE_CONF = Path(__file__).parents[3] / "hive_conf"
GOOD = {
    "hive.optimize.index.filter": "true",
    "hive.input.format": "org.apache.hadoop.hive.ql.io.HiveInputFormat",
    "hoodie.file.group.reader.enabled": "false",
    "sargo.sidecar.address": "sargo:10950",
    "hive.aux.jars.path": "file:///opt/hive/auxlib/sargo-hive.jar",
}


def states(findings):
    return [finding.state for finding in findings]


def jar_at(path, major=52, told=None, extra=()):
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
        jar.writestr("META-INF/maven/io.sargo/sargo-hive/pom.properties", f"version={told or version('sargo')}\n")
        jar.writestr("io/sargo/hive/PruningInputFormat.class", struct.pack("!IHH", 0xCAFEBABE, 0, major))
        for name in extra:
            jar.writestr(name, b"")
    return path


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, ["ok"]),
        ({"told": "0.0.1"}, ["warning"]),
        ({"told": f"{version('sargo')}-SNAPSHOT"}, ["ok"]),
        ({"major": 61}, ["ok", "failed"]),
        ({"extra": ["org/apache/thrift/TBase.class"]}, ["ok", "failed"]),
        ({"extra": ["io/sargo/shaded/thrift/TBase.class"]}, ["ok"]),
    ],
    ids=str,
)
def test_a_jar_is_looked_into(tmp_path, given, found):
    assert states(check_jar(jar_at(tmp_path / "sargo.jar", **given))) == found


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", None], ids=repr)
def test_what_is_no_jar_of_ours_is_named(tmp_path, content):
    path = tmp_path / "other.jar"
    if content is not None:
        path.write_bytes(content)
    [finding] = check_jar(path)
    assert finding.state == "failed"
    assert str(path) in finding.text
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("a", b"")
    assert states(check_jar(path)) == ["failed"]


@pytest.mark.parametrize("name", ["hive-site-3.1.xml", "hive-site-4.xml"])
def test_the_fragments_that_administrators_copy_are_found_right(name):
    settings = site_settings([HIVE_CONF / name])  # without the place of the jar, which is the administrator's
    assert "hive.aux.jars.path" not in settings
    settings["hive.aux.jars.path"] = GOOD["hive.aux.jars.path"]
    assert states(check_settings(settings, name)) == ["ok"]


@pytest.mark.parametrize(
    ("key", "value", "state"),
    [
        ("hive.optimize.ppd", "false", "failed"),
        ("hive.optimize.ppd.storage", "FALSE", "failed"),
        ("hive.optimize.index.filter", "false", "failed"),
        ("hive.optimize.index.filter", None, "warning"),
        ("hive.input.format", None, "failed"),
        ("hoodie.file.group.reader.enabled", None, "failed"),
        ("sargo.enabled", "false", "failed"),
        ("sargo.sidecar.address", None, "failed"),
        ("sargo.sidecar.address", "elsewhere:1", "warning"),
    ],
    ids=str,
)
def test_a_setting_that_keeps_filters_away_is_named_with_its_cure(key, value, state):
    settings = {name: text for name, text in {**GOOD, key: value}.items() if text is not None}
    findings = list(check_settings(settings, "x", address="sargo:10950"))
    assert states(findings)[0] == state
    assert "sargo:10950" in findings[0].remedy if "address" in key else key in findings[0].remedy


@pytest.mark.parametrize(
    ("paths", "state"),
    [
        (None, "warning"),
        ("", "warning"),
        ("/opt/other.jar,file:///opt/hive/auxlib/more.jar", "warning"),
        ("/opt/sargo/other.jar", "warning"),
        ("/opt/other.jar, file:///opt/hive/auxlib/sargo-hive-0.2.jar", "ok"),
        ("hdfs://nn/jars/Sargo.jar", "ok"),
        ("/opt/hive/auxlib/", "ok"),
    ],
)
def test_the_jar_has_to_reach_tasks_and_application_masters(paths, state):
    settings = {name: text for name, text in {**GOOD, "hive.aux.jars.path": paths}.items() if text is not None}
    findings = list(check_settings(settings, "x"))
    assert states(findings) == (["warning", "ok"] if state == "warning" else ["ok"])
    if state == "warning":
        assert "Failed to load plan" in findings[0].text


def test_one_loopback_of_a_list_is_warned_of_under_tez():
    settings = {**GOOD, "hive.execution.engine": "tez", "sargo.sidecar.address": "sargo:10950, [::1]:10950"}
    [warning, _] = check_settings(settings, "x")
    assert (warning.state, "[::1]:10950" in warning.text) == ("warning", True)


def test_under_tez_another_address_than_the_machines_own_is_asked_for():
    settings = {**GOOD, "hive.execution.engine": "tez", "sargo.sidecar.address": "127.0.0.1:10950"}
    del settings["hive.input.format"]  # MapReduce's concern
    assert states(check_settings(settings, "x")) == ["warning", "ok"]


@pytest.mark.parametrize("manager", ["SQLStdHiveAuthorizerFactory", "org.apache.ranger.RangerHiveAuthorizerFactory"])
def test_authorization_that_refuses_settings_of_a_session_is_named(manager):
    on = {"hive.security.authorization.enabled": "true", "hive.security.authorization.manager": manager}
    key = "hive.security.authorization.sqlstd.confwhitelist"
    [warning, _] = check_settings({**GOOD, **on, key: r"hive\.cbo\..*|mapred.*|("}, "x")
    assert warning.state == "warning"
    assert rf"set {key}.append=sargo\..*" in warning.remedy
    assert states(check_settings({**GOOD, **on, f"{key}.append": r"tez\..*|sargo\..*"}, "x")) == ["ok"]
    assert states(check_settings({**GOOD, **on, "hive.security.authorization.enabled": "false"}, "x")) == ["ok"]


THIN_JARS = [f"{name}-1.0.2.jar" for name in THIN]


@pytest.mark.parametrize(
    ("names", "state", "text"),
    [
        (THIN_JARS, "ok", "Hudi's jars 1.0.2, as in Sargo's tests"),
        ([name.replace("1.0.2", "0.15.0") for name in THIN_JARS], "ok", "Hudi's jars 0.15.0; Sargo's tests run"),
        (["hudi-hadoop-mr-bundle-1.0.2.jar", "hive-exec-4.0.1.jar"], "ok", f"{BUNDLE} 1.0.2; Sargo's tests run"),
        (["hudi-hadoop-mr-bundle-1.0.2.jar", *THIN_JARS], "warning", f"{BUNDLE} holds hudi-common"),
        (THIN_JARS[1:], "failed", "without hudi-common"),
        ([*THIN_JARS[1:], "hudi-common-1.1.0-rc1.jar"], "failed", "jars of Hudi 1.0.2 and 1.1.0-rc1 are mixed"),
        ([*THIN_JARS, "hudi-common-0.15.0.jar"], "failed", "hudi-common is there as 0.15.0 and 1.0.2"),
        (["hudi-spark3.5-bundle_2.12-1.0.2.jar"], "failed", "no jar of Hudi for Hive in "),
        ([], "failed", "no jar of Hudi for Hive in "),
    ],
)
def test_jars_of_hudi_are_told_by_name_and_version(tmp_path, names, state, text):
    for name in names:
        (tmp_path / name).touch()
    first, *others = check_hudi([tmp_path])
    assert first.state == state
    assert text in first.text
    assert "failed" not in states(others) or state == "failed"
    assert states(check_hudi(tmp_path / name for name in names))[0] == (state if names else "failed")


@pytest.mark.parametrize(
    ("table", "jars", "state"),
    [
        ("1.1.1_main_cow", ["hudi-hadoop-mr-1.0.2.jar"], "failed"),
        ("1.1.1_main_cow", ["hudi-hadoop-mr-bundle-0.15.0.jar"], "failed"),
        ("1.1.1_main_cow", ["hudi-hadoop-mr-bundle-1.1.0.jar"], None),
        ("1.1.1_main_cow", ["hudi-hadoop-mr-1.10.0.jar"], None),
        ("1.1.1_main_cow", [], "warning"),
        ("1.0.2_main_cow", ["hudi-hadoop-mr-1.0.2.jar"], None),
        ("0.15.0_main_cow", [], None),
    ],
)
def test_a_table_that_hudi_s_reader_is_too_old_for_is_named(unpack, tmp_path, table, jars, state):
    for name in jars:
        (tmp_path / name).touch()
    findings = list(check_reader(str(unpack(table)), [tmp_path]))
    assert states(findings) == ([state] if state else [])
    assert all("has version 9" in finding.text for finding in findings)


def test_a_folder_that_is_not_there_is_bad_input(tmp_path):
    result = CliRunner().invoke(main, ["doctor", "--hive-lib", str(tmp_path / "none")])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "No such file" in result.stderr


def test_a_dead_sidecar_is_reported_once(main_cow):
    tables = ["--table", str(main_cow)] * 2
    result = CliRunner().invoke(main, ["doctor", "--sidecar", "127.0.0.1:1", *tables])
    assert result.exit_code == 1
    assert result.stdout.count("Connection refused") == 1
    assert result.stdout.count("FAILED") == 1


def test_each_sidecar_of_a_list_is_looked_at(sidecar, main_cow):
    pool = [f"127.0.0.1:{sidecar(roots=[str(main_cow)]).port}" for _ in range(2)]
    addresses = ",".join([pool[0], "127.0.0.1:1", pool[1]])
    command = ["doctor", "--sidecar", addresses, "--table", str(main_cow), "--json"]
    result = CliRunner().invoke(main, command)
    findings = json.loads(result.stdout)["findings"]
    assert result.exit_code == 1
    assert [one["state"] for one in findings] == ["ok", "failed", "ok", "ok", "ok", "ok", "ok", "ok"]
    for address in pool:
        assert [one["check"] for one in findings if address in one["text"]] == ["sidecar", "table", "listing"]
    assert "127.0.0.1:1" in findings[1]["text"]


def test_a_query_is_counted_whichever_sidecar_of_a_list_hive_asks(sidecar, main_cow):
    clients = [Client(f"127.0.0.1:{sidecar(roots=[str(main_cow)]).port}") for _ in range(2)]

    def ask(statement):
        if statement.startswith("SELECT"):
            clients[1].prune(str(main_cow), b"", ())
        return [("filterExpr:",)]

    assert states(check_filter(ask, "trips", "id", *clients)) == ["ok"]


def test_an_address_of_a_list_that_is_none_is_bad_input():
    result = CliRunner().invoke(main, ["doctor", "--sidecar", "a:1,b"])
    assert (result.exit_code, "'b' is not HOST:PORT" in result.stderr) == (2, True)


def test_a_login_with_a_password_needs_the_file_of_it(tmp_path):
    pytest.importorskip("pyhive.hive")
    command = ["doctor", "--hive", "127.0.0.1:1", "--auth", "LDAP"]
    assert "--auth LDAP needs --password-file" in CliRunner().invoke(main, command).stderr
    none = CliRunner().invoke(main, [*command, "--password-file", str(tmp_path / "none")])
    assert (none.exit_code, "No such file" in none.stderr) == (2, True)


def test_a_sidecar_that_is_well_is_found_well(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)])
    client = Client(f"127.0.0.1:{running.port}")
    assert states(check_sidecar("x", client)) == ["ok"]
    assert states(check_table(str(main_cow), client)) == ["ok", "ok", "ok"]
    assert "sargo:" not in client.version()


def test_what_is_wrong_with_a_sidecar_is_named(sidecar, main_cow, tmp_path):
    shadow = sidecar(roots=[str(main_cow)], shadow=True, secret="s3cret")
    address = f"127.0.0.1:{shadow.port}"
    assert states(check_sidecar("x", Client(address))) == ["ok", "warning"]
    [refused, _] = check_table(str(main_cow), Client(address))
    assert (refused.state, "--secret-file" in refused.remedy) == ("failed", True)
    [outside, _] = check_table(str(tmp_path), Client(address, secret="s3cret"))
    assert (outside.state, "roots" in outside.remedy) == ("failed", True)
    assert states(check_table(str(main_cow), Client(address, secret="s3cret"))) == ["ok", "ok", "ok"]
    shadow.stop()
    assert states(check_sidecar("x", Client(address))) == ["failed"]


def test_a_client_speaks_tls(sidecar, main_cow, certificates):
    running = sidecar(
        roots=[str(main_cow)],
        tls_certificate=certificates / "cert.pem",
        tls_key=certificates / "key.pem",
        read_seconds=2,
    )
    address = f"localhost:{running.port}"
    assert json.loads(Client(address, tls_ca=certificates / "ca.pem").health())["status"] == "ok"
    with pytest.raises(ClientError):
        Client(address, seconds=5).health()
    with pytest.raises(ClientError, match="nowhere"):
        Client(address, tls_ca=Path("nowhere"))


def test_a_table_without_statistics_is_named(unpack, tmp_path):
    assert states(check_table(str(tmp_path))) == ["failed"]
    table = unpack("1.1.1_main_cow")
    assert states(check_table(str(table))) == ["ok"]


@pytest.mark.parametrize(
    ("plan", "asks", "words", "state"),
    [
        ("TableScan\n filterExpr: id is not null", True, "asked the sidecar", "ok"),
        ("TableScan\n filterExpr: id is not null", False, "nobody asked", "failed"),
        ("TableScan", False, "carries no filter", "failed"),
        (None, False, "the query fails", "failed"),
    ],
    ids=str,
)
def test_a_query_through_hive_shows_whether_filters_arrive(sidecar, main_cow, plan, asks, words, state):
    running = sidecar(roots=[str(main_cow)])
    client = Client(f"127.0.0.1:{running.port}")

    def ask(statement):  # HiveServer2, as far as the doctor knows it
        if statement.startswith("DESCRIBE"):
            return [("_hoodie_commit_time", "string", ""), ("id", "string", "")]
        if statement.startswith("EXPLAIN"):
            if plan is None:
                raise RuntimeError("SemanticException")
            return [(line,) for line in plan.splitlines()]
        assert statement == "SELECT count(*) FROM trips WHERE id IS NOT NULL"
        if asks:
            client.prune(str(main_cow), b"", ())
        return [(1,)]

    [finding] = check_filter(ask, "trips", None, client)
    assert finding.state == state
    assert words in finding.text


def test_the_command_ends_with_a_code_and_prints_json(sidecar, main_cow, tmp_path):
    running = sidecar(roots=[str(main_cow)])
    jar = jar_at(tmp_path / "sargo.jar")
    good = CliRunner().invoke(
        main,
        ["doctor", "--jar", str(jar), "--sidecar", f"127.0.0.1:{running.port}", "--table", str(main_cow), "--json"],
    )
    document = json.loads(good.stdout)
    assert (good.exit_code, document["ok"], len(document["findings"])) == (0, True, 6)
    bad = CliRunner().invoke(main, ["doctor", "--table", str(tmp_path)])
    assert bad.exit_code == 1
    assert "FAILED" in bad.stdout
    assert "do: " in bad.stdout


@pytest.mark.parametrize(
    "arguments", [[], ["--sidecar", "here"], ["--hive-site", "/none.xml"], ["--hive", "nowhere"]], ids=str
)
def test_bad_input_ends_with_one_line_and_code_2(arguments):
    result = CliRunner().invoke(main, ["doctor", *arguments])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_damaged_jar_is_a_finding_and_no_error(tmp_path):
    """Bytes of an archive are changed: entries that are encrypted, of a later version, cut or no deflate."""
    with zipfile.ZipFile(tmp_path / "good.jar", "w", zipfile.ZIP_DEFLATED) as jar:
        jar.writestr("io/sargo/hive/PruningInputFormat.class", struct.pack("!IHH", 0xCAFEBABE, 0, 52) * 100)
        jar.writestr("META-INF/MANIFEST.MF", f"Implementation-Version: {version('sargo')}\n" * 100)
    good = (tmp_path / "good.jar").read_bytes()
    for position in range(len(good)):
        for pattern in (0x01, 0xFF):
            (tmp_path / "bad.jar").write_bytes(
                good[:position] + bytes([good[position] ^ pattern]) + good[position + 1 :]
            )
            assert list(check_jar(tmp_path / "bad.jar")), position
