"""The sidecar under fuzz: a process with tight limits, its log, its memory and CPU, and a client that behaves."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from handler import open_table, prune
from handler.demo.run import unpack_table
from handler.sidecar.client import Client, ClientError
from handler.sidecar.idl import Refused
from tests.fuzz.fuzzer import Fault
from tests.handler.conftest import hive_filters

__all__ = ["FRAME_BYTES", "SECRET", "FuzzedSidecar"]

SECRET = "a-shared-secret-of-the-fuzzer"
FRAME_BYTES = 1 << 20
#: What the process may hold on top of what it held when it had answered its first call.
MEMORY = 400 << 20
#: CPU seconds that it may take for one case.
CPU_SECONDS = 20.0
_SETTINGS = {
    "port": 0,
    "metrics_port": -1,
    "max_frame_bytes": FRAME_BYTES,
    "max_names_bytes": 4 << 20,
    "max_bytes_in_flight": 32 << 20,
    "max_connections": 32,
    "cache_bytes": 128 << 20,
    "read_seconds": 1,
    "request_seconds": 1.5,
    "reports": 50,
    "workers": 4,
}
_SERVE = "from handler.cli.process import run; run()"
_ANSWER_SECONDS = 10.0
_FILTER = "i = 100"
#: Controls, C1, separators of lines, and marks of direction.
_FORGING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class FuzzedSidecar:
    """A sidecar over the demo's table. ``check`` raises Fault when it is no longer as it should be."""

    def __init__(self, folder: Path) -> None:
        self.table = unpack_table(folder)
        self._folder = folder
        self._log = folder / "log"
        self._settings = folder / "sidecar.toml"
        lines = [f"{name} = {value}" for name, value in _SETTINGS.items()]
        self._settings.write_text("\n".join([f'roots = ["{folder}"]', f'secret = "{SECRET}"', *lines]))
        self._filter = next(
            one["filter"].encode() for one in hive_filters() if one["sql"] == _FILTER and one["hive"].startswith("4")
        )
        plan = prune(open_table(self.table), base64.b64decode(self._filter), engine="hive4", time_zone="UTC")
        self.names = [one.base_file for one in plan.slices if one.base_file is not None]
        self._may_skip = {one.base_file for one in plan.skipped}
        assert self._may_skip, "the good client's filter skips nothing"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it with an empty log, unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        self._log.unlink(missing_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SARGO_")}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, "serve", "--config", str(self._settings)],
                env={**environment, "SARGO_CACHE": "off"},
                stdout=log,
                stderr=log,
            )
        self._read = 0
        self.port = self._wait_for_port()
        self._client = Client(f"127.0.0.1:{self.port}", _ANSWER_SECONDS, secret=SECRET)
        self._ask(patiently=True)
        self._base = self._memory()
        self._cpu = self._cpu_seconds()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def check(self) -> None:
        """It is alive, answers the good client rightly, logged no fault, and holds and took no more than its bounds."""
        assert self._process is not None
        try:
            if self._process.poll() is not None:
                raise Fault(f"the sidecar ended with {self._process.returncode}: {self._log_text()[-600:]}")
            self._ask()
            self._check_log()
            held, took = self._memory() - self._base, self._cpu_seconds() - self._cpu
            self._cpu += took
            if held > MEMORY:
                raise Fault(f"the sidecar holds {held >> 20} MiB more than at its start")
            if took > CPU_SECONDS:
                raise Fault(f"the sidecar took {took:.0f} CPU seconds for one case")
        except Fault:
            self.stop()
            raise

    def _ask(self, patiently: bool = False) -> None:
        """Ask as Hive would; a busy sidecar may skip nothing, and is asked again."""
        ends = time.monotonic() + (30 if patiently else _ANSWER_SECONDS)
        why = ""
        while time.monotonic() < ends:
            try:
                reply = self._client.prune(str(self.table), self._filter, self.names)
            except (ClientError, Refused) as error:
                why = f"{type(error).__name__}: {error.why}"
                time.sleep(0.05)
                continue
            skipped = {name for i, name in enumerate(self.names) if reply.skip[i >> 3 :][:1] and
                       reply.skip[i >> 3] & (1 << (i & 7))}  # fmt: skip
            if not skipped <= self._may_skip:
                raise Fault(f"the good client is told to skip {sorted(skipped - self._may_skip)}")
            if skipped == self._may_skip:
                return
            why = f"skips {len(skipped)} of {len(self._may_skip)} files: {reply.reasons}"
            time.sleep(0.05)
        raise Fault(f"the good client gets no answer: {why}")

    def _check_log(self) -> None:
        with self._log.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            try:
                fields = json.loads(line)
            except ValueError:
                raise Fault(f"the log has a line that is no event: {line[:300]!r}") from None
            if _FORGING.search(line.decode("utf-8", "replace")):
                raise Fault(f"the log has a character that forges or hides text: {line[:600]!r}")
            if fields.get("level") == "error":
                raise Fault(f"the log has an undocumented exception: {line.decode('utf-8', 'replace')[:900]}")

    def _log_text(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def _wait_for_port(self) -> int:
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            for line in self._log_text().splitlines():
                if '"listening"' in line:
                    return int(json.loads(line)["port"])
            time.sleep(0.05)
        raise AssertionError(f"the sidecar did not start: {self._log_text()[-2000:]}")

    def _tree(self) -> list[int]:
        """The process and those that it started."""
        assert self._process is not None
        found, waiting = [], [self._process.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                try:
                    waiting += map(int, children.read_text().split())
                except OSError:
                    continue
        return found

    def _memory(self) -> int:
        return sum(int(_stat(pid, 21)) * os.sysconf("SC_PAGE_SIZE") for pid in self._tree())

    def _cpu_seconds(self) -> float:
        return sum(int(_stat(pid, 11)) + int(_stat(pid, 12)) for pid in self._tree()) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int, number: int) -> str:
    """A field of /proc/PID/stat, counted from the one behind the name; "0" for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[number]
    except OSError:
        return "0"
