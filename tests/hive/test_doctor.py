"""``sargo doctor`` against a running HiveServer2: it reports whether a query makes Hive ask the sidecar."""

import json

import pytest
from click.testing import CliRunner

from handler.cli.main import main
from tests.hive.server import ROOT

pytestmark = pytest.mark.hive


def examine(hive, table, *more):
    result = CliRunner().invoke(
        main,
        [
            "doctor",
            "--json",
            "--jar",
            str(ROOT / "handler/java/target/sargo-hive.jar"),
            "--user",
            "sargo",
            "--hive",
            f"127.0.0.1:{hive.server.port}",
            "--hive-table",
            table,
            "--hive-column",
            "id",
            "--sidecar",
            hive.sidecar.address,
            *more,
        ],
    )
    findings = json.loads(result.stdout)["findings"]
    return {finding["check"]: (finding["state"], finding["text"]) for finding in findings}, result.exit_code


def test_an_installation_that_skips_files_is_found_well(hive401):
    for table in ("native_trips", "stored_flat"):
        states, code = examine(hive401, table)
        assert states["filter"] == ("ok", f"{table}: a query with a filter asked the sidecar")
        assert {check: state for check, (state, _) in states.items()} == dict.fromkeys(states, "ok")
        assert code == 0


def test_a_table_with_hudis_own_input_format_is_found_not_to_ask(hive401):
    states, code = examine(hive401, "plain_trips")
    assert states["filter"][0] == "failed"
    assert "nobody asked" in states["filter"][1]
    assert code == 1


def test_a_login_with_a_password_reaches_hive(hive401, tmp_path):
    """HiveServer2 without authentication takes any password of SASL PLAIN, which LDAP and CUSTOM use as well."""
    (tmp_path / "password").write_text("secret\n")
    states, code = examine(hive401, "native_trips", "--auth", "LDAP", "--password-file", str(tmp_path / "password"))
    assert (states["filter"][0], code) == ("ok", 0)
