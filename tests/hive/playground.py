"""`make hive-up`: a HiveServer2 with Hudi tables and the sidecar beside it, until Ctrl-C.

    python -m tests.hive.playground [hive401 | hive313] [DIRECTORY]

With SARGO_HIVE_PLAYGROUND=DIRECTORY the tests ask this server instead of starting their own.
"""

from __future__ import annotations

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
            (home / "port").write_text(f"{hive.server.port} {sidecar.port}")
        except BaseException:
            hive.stop()
            raise
        return hive

    @classmethod
    def attach(cls, stack: Stack, home: Path) -> Hive:
        server = Server(stack, home)
        server.port, port = map(int, (home / "port").read_text().split())
        return cls(server, Sidecar(home / "tables", home / "sidecar.log", port), home / "tables")

    def stop(self) -> None:
        (self.server.home / "port").unlink(missing_ok=True)
        self.server.stop()
        self.sidecar.stop()


def main(name: str = HIVE_4.name, directory: str | None = None) -> None:
    stack = {stack.name: stack for stack in (HIVE_3, HIVE_4)}[name]
    home = Path(directory or tempfile.mkdtemp(prefix="sargo-hive-")).resolve() / name
    print(f"starting {name} in {home} (the first time, Maven fetches about 300 MB)", flush=True)
    hive = Hive.start(stack, home)
    print("tables: " + ", ".join(f"{kind}_{table.name}" for kind in ("plain", "native", "stored") for table in TABLES))
    print(f"beeline -u jdbc:hive2://127.0.0.1:{hive.server.port}/ -n sargo")
    print(f"hive.connect(host='127.0.0.1', port={hive.server.port}, auth='NONE')   # from pyhive import hive")
    print(f"what is skipped: tail -f {home / 'sargo.log'}", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
    hive.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
