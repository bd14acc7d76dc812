"""The filters that real Hive pushes down for each predicate, compiled by its own Driver and kept as data.

    python -m tests.conformance.hive_filters [all]        add new predicates to hive_filters.json.xz, or write it anew

The document: "origin", "columns" (as Hive knows them), and "filters": Hive's version -> SQL -> one of

    {"filter": Base64 of the Kryo bytes, "text": Hive's own text of it}
    {"none": true}         the scan has no filter
    {"empty": true}        Hive plans no scan: it proved that nothing matches
    {"error": why}         Hive does not compile the condition
"""

from __future__ import annotations

import base64
import json
import lzma
import os
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.conformance.cases import CASES
from tests.hive.server import HIVE_3, HIVE_4, OPENED, ROOT, STACKS, Stack, build, site
from tests.hive.tables import HUDI_COLUMNS
from tests.jvm_flags import SHORT_LIVED
from tests.tables.rows import COLUMNS

STORED = Path(__file__).parent / "hive_filters.json.xz"
SOURCE = Path(__file__).parent / "java" / "FilterOf.java"
ORIGIN = (
    "hive.io.filter.expr.serialized as real Hive writes it: each condition came after SELECT * FROM t WHERE, was "
    "compiled by that Hive's own Driver with the settings of hive_conf (CBO on, engine mr, zone UTC), and "
    "the filter of the plan's table scan was serialized by SerializationUtilities.serializeExpression"
)
#: As Hudi's Hive sync names the types: Hudi stores small integers as int. Hive has no timestamp without zone beside its
#: own TIMESTAMP, so the tables' `tn` is not there.
SYNCED = {
    name: {"tinyint": "int", "smallint": "int"}.get(kind, kind)
    for name, kind in COLUMNS.items()
    if kind != "timestamp_ntz"
}
HIVE_COLUMNS = HUDI_COLUMNS + ", " + ", ".join(f"`{name}` {kind}" for name, kind in SYNCED.items())
VERSIONS = {"4.0.1": HIVE_4, "3.1.3": HIVE_3}


@lru_cache
def stored() -> dict[str, Any]:
    with lzma.open(STORED, "rt", encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    return document


def compiled(stack: Stack, conditions: list[str], columns: str = HIVE_COLUMNS) -> dict[str, Any]:
    """SQL -> the answer of this Hive for a table with these columns, as in the document."""
    with tempfile.TemporaryDirectory(prefix="sargo-filters-") as folder:
        home = Path(folder)
        classes = home / "classes"
        path = os.pathsep.join(map(str, build(stack)))
        subprocess.run(["javac", "-nowarn", "-Xlint:none", "-cp", path, "-d", str(classes), str(SOURCE)], check=True)
        (home / "conf").mkdir()
        (home / "scratch").mkdir()
        (home / "scratch").chmod(0o777)
        (home / "conf" / "hive-site.xml").write_text(
            site(
                ROOT / "hive_conf" / stack.fragment,
                STACKS / "hive-site.xml",
                **{
                    "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home}/metastore_db;create=true",
                    "hive.local.time.zone": "UTC",
                    "hive.session.history.enabled": "false",
                },
            )
        )
        path = os.pathsep.join([str(home / "conf"), str(classes), path])
        flags = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED]
        flags += [
            "--add-opens=java.sql/java.sql=ALL-UNNAMED",
            "-Xmx1500m",
            "-Xss64m",
            *SHORT_LIVED,
            f"-Dhs2.home={home}",
            f"-Dderby.stream.error.file={home}/derby.log",
            "-Duser.timezone=UTC",
            "-Dlog4j2.level=OFF",
        ]
        if stack.needs_url_class_loader:
            launch = ["-cp", str(stack.directory / "target" / "classes"), "UrlLauncher", path, "FilterOf"]
        else:
            launch = ["-cp", path, "FilterOf"]
        table = f"CREATE EXTERNAL TABLE t ({columns}) STORED AS PARQUET LOCATION 'file://{home}/t'"
        asked = "\n".join(base64.b64encode(text.encode()).decode() for text in (table, *conditions)) + "\n"
        done = subprocess.run(
            ["java", *flags, *launch, str(home / "answers")], cwd=home, input=asked, text=True, capture_output=True
        )
        if done.returncode:
            raise RuntimeError(f"FilterOf on {stack.name}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        answers = (home / "answers").read_text(encoding="utf-8").splitlines()
    return {sql: _read(answer) for sql, answer in zip(conditions, answers, strict=True)}


def _read(answer: str) -> dict[str, Any]:
    word, *rest = answer.split(" ")
    if word == "filter":
        return {"filter": rest[0], "text": base64.b64decode(rest[1]).decode()}
    if word == "error":
        message = base64.b64decode(rest[0]).decode().split("\n")[0]
        return {"error": message[message.find("SemanticException") :][:200]}
    return {word: True}


def main(which: str = "") -> None:
    stored_filters = stored()["filters"] if STORED.exists() and which != "all" else {}
    conditions = [case.sql for case in CASES]
    filters: dict[str, dict[str, Any]] = {}
    for version, stack in VERSIONS.items():
        here = dict(stored_filters.get(version, {}))
        new = [sql for sql in conditions if sql not in here]
        here |= compiled(stack, new) if new else {}
        filters[version] = {sql: here[sql] for sql in conditions}
        counts = {
            word: sum(word in answer for answer in filters[version].values())
            for word in ("filter", "none", "empty", "error")
        }
        print(f"Hive {version}: {len(new)} compiled; {counts}", flush=True)
    document = {"origin": ORIGIN, "columns": HIVE_COLUMNS, "filters": filters}
    with lzma.open(STORED, "wt", encoding="utf-8", preset=9) as file:
        json.dump(document, file, ensure_ascii=False, indent=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
