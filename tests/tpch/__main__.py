"""``make tpch``: the scans of TPC-H on tables that real Hudi writes, and what each way keeps.

    python -m tests.tpch [--scale 1] [--folder FOLDER] [--pack] [--save]

The data are made by ``tpcgen-cli``, the tables are written by Hudi 1.2.0 on Spark 3.5. With ``--folder`` both are kept
there, and used again by the next run. ``--pack`` writes the archive of the tests. ``--save`` writes what is printed to
results/. The exit code is 1 when a slice with a match is skipped, or more is kept than must be.
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
from tests.tpch.layouts import LAYOUTS
from tests.tpch.measure import answers, tables
from tests.tpch.report import report
from tests.tpch.tables import pack

RESULTS = Path(__file__).parent / "results"


def generate(raw: Path, scale: float) -> None:
    command = Path(sys.executable).with_name("tpcgen-cli")
    arguments = ["tpch", "parquet", "-s", f"{scale:g}", "--no-progress", "--quiet", f"--output-dir={raw}"]
    subprocess.run([str(command), *arguments], check=True)


def write(raw: Path, home: Path, scale: float, wanted: list[str]) -> None:
    release = RELEASES["1.2.0"]
    release.fetch()
    command = [str(PYTHON), "-m", "tests.tpch.write", str(raw), str(home), str(scale), *wanted]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "TZ": "UTC"})


def measure(home: Path, scale: float) -> tuple[str, list[str]]:
    """The report, and the faults."""
    begun = time.monotonic()
    given = [answer for table in tables(home).values() for answer in answers(table)]
    faults = [fault for answer in given for fault in answer.faults]
    today = datetime.datetime.now(datetime.timezone.utc).date()
    head = f"{today}, TPC-H with a scale factor of {scale:g}, Hudi 1.2.0, Python {sys.version.split()[0]}"
    foot = f"{len(faults)} faults. {2 * len(given):,} plans and their truth took {time.monotonic() - begun:.0f} s."
    return "\n\n".join([head, report(given), "\n".join([foot, *faults])]), faults


def main() -> int:
    options = _options()
    os.environ["SARGO_CACHE"] = "off"
    with tempfile.TemporaryDirectory(prefix="sargo-tpch-") as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        raw, home = folder / "raw", folder / "tables"
        home.mkdir(parents=True, exist_ok=True)
        if not raw.exists():
            print(f"tpcgen-cli {version('tpcgen-cli')}", flush=True)
            generate(raw, options.scale)
        missing = [name for name in LAYOUTS if not (home / f"{name}.hudi.json").exists()]
        if missing:
            write(raw, home, options.scale, missing)
        text, faults = measure(home, options.scale)
        print(text)
        if options.pack:
            print(f"{pack(home):,} bytes")
        if options.save:
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"sf{options.scale:g}.txt").write_text(text + "\n", encoding="utf-8")
    return int(bool(faults))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.tpch")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
