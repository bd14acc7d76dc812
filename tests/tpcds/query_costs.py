"""The queries of TPC-DS over views of Hudi tables: Hudi with its own skipping, and the same with the extension.

    python -m tests.tpcds.query_costs FOLDER [--rounds N] [--queries q3,q14a] [--setting NAME=VALUE ...] [--save FILE]

with the Python of ``.venv/spark35``. FOLDER is what ``tests.tpcds.whole_tables`` writes. ``tests.tpc.query_costs`` says
what is measured. The exit code is 1 when rows differ. ``--setting spark.sargo.dynamic=subquery --setting
spark.sargo.dynamic.subquery.min.bytes=1`` has keys narrow small tables, too, which costs more than it saves;
``--setting spark.sql.autoBroadcastJoinThreshold=-1`` and ``--setting spark.sql.adaptive.enabled=false`` have Spark plan
other joins.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping

from tests.tpc.query_costs import Run, costs, extended_session, options, reported
from tests.tpcds.queries import queries
from tests.tpcds.whole_tables import TABLES

_WARM = ("q3", "q7", "q19", "q42", "q96", "q3")


def measured(known: Mapping[str, str], given: argparse.Namespace) -> Iterator[str]:
    with extended_session(dict(text.split("=", 1) for text in given.setting)) as spark:
        run = Run(
            title=", ".join(["TPC-DS", *given.setting]),
            home=given.folder,
            tables=tuple(TABLES),
            queries={name: known[name] for name in given.queries},
            warm=[known[name] for name in _WARM],
        )
        yield from costs(spark, run, given.rounds)


if __name__ == "__main__":
    known = queries()
    parser = options("tests.tpcds.query_costs", [name for name in known if name.isalnum()])
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    sys.exit(reported(measured(known, given), given.save))
