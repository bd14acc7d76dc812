"""`make hive-up`: a HiveServer2 with Hudi tables and the sidecar beside it, until Ctrl-C.

    python -m tests.hive.playground [hive401 | hive313] [DIRECTORY]

With SARGO_HIVE_PLAYGROUND=DIRECTORY the tests ask this server instead of starting their own.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
from pathlib import Path

from tests.hive.server import HIVE_3, HIVE_4, Server, Stack
from tests.hive.sidecars import Sidecar
from tests.hive.tables import TABLES, register, unpack

#: Beside everything else that runs on the machine of a test, an answer may take longer than in a real installation.
PATIENT = {"sargo.sidecar.timeout.ms": "30000"}


class Hive:
    """A server, its tables and its sidecar."""

    def __init__(self, server: Server, sidecar: Sidecar, directory: Path) -> None:
        self.server = server
        self.sidecar = sidecar
        self.directory = directory

    @classmethod
    def start(cls, stack: Stack, home: Path) -> Hive:
        directory = unpack(home / "tables")
        sidecar = Sidecar(directory, home / "sidecar.log").start()
        hive = cls(Server(stack, home, {"sargo.sidecar.address": sidecar.address, **PATIENT}), sidecar, directory)
        try:
            hive.server.start()
            with hive.server.connect() as connection:
                register(connection.cursor(), directory)
            (home / "port").write_text(f"{hive.server.port} {sidecar.port} {hive.server.pid}")
        except BaseException:
            hive.stop()
            raise
        return hive

    @classmethod
    def attach(cls, stack: Stack, home: Path) -> Hive:
        server = Server(stack, home)
        server.port, port, server.pid = map(int, (home / "port").read_text().split())
        return cls(server, Sidecar(home / "tables", home / "sidecar.log", port), home / "tables")

    def stop(self) -> None:
        (self.server.home / "port").unlink(missing_ok=True)
        self.server.stop()
        self.sidecar.stop()


def main(name: str = HIVE_4.name, directory: str | None = None) -> None:
    stack = {stack.name: stack for stack in (HIVE_3, HIVE_4)}[name]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.ExitStack() as last, contextlib.suppress(KeyboardInterrupt):
        home = Path(directory or last.enter_context(tempfile.TemporaryDirectory(prefix="sargo-hive-"))).resolve() / name
        print(f"starting {name} in {home} (the first time, Maven fetches about 300 MB)", flush=True)
        hive = Hive.start(stack, home)
        last.callback(hive.stop)
        print(introduction(hive), flush=True)
        signal.pause()


def introduction(hive: Hive) -> str:
    """Of each table, how it can be read here: the other ways fail, see README."""
    tables = ", ".join(
        f"{kind}_{table.name}"
        for table in TABLES
        for kind in ("plain", "native", "stored")
        if not table.merge_on_read or (kind == "stored") == (hive.server.stack is HIVE_4)
    )
    return f"""\
tables: {tables}
beeline -u jdbc:hive2://127.0.0.1:{hive.server.port}/ -n sargo
hive.connect(host='127.0.0.1', port={hive.server.port}, auth='NONE')   # from pyhive import hive
SELECT id, dt, name FROM stored_trips WHERE id BETWEEN 309 AND 311     -- reads 1 of 20 files
SET hive.execution.engine=tez                                          -- of {", ".join(hive.server.stack.engines)}
what is skipped: tail -f {hive.server.home / "sargo.log"}
Ctrl-C stops it."""


if __name__ == "__main__":
    main(*sys.argv[1:])
