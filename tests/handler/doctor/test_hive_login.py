"""A login to HiveServer2 that fails says what to do."""

from __future__ import annotations

import socket
import sys
import threading

import pytest
from click.testing import CliRunner
from thrift.transport.TTransport import TTransportException

from handler.cli.main import main
from handler.doctor.hive_login import login_advice


@pytest.mark.parametrize(
    ("auth", "text", "words"),
    [
        ("KERBEROS", "Could not start SASL: None of the mechanisms listed meet all required", "pip install pykerberos"),
        ("KERBEROS", "('Unspecified GSS failure', ('Ticket expired', -1765328352))", "has expired: kinit"),
        ("KERBEROS", "('No Kerberos credentials available (default cache: FILE:/tmp/x)', 2)", "kinit, then klist"),
        ("KERBEROS", "('Server not found in Kerberos database', -1765328377)", "no address and no alias"),
        ("KERBEROS", "('Server hive/nn@R not found in Kerberos database', -1765328377)", "no address and no alias"),
        ("KERBEROS", "Clock skew too great", "the clocks"),
        ("KERBEROS", "Cannot contact any KDC for realm 'R'", "krb5.conf"),
        ("KERBEROS", "TSocket read 0 bytes", "may not use Kerberos"),
        ("NONE", "Bad status: 3 (b'Unsupported mechanism type PLAIN')", "--auth must be what"),
        ("LDAP", "Bad status: 3 (b'Error validating the login')", "--auth must be what"),
        ("NONE", "timed out", ""),
    ],
)
def test_the_usual_mistakes_have_a_remedy(auth, text, words):
    advice = login_advice(RuntimeError(text), auth)
    assert words in advice
    assert bool(advice) == bool(words)


def test_a_connection_that_was_reset_is_a_login_that_was_ended():
    error = TTransportException(
        message="unexpected exception", inner=ConnectionResetError(104, "Connection reset by peer")
    )
    assert "--auth must be what" in login_advice(error, "NONE")


@pytest.fixture
def closing():
    """A server that closes each connection after its first bytes, as HiveServer2 does with another login."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.recv(100)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    listener.close()


@pytest.mark.filterwarnings("ignore:kerberos module not installed")
@pytest.mark.parametrize(("auth", "words"), [("NONE", "--auth must be what"), ("KERBEROS", "kerberos")])
def test_the_command_says_it(closing, auth, words, monkeypatch):
    pytest.importorskip("pyhive")
    monkeypatch.setitem(sys.modules, "kerberos", None)
    done = CliRunner().invoke(main, ["doctor", "--hive", closing, "--auth", auth])
    assert done.exit_code == 2
    assert words in done.stderr.lower()
