"""``python -m tests.tpch``: the scans of TPC-H on tables that real Hudi writes. ``tests.tpc.run`` has the options."""

from __future__ import annotations

import sys

from tests.tpc.run import main

if __name__ == "__main__":
    sys.exit(main("tpch"))
