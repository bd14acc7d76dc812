"""All pruned reads on Spark 3.5 with Hudi's bundle, which reads the slices that Sargo does not merge itself.

    python -m tests.conformance.bundle_reads FOLDER OUT       with `.venv/spark35`; FOLDER has the unpacked tables

OUT becomes JSON: "<table>: <SQL>" -> the difference.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from handler import open_table
from tests.conformance.paths import Kept
from tests.conformance.pruned_reads import wrong_reads
from tests.conformance.stored_truth import TABLES
from tests.tables.releases import RELEASES, session

#: The newest release reads the tables of all.
BUNDLE = RELEASES["1.2.0"]


def main(folder: Path, out: Path) -> None:
    spark = session(BUNDLE, out.parent)
    spark.conf.set("spark.sql.ansi.enabled", "false")
    opened = {name: open_table(folder / name) for name in TABLES}
    kept = Kept(opened)
    wrong = {
        f"{name}: {sql}": why for name in TABLES for sql, why in wrong_reads(spark, name, opened[name], kept).items()
    }
    out.write_text(json.dumps(wrong), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
