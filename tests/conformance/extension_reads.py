"""Predicates as SQL over catalog tables of real Hudi, through Sargo's extension: their rows, and the files they read.

    python -m tests.conformance.extension_reads FOLDER OUT HUDI EVERY [TABLE ...]     with `.venv/spark35`

FOLDER has the unpacked tables. A table of the same release is a table of the catalog, one of an older release a view.
Each is asked as it is, and those of the same release again after changes that the sidecar has not seen
(``extension_changes``). Of the predicates one in EVERY is asked. OUT becomes the JSON of a ``Tally``.

A query is right if

    rows      they are the truth: those of the same bundle with the extension off and without Hudi's own skipping
    files     the file groups that it reads are those of `handler.spark.prune`, without those that Hudi's pruning of
              partitions drops. It may read fewer: Spark adds conditions that follow from those of the query
    failure   a query that fails fails with the extension off, too
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from handler import open_table
from handler.spark import prune, register
from tests.conformance.extension_changes import asked_after_changes
from tests.conformance.extension_session import ExtensionSession
from tests.conformance.extension_tally import Tally
from tests.conformance.stored_truth import TABLES, truth_of
from tests.jvm_flags import SHORT_LIVED
from tests.tables.releases import BY_INDEX

#: Up to one predicate in so many the run is long enough for the JVM's second compiler to pay.
_LONG = 10


def asked_as_it_is(session: ExtensionSession, name: str, folder: Path, predicates: list[str], tally: Tally) -> None:
    """Each predicate once, of a table that the sidecar knows as it is."""
    table, opened = in_catalog(name), open_table(folder)
    count = len(opened.at().slices)
    truth = session.truth(table, predicates)
    for sql in predicates:
        answer = session.asked(table, sql)
        if not tally.rows(name, sql, answer, truth[sql], session, table):
            continue
        kept = frozenset(one.file_id for one in prune(session.spark, opened, sql).kept)
        tally.files(name, sql, answer, kept, count, lambda sql=sql: session.whole(table, sql).groups)  # type: ignore[misc]


def asked(session: ExtensionSession, name: str, copy: Path, predicates: list[str], tally: Tally) -> None:
    """The predicates of a table of this release, or an older one, that is not in the catalog yet."""
    is_its_own = name.partition("_")[0] == session.hudi
    if is_its_own:
        session.spark.sql(f"CREATE TABLE {in_catalog(name)} USING hudi LOCATION '{copy}'")
    else:  # whose schema the catalog of this release does not find
        session.spark.read.format("hudi").load(str(copy)).createOrReplaceTempView(in_catalog(name))
    asked_as_it_is(session, name, copy, predicates, tally)
    if is_its_own:
        asked_after_changes(session, name, in_catalog(name), copy, predicates, tally)


def in_catalog(name: str) -> str:
    """The name of a table as the catalog takes it."""
    return f"t_{name.replace('.', '_')}"


def main(folder: Path, out: Path, hudi: str, every: int, wanted: tuple[str, ...]) -> None:
    home = out.parent / f"extension-{hudi}"
    flags = SHORT_LIVED if every > _LONG else ()
    session, tally = ExtensionSession(hudi, home, flags=flags), Tally()
    register(session.spark)
    for name in wanted or TABLES:
        release = name.partition("_")[0]
        if release > hudi:
            continue  # an older release does not read a newer table
        copy = home / name
        shutil.copytree(folder / name, copy)
        predicates = list(truth_of(name).predicates)
        chosen = random.Random(name).sample(predicates, -(-len(predicates) // every))
        with session.settings(BY_INDEX if hudi == "0.15.0" and name.endswith("_mor") else {}):
            asked(session, name, copy, chosen, tally)
        print(f"{hudi} {name}: {tally}", flush=True)
    out.write_text(json.dumps(asdict(tally)), encoding="utf-8")
    session.spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), tuple(sys.argv[5:]))
