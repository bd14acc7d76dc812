"""Planning a scan of many partitions in Hive's process: seconds and requests of Hudi's listing, and of the sidecar's.

A table of 1,000 partitions of four files, which real Hudi writes once into the folder for temporary files (2 minutes).
`tests/hive/stack/PlanScans.java` is the JVM: `getSplits` of the input format on a configured job, with every partition
as an input path, as Hive calls it. On local disk, then over S3A from the store of `tests/s3`, which answers each
request LATENCY later. All plans without a filter have to give the same splits.

    Hudi, without metadata table    a copy of the table that has none, and hoodie.metadata.enable=false: without this
                                    setting Hudi 1.0.2 lists each partition twice. A table that has one is read by it
    Hudi, with metadata table       as it is
    sidecar                         sargo.listing=sidecar; `sargo serve` is a process beside it and has the table open
    sidecar, 1 % of files           the same with a filter on a column, by which the sidecar skips 99 % of the files

Medians of ROUNDS after one round untimed (on S3 without latency). The goals, on S3 with 5,000 partitions: at most a
tenth of the time of Hudi, and requests of the JVM that do not depend on the number of partitions. Requests to a local
disk are not counted.

SARGO_BENCH_PARTITIONS=1000,5000 adds a larger table, which takes 12 minutes to write and 10 to plan on two busy cores.
Needs a JDK, Maven and `make .venv/spark35/.installed`; the first run fetches Hive, Hudi and Hadoop's client of S3
(about 700 MB).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.hive.s3a import environment_for, hadoop_settings, jars
from tests.hive.server import HIVE_4, LOCAL, OPENED, ROOT, STACKS, build, build_jar, site
from tests.hive.sidecars import Sidecar
from tests.s3.store import BUCKET, Store, kinds, running
from tests.tables.many_partitions import FILES, RELEASE, ROWS
from tests.tables.releases import PYTHON

PARTITIONS = tuple(int(count) for count in os.environ.get("SARGO_BENCH_PARTITIONS", "1000").split(","))
LATENCY, ROUNDS = 0.020, 3
_CACHE = Path(tempfile.gettempdir()) / "sargo-bench-hive-listing"
_RATIOS = "x without", "x with"
_ASKS_HUDI, _ASKS_SIDECAR = {"format": "hudi"}, {"format": "sargo", "sargo.listing": "sidecar"}


@dataclass(frozen=True, eq=False)
class Plan:
    """One way to plan. `of`: which copy of the table; `filtered`: with a filter that 1 % of the files pass."""

    name: str
    settings: Mapping[str, str]
    of: str = "table"
    filtered: bool = False


WITHOUT, WITH, SIDECAR, FILTERED = PLANS = (
    Plan("Hudi, without metadata table", {**_ASKS_HUDI, "hoodie.metadata.enable": "false"}, of="plain"),
    Plan("Hudi, with metadata table", {**_ASKS_HUDI, "hoodie.metadata.enable": "true"}),
    Plan("sidecar", _ASKS_SIDECAR),
    Plan("sidecar, 1 % of files", _ASKS_SIDECAR, filtered=True),
)


@dataclass
class Measured:
    """The splits of every round, the seconds of each, and what the store was asked in the last one."""

    splits: tuple[int, ...] = ()
    seconds: list[float] = field(default_factory=list)
    of_jvm: Counter[str] = field(default_factory=Counter)
    of_sidecar: Counter[str] = field(default_factory=Counter)

    def add(self, seconds: float, requests: list[dict[str, Any]]) -> None:
        """One round."""
        self.seconds.append(seconds)
        of_jvm = [one for one in requests if "hadoop" in one["agent"].lower()]
        self.of_jvm = kinds(of_jvm)
        self.of_sidecar = kinds(requests) - self.of_jvm


def run() -> Iterator[Table | str]:
    """Seconds, requests, and their ratios to those of Hudi."""
    if lacking := _lacking():
        yield f"hive_listing is left out: no {lacking} here"
        return
    for partitions in PARTITIONS:
        _written(partitions)
    titles = "partitions", "place", "listed by", "seconds", "requests of the JVM", "of the sidecar", *_RATIOS
    table = Table(*titles)
    with tempfile.TemporaryDirectory(prefix="sargo-bench-") as folder, running(_CACHE) as store:
        for place, on in (("local disk", None), (f"S3, {LATENCY * 1e3:.0f} ms", store)):
            for partitions in PARTITIONS:
                home = Path(folder).resolve() / f"{'s3' if on else 'disk'}-{partitions}"
                home.mkdir()
                _add_rows(table, partitions, place, measure(partitions, on, home))
    yield table


def _lacking() -> str:
    missing = [name for name in ("java", "mvn") if not shutil.which(name)]
    return ", ".join(missing + ([] if PYTHON.exists() else ["Spark 3.5 (make .venv/spark35/.installed)"]))


def _path(partitions: int, of: str) -> Path:
    return _CACHE / BUCKET / f"{of}-{partitions}"


def _written(partitions: int) -> None:
    path, plain = (_path(partitions, of) for of in ("table", "plain"))
    if plain.exists():
        return
    if not path.exists():
        RELEASE.fetch()
        part = _CACHE / "part" / path.name
        shutil.rmtree(part.parent, ignore_errors=True)
        part.parent.mkdir(parents=True)
        command = [str(PYTHON), "-m", "tests.tables.many_partitions", str(partitions), str(part)]
        subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "TZ": "UTC"}, stdout=subprocess.DEVNULL)
        path.parent.mkdir(exist_ok=True)
        part.rename(path)
    part = plain.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(
        path, part, copy_function=os.link, ignore=lambda folder, _: ["metadata"] * folder.endswith(".hoodie")
    )
    properties = part / ".hoodie" / "hoodie.properties"
    lines = properties.read_text().splitlines(keepends=True)
    properties.unlink()  # which is the table's own
    properties.write_text("".join(line for line in lines if not line.startswith("hoodie.table.metadata.")))
    part.rename(plain)


def measure(partitions: int, store: Store | None, home: Path) -> dict[Plan, Measured]:
    """Each plan in turns, from one JVM."""
    root = f"s3a://{BUCKET}" if store else f"file://{_CACHE / BUCKET}"
    for of in ("table", "plain"):
        path = _path(partitions, of)
        names = sorted(folder.name for folder in path.glob("dt=*"))
        (home / path.name).write_text("\n".join(f"{root}/{path.name}/{name}" for name in names))
    measured = {plan: Measured() for plan in PLANS}
    environment = environment_for(store) if store else {}
    sidecar = Sidecar(root, home / "sidecar.log", environment=environment).start()
    try:
        with contextlib.closing(Planner(home, store)) as planner:
            for turn in range(ROUNDS + 1):
                for plan in PLANS:
                    settings = {
                        "folders": str(home / _path(partitions, plan.of).name),
                        "hive.query.id": f"{plan.name}-{turn}",
                        "sargo.sidecar.address": sidecar.address,
                        "sargo.sidecar.timeout.ms": "60000" if turn == 0 else "2000",  # the first one opens the table
                        **plan.settings,
                        **({"amount": str(partitions * FILES * ROWS / 100)} if plan.filtered else {}),
                    }
                    with _latency(store, LATENCY if turn else 0.0):
                        seconds, splits = planner.plan(settings)
                        requests = store.take() if store else []
                    if turn == 0:
                        measured[plan].splits = splits
                    else:
                        measured[plan].add(seconds, requests)
                    assert splits == measured[plan].splits
    finally:
        sidecar.stop()
    assert len({measured[plan].splits for plan in PLANS if not plan.filtered}) == 1
    assert measured[WITHOUT].splits[0] == partitions * FILES
    assert measured[FILTERED].splits[0] == partitions * FILES // 100
    assert (home / "sargo.log").read_text().count("listing=sidecar") == 2 * (ROUNDS + 1), "Hudi listed"
    return measured


def _latency(store: Store | None, seconds: float) -> contextlib.AbstractContextManager[None]:
    return store.answering(latency=seconds) if store else contextlib.nullcontext()


class Planner:
    """The JVM that plans scans."""

    def __init__(self, home: Path, store: Store | None) -> None:
        classes = [home, build_jar(), *build(HIVE_4), *jars()]
        (home / "core-site.xml").write_text(site(LOCAL / "core-site.xml", **(hadoop_settings(store) if store else {})))
        (home / "hive-site.xml").write_text(site(ROOT / "hive_conf" / HIVE_4.fragment))
        command = ["java", *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED), "-Xmx2g"]
        command += [f"-Dhs2.home={home}", f"-Dlog4j2.configurationFile=file:{STACKS}/hive-log4j2.properties"]
        command += ["-cp", os.pathsep.join(map(str, classes)), str(STACKS / "PlanScans.java")]
        with (home / "jvm.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._ask("")

    def plan(self, settings: Mapping[str, str]) -> tuple[float, tuple[int, ...]]:
        """Seconds, and what tells the splits: their number, bytes and a hash of their paths."""
        seconds, *splits = self._ask("\t".join(f"{name}={value}" for name, value in settings.items())).split()
        return float(seconds), tuple(map(int, splits))

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if line:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the JVM ended: see jvm.log"
        return answer

    def close(self) -> None:
        """End the JVM."""
        self._process.communicate()


def _add_rows(table: Table, partitions: int, place: str, measured: Mapping[Plan, Measured]) -> None:
    medians = {plan: statistics.median(one.seconds) for plan, one in measured.items()}
    for plan, one in measured.items():
        table.add_row(
            f"{partitions:,}",
            place,
            plan.name,
            f"{medians[plan]:.2f}",
            *(_counts(asked) if place.startswith("S3") else "-" for asked in (one.of_jvm, one.of_sidecar)),
            *(f"{medians[plan] / medians[other]:.3f}" for other in (WITHOUT, WITH)),
        )


def _counts(requests: Counter[str]) -> str:
    """As "5,003 (5,000 LIST, 3 GET)"."""
    each = ", ".join(f"{count:,} {kind}" for kind, count in requests.most_common())
    return f"{requests.total():,}" + (f" ({each})" if each else "")
