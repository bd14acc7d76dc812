"""Write a table for each key generator with real Hudi, and record the rows that Hudi's readers return of it.

    python -m tests.tables.record_key_generators [TABLE ...]
    python -m tests.tables.record_key_generators --write RELEASE FOLDER [TABLE ...]     with Spark 3.5's Python
    python -m tests.tables.record_key_generators --read RELEASE FOLDER ANSWERS [TABLE ...]

A table is read by the release that wrote it and by each later one.
"""

from __future__ import annotations

import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.tables.key_generators import COLUMNS, STORIES, rows_of
from tests.tables.releases import PYTHON, RELEASES, ROOT, session

DATA = ROOT / "tests" / "data" / "keygen"


def write(release: str, folder: Path, wanted: tuple[str, ...]) -> None:
    spark = session(RELEASES[release], folder)
    schema = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    failed = {}
    for name, story in STORIES.items():
        if (wanted and name not in wanted) or release not in story.releases:
            continue
        begun = time.monotonic()
        path = folder / name
        shutil.rmtree(path, ignore_errors=True)
        rows = rows_of(story)
        try:
            for operation, part in (("insert", rows[:6]), ("bulk_insert", rows[6:])):
                if not part:
                    continue
                options = story.write_options(name, has_statistics=release == "1.2.0") | {
                    "hoodie.datasource.write.operation": operation
                }
                frame = spark.createDataFrame(part, schema).coalesce(1)
                frame.write.format("hudi").options(**options).mode("append").save(str(path))
            if story.mor:
                changed = [(*row[:1], row[1] + 100, *row[2:]) for row in rows[:3]]
                options = story.write_options(name, has_statistics=release == "1.2.0") | {
                    "hoodie.datasource.write.operation": "upsert"
                }
                frame = spark.createDataFrame(changed, schema).coalesce(1)
                frame.write.format("hudi").options(**options).mode("append").save(str(path))
        except Exception as error:
            failed[name] = str(error).split("\n")[0][:300]
            shutil.rmtree(path, ignore_errors=True)
        print(f"{release} {name}: {time.monotonic() - begun:.1f} s {failed.get(name, '')}", flush=True)
    spark.stop()


def read(release: str, folder: Path, answers: Path, wanted: tuple[str, ...]) -> None:
    spark = session(RELEASES[release], folder)
    made: dict[str, Any] = {}
    for path in _tables(folder):
        if not wanted or path.name in wanted:
            made[path.name] = _rows(spark, path)
            print(f"{path.name} read by {release}", flush=True)
    answers.write_text(json.dumps(made))
    spark.stop()


def _tables(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if (one / ".hoodie").exists())


def _rows(spark: Any, path: Path) -> dict[str, Any]:
    """The types of the partition columns, and by record key their values as text; or the error that readers raise."""
    names = STORIES[path.name].names
    try:
        frame = spark.read.format("hudi").load(str(path))
        kinds = {field.name: field.dataType.simpleString() for field in frame.schema}
        rows = frame.selectExpr("id", *(f"cast({name} as string) {name}" for name in names)).collect()
    except Exception as error:
        return {"error": str(error).split("\n")[0][:100]}
    return {
        "types": {name: kinds[name] for name in names},
        "rows": {row["id"]: [row[name] for name in names] for row in sorted(rows, key=lambda one: one["id"])},
    }


def record(wanted: tuple[str, ...]) -> None:
    """Write and read everything anew, and pack it."""
    answers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="sargo-keygen-") as home:
        for release in RELEASES.values():
            release.fetch()
            folder = Path(home) / release.hudi
            folder.mkdir()
            _run("--write", release.hudi, str(folder), *wanted)
        for written in RELEASES:
            for reader in [one for one in RELEASES if list(RELEASES).index(one) >= list(RELEASES).index(written)]:
                made = Path(home) / f"{written}_{reader}.json"
                _run("--read", reader, str(Path(home) / written), str(made))
                answers[f"{written} read by {reader}"] = json.loads(made.read_text())
            pack(Path(home) / written, written)
    pack_answers(answers)


def _run(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "tests.tables.record_key_generators", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "TZ": "UTC"})


def pack(folder: Path, release: str) -> None:
    """All tables of a release in one archive, without checksum files."""

    def kept(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
        item.uid = item.gid = item.mtime = 0
        item.uname = item.gname = ""
        return None if item.name.endswith(".crc") or "/.temp" in item.name else item

    DATA.mkdir(exist_ok=True)
    with tarfile.open(DATA / f"{release}.tar.xz", "w:xz", preset=9) as opened:
        for table in _tables(folder):
            opened.add(table, table.name, filter=kept)


def pack_answers(answers: dict[str, Any]) -> None:
    with lzma.open(DATA / "answers.json.xz", "wt", encoding="utf-8") as out:
        json.dump(answers, out, ensure_ascii=False, sort_keys=True, indent=1)


def main(*arguments: str) -> None:
    if arguments[:1] == ("--write",):
        write(arguments[1], Path(arguments[2]).resolve(), arguments[3:])
    elif arguments[:1] == ("--read",):
        read(arguments[1], Path(arguments[2]).resolve(), Path(arguments[3]), arguments[4:])
    else:
        record(arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
