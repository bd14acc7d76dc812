"""A sidecar that runs in this process, on an event loop of its own, and clients as Thrift's own library makes them."""

import asyncio
import contextlib
import io
import subprocess
import threading
import zlib

import pytest
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TFramedTransport

from handler import open_table
from handler.sidecar.idl import PruneRequest
from handler.sidecar.run import running
from handler.sidecar.sargo_thrift import Sargo
from handler.sidecar.settings import Settings
from tests.handler.conftest import hive_filters

SECRET = "open sesame"


class ThriftClient(Sargo.Client):
    """What the compiler makes of the IDL, without a word of Sargo's. Optional arguments need not be given."""

    def explain(self, report_id, secret=None):
        return super().explain(report_id, secret)

    def version(self, secret=None):
        return super().version(secret)


class Running:
    """A sidecar in a thread; ``log`` is what it wrote."""

    def __init__(self, settings):
        self.settings = settings
        self.log = io.StringIO()
        self._ready, self._stop = threading.Event(), None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.failure = None

    async def _run(self):
        self._stop, self._loop = asyncio.Event(), asyncio.get_running_loop()
        try:
            async with running(self.settings, self.log) as self.sidecar:
                self._ready.set()
                await self._stop.wait()
        except Exception as error:
            self.failure = error
        finally:
            self._ready.set()

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(20)
        if self.failure:
            raise self.failure
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if not self.failure and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        assert not self._thread.is_alive()

    @property
    def port(self):
        return self.sidecar.port

    @contextlib.contextmanager
    def client(self, timeout=10_000):
        socket = TSocket("127.0.0.1", self.port)
        socket.setTimeout(timeout)
        transport = TFramedTransport(socket)
        transport.open()
        try:
            yield ThriftClient(TBinaryProtocol(transport))
        finally:
            transport.close()

    def metric(self, name, **labels):
        return self.sidecar.metrics.registry.get_sample_value(name, labels)


@pytest.fixture
def sidecar():
    """``sidecar(roots=[...], **settings)``: a running one, stopped when the test ends."""
    with contextlib.ExitStack() as stack:
        yield lambda **given: stack.enter_context(
            Running(Settings(**{"port": 0, "metrics_port": 0, "request_seconds": 30, **given}))
        )


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """An authority, and a certificate of it for localhost that serves for both sides."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl(
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=authority",
        "-addext",
        "keyUsage=critical,keyCertSign",  # which Python 3.13 asks for
    )
    openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=localhost"
    )
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    openssl(
        "x509",
        "-req",
        "-in",
        "request.pem",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-out",
        "cert.pem",
        "-extfile",
        "names",
    )
    return folder


def request(table, filter_, names, **given):
    """A PruneRequest; ``names`` are joined as the IDL says."""
    blob = "\n".join(names).encode()
    if given.get("names_compressed"):
        blob = zlib.compress(blob)
    fields = {
        "protocol_version": 1,
        "table": str(table),
        "filter": filter_.encode(),
        "engine": "hive4",
        "time_zone": "UTC",
        "names": blob,
        "name_count": len(names),
        **given,
    }
    return PruneRequest(**fields)


def skipped_names(names, reply):
    """The names whose bit is set, read as the IDL says."""
    return {name for i, name in enumerate(names) if reply.skip and reply.skip[i >> 3] & (1 << (i & 7))}


@pytest.fixture(scope="session")
def filters():
    """Filters that real Hive wrote, by their SQL."""
    return {one["sql"]: one for one in hive_filters()}


@pytest.fixture(scope="module")
def names(main_cow):
    """The base files of the demo's table."""
    return [item.base_file for item in open_table(main_cow).at().slices]


@pytest.fixture
def guarded(sidecar, main_cow):
    """``guarded(**settings)``: a sidecar with a secret."""
    return lambda **given: sidecar(roots=[str(main_cow)], secret=SECRET, **given)
