"""The messages that the tests of the Java client read are those of the IDL, and the sidecar reads the client's."""

import pytest

from handler.sidecar.wire import read_call
from tests.handler.sidecar.java_messages import MESSAGES, PLAN_REQUESTS, REQUESTS, text, version_messages


def test_the_messages_of_the_java_tests_are_those_of_the_idl():
    assert MESSAGES.read_text() == text(), "run python -m tests.handler.sidecar.java_messages, then make test-java"


@pytest.mark.parametrize(
    ("method", "key", "fields"),
    [
        *(("prune", f"request.{name}", fields) for name, fields in REQUESTS.items()),
        *(("plan", f"plan.request.{name}", fields) for name, fields in PLAN_REQUESTS.items()),
    ],
)
def test_the_sidecar_reads_every_field_of_the_java_clients_request(method, key, fields):
    lines = dict(line.split("=", 1) for line in MESSAGES.read_text().splitlines() if not line.startswith("#"))
    call = read_call(memoryview(bytes.fromhex(lines[key])[4:]))
    (request,) = call.arguments
    given = {field: getattr(request, field) for field in request.__slots__ if getattr(request, field) is not None}
    assert (call.method, call.sequence, given) == (method, 1, fields)
    assert call.secret == fields.get("secret")


def test_the_sidecar_reads_the_secret_that_the_java_client_shows():
    call = read_call(memoryview(version_messages()["version.shows_secret"][4:]))
    assert (call.method, call.secret, call.arguments) == ("version", "open sesame", ())
