"""One run of a benchmark: its scans on tables that real Hudi writes, and what each way keeps.

    python -m tests.tpch [--scale 1] [--folder FOLDER] [--pack] [--save]
    python -m tests.tpcds [the same]

The data are made by ``tpcgen-cli``, the tables are written by Hudi 1.2.0 on Spark 3.5. With ``--folder`` both are kept
there, and used again by the next run. ``--pack`` writes the archive of the tests. ``--save`` writes what is printed to
the folder ``results`` of the benchmark. The exit code is 1 when a slice with a match is skipped, or more is kept than
must be.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from tests.tables.releases import PYTHON, RELEASES, ROOT
from tests.tpc.benchmark import Benchmark, benchmark
from tests.tpc.measure import answers, tables
from tests.tpc.report import report
from tests.tpc.tables import pack


def generate(measured: Benchmark, raw: Path, scale: float) -> None:
    command = Path(sys.executable).with_name("tpcgen-cli")
    arguments = [measured.generator, "parquet", "-s", f"{scale:g}", "--no-progress", "--quiet", f"--output-dir={raw}"]
    subprocess.run([str(command), *arguments], check=True)


def write(measured: Benchmark, raw: Path, home: Path, scale: float, wanted: list[str]) -> None:
    release = RELEASES["1.2.0"]
    release.fetch()
    command = [str(PYTHON), "-m", "tests.tpc.write", measured.generator, str(raw), str(home), str(scale), *wanted]
    environment = {**os.environ, "TZ": "UTC"}
    if scale >= measured.small:  # these win over the options of the session, which are those of small tables
        environment["_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=4 -Xmx6g"
    subprocess.run(command, cwd=ROOT, check=True, env=environment)


def measure(measured: Benchmark, home: Path, scale: float) -> tuple[str, list[str]]:
    """The report, and the faults."""
    begun = time.monotonic()
    given = [answer for table in tables(measured.generator, home).values() for answer in answers(table)]
    faults = [fault for answer in given for fault in answer.faults]
    today = datetime.datetime.now(datetime.timezone.utc).date()
    head = f"{today}, {measured.title} with a scale factor of {scale:g}, Hudi 1.2.0, Python {sys.version.split()[0]}"
    foot = f"{len(faults)} faults. {2 * len(given):,} plans and their truth took {time.monotonic() - begun:.0f} s."
    return "\n\n".join([head, report(given), "\n".join([foot, *faults])]), faults


def main(name: str) -> int:
    measured, options = benchmark(name), _options(name)
    os.environ["SARGO_CACHE"] = "off"
    with tempfile.TemporaryDirectory(prefix=f"sargo-{name}-") as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        raw, home = folder / "raw", folder / "tables"
        home.mkdir(parents=True, exist_ok=True)
        if not raw.exists():
            print(f"tpcgen-cli {version('tpcgen-cli')}", flush=True)
            generate(measured, raw, options.scale)
        missing = [name for name in measured.layouts if not (home / f"{name}.hudi.json").exists()]
        if missing:
            write(measured, raw, home, options.scale, missing)
        text, faults = measure(measured, home, options.scale)
        print(text)
        if options.pack:
            print(f"{pack(home, measured.archive):,} bytes")
        if options.save:
            measured.results.mkdir(exist_ok=True)
            (measured.results / f"sf{options.scale:g}.txt").write_text(text + "\n", encoding="utf-8")
    return int(bool(faults))


def _options(name: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(f"python -m tests.{name}")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()
