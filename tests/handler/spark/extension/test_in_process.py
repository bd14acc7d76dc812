"""The sidecar of the driver's process: shared, secret, ended with the interpreter, and not its child's after a fork."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from handler import open_table, prune
from handler.sidecar.client.one_address import Client
from handler.sidecar.idl import Refused
from handler.spark.extension.in_process import sidecar_of_process
from tests.handler.sidecar.test_spark_filter import I_IS_100, one_of

ROOT = Path(__file__).parents[4]


def client(sidecar, secret=None):
    return Client(sidecar.address, 10.0, None, secret or sidecar.secret)


def names_of(table):
    return [item.base_file for item in open_table(table).at().slices]


def test_sessions_share_one_and_any_table_is_answered_for(main_cow, unpack):
    ours = sidecar_of_process()
    assert sidecar_of_process({}) == ours
    for table in (main_cow, unpack("1.1.1_nan_cow")):
        reply = client(ours).prune(str(table), I_IS_100, names_of(table), "spark-ansi")
        assert reply.covered == len(names_of(table))
    assert ours.address.startswith("127.0.0.1:")


def test_other_storage_options_have_a_sidecar_of_their_own():
    assert sidecar_of_process({"region": "eu-1"}) != sidecar_of_process()
    assert sidecar_of_process({"region": "eu-1"}) == sidecar_of_process({"region": "eu-1"})


def test_nobody_is_answered_without_the_secret(main_cow):
    ours = sidecar_of_process()
    with pytest.raises(Refused, match="secret"):
        client(ours, "another").prune(str(main_cow), I_IS_100, names_of(main_cow), "spark-ansi")


def test_settings_of_the_served_sidecar_are_not_taken(monkeypatch):
    monkeypatch.setenv("SARGO_SIDECAR_PORT", "1")
    monkeypatch.setenv("SARGO_SIDECAR_SHADOW", "true")
    assert not sidecar_of_process({"a": "1"}).address.endswith(":1")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_after_a_fork_the_child_has_closed_the_sockets_and_starts_its_own(main_cow, tmp_path):
    script = f"""
        import os
        from handler.sidecar.client.one_address import Client
        from handler.spark.extension.in_process import sidecar_of_process
        parent = sidecar_of_process()
        Client(parent.address, 5.0, None, parent.secret).health()
        if (child := os.fork()) == 0:
            own = sidecar_of_process()
            assert own.address != parent.address, "the child took the parent's"
            Client(own.address, 5.0, None, own.secret).health()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        Client(parent.address, 5.0, None, parent.secret).prune({str(main_cow)!r}, {I_IS_100!r}, ["x"], "spark-ansi")
        print("both")
    """
    assert run_script(script, tmp_path) == "both\n"


def test_it_ends_with_the_interpreter_and_a_script_without_a_guard_runs_once(main_cow, tmp_path):
    """An expensive filter is planned in a process of its own, which must not begin with the user's script."""
    sent, names = one_of(400), names_of(main_cow)
    script = f"""
        with open({str(tmp_path / "runs")!r}, "a") as file:
            file.write("run ")
        from handler.sidecar.client.one_address import Client
        from handler.spark.extension.in_process import sidecar_of_process
        ours = sidecar_of_process()
        client = Client(ours.address, 20.0, None, ours.secret)
        for _ in range(20):  # on a busy machine a first question may end before its process has begun
            reply = client.prune({str(main_cow)!r}, {sent!r}, {names!r}, "spark-ansi")
            if reply.skipped:
                break
        print(ours.address, reply.skipped)
    """
    address, skipped = run_script(script, tmp_path).split()
    plan = prune(main_cow, " OR ".join(f"i = {number}" for number in range(400)), "spark-ansi", time_zone="UTC")
    assert int(skipped) == len(plan.skipped)
    assert (tmp_path / "runs").read_text() == "run "
    host, _, port = address.partition(":")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, int(port)), timeout=2)


def test_a_table_that_is_none_is_an_answer_with_a_reason(tmp_path):
    reply = client(sidecar_of_process()).prune(str(tmp_path), I_IS_100, ["a"], "spark-ansi")
    assert reply.skipped == 0
    assert "not a Hudi table" in " ".join(reply.reasons)
    for odd in ("../t", "t", "file://host/t"):
        with pytest.raises(Refused):
            client(sidecar_of_process()).prune(odd, I_IS_100, ["a"], "spark-ansi")


def run_script(script, folder):
    """What a script of the user prints; it has nothing on stderr."""
    path = folder / "script.py"
    path.write_text(textwrap.dedent(script), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "SARGO_CACHE": "off", "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
