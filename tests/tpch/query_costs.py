"""The 22 queries of TPC-H over views of Hudi tables: Hudi with its own skipping, and the same with the extension.

    python -m tests.tpch.query_costs FOLDER [--kinds cow,mor] [--rounds N] [--queries Q1,Q6] [--own-index TABLE.COLUMN]
                                     [--save FILE]

with the Python of ``.venv/spark35``. FOLDER is what ``tests.tpch.whole_tables`` writes. ``tests.tpc.query_costs`` says
what is measured. ``--own-index lineitem.l_orderkey`` makes an own secondary index first, if there is none. The exit
code is 1 when rows differ.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from tests.tpc.query_costs import Run, costs, extended_session, options, reported
from tests.tpch.queries import QUERIES
from tests.tpch.whole_tables import KINDS, TABLES

_WARM = ("Q3", "Q6", "Q12", "Q14", "Q22", "Q6")


def measured(given: argparse.Namespace) -> Iterator[str]:
    with extended_session({}) as spark:
        for kind in given.kinds.split(","):
            run = Run(
                title="COPY_ON_WRITE" if kind == "cow" else "MERGE_ON_READ",
                home=given.folder / kind,
                tables=tuple(TABLES[kind]),
                queries={name: QUERIES[name] for name in given.queries},
                warm=[QUERIES[name] for name in _WARM],
                own_index=given.own_index,
            )
            yield from costs(spark, run, given.rounds)


if __name__ == "__main__":
    parser = options("tests.tpch.query_costs", QUERIES)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--own-index", action="append", default=[], metavar="TABLE.COLUMN")
    given = parser.parse_args()
    sys.exit(reported(measured(given), given.save))
