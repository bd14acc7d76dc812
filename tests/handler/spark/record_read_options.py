"""What Hudi's own Spark reader makes of its read options: the rows of real tables, or that it refuses.

    python -m tests.handler.spark.record_read_options        with `.venv/spark35`; writes data/read_options.json

Each case is a set of options of the DataFrameReader and of settings of the session. ``{0}`` stands for the first
instant of the table, ``{-1}`` for its last. ``{1:seconds}`` and the like write an instant in another form. A row is its
key and the time of its commit; an answer is the number of rows and a digest of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from handler import open_table
from tests.handler.spark.real_tables import FOLDERS, unpack
from tests.tables.releases import RELEASES, session

CONFORMANCE = Path(__file__).parents[2] / "data" / "conformance"
ANSWERS = Path(__file__).parent / "data" / "read_options.json"
TABLES = ["0.15.0_wide_cow", "0.15.0_wide_mor", "1.0.2_wide_mor", "1.2.0_wide_cow", "1.2.0_flat_mor", "1.2.0_grown_mor"]

_TYPE, _VIEW, _RO = "hoodie.datasource.query.type", "hoodie.datasource.view.type", "hoodie.query.as.ro.table"
_BEGIN, _END = "hoodie.datasource.read.begin.instanttime", "hoodie.datasource.read.end.instanttime"

#: (options, settings of the session)
CASES: list[tuple[dict[str, str], dict[str, str]]] = [
    ({}, {}),
    *(
        ({"as.of.instant": text}, {})
        for text in (
            *("{0}", "{1}", "{-1}", "{1:early}", "{1:short}", "{1:seconds}", "{1:millis}", "{1:iso}", "{1:day}"),
            *("{-1:tomorrow}", "20200101000000000", "19000101", "2099-01-01", "99991231235959999", "yesterday", ""),
            *(" {1} ", "{1:tenths}", "{1:minutes}", "2026-13-45"),
        )
    ),
    ({"AS.OF.Instant": "{1}"}, {}),
    *(({name: value}, {}) for name in (_TYPE, _VIEW) for value in ("snapshot", "read_optimized", "READ_OPTIMIZED")),
    ({_TYPE: "realtime"}, {}),
    ({_VIEW: "realtime"}, {}),
    ({_TYPE: ""}, {}),
    ({"Hoodie.DataSource.Query.TYPE": "read_optimized"}, {}),
    ({_TYPE: "snapshot", _VIEW: "read_optimized"}, {}),
    ({_RO: "true"}, {}),
    ({_RO: "false"}, {}),
    ({_RO: "true", _TYPE: "snapshot"}, {}),
    ({_RO: "false", _TYPE: "read_optimized"}, {}),
    ({_TYPE: "read_optimized", "as.of.instant": "{1}"}, {}),
    ({_TYPE: "incremental", _BEGIN: "{0}"}, {}),
    ({_TYPE: "incremental", _BEGIN: "{0}", _END: "{1}"}, {}),
    ({_TYPE: "incremental", _BEGIN: "{0}", "hoodie.datasource.query.incremental.format": "cdc"}, {}),
    ({_BEGIN: "{1}"}, {}),
    ({_END: "{1}"}, {}),
    ({"hoodie.datasource.query.incremental.format": "latest_state"}, {}),
    ({"hoodie.datasource.query.incremental.format": "cdc"}, {}),
    ({"hoodie.datasource.read.start.timestamp": "{1}"}, {}),
    ({"hoodie.datasource.merge.type": "skip_merge"}, {}),
    ({"hoodie.datasource.merge.type": "payload_combine"}, {}),
    ({"hoodie.datasource.merge.type": "PAYLOAD_COMBINE"}, {}),
    ({"hoodie.metadata.enable": "false"}, {}),
    ({"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "false"}, {}),
    ({"hoodie.schema.on.read.enable": "true"}, {}),
    ({"hoodie.schema.on.read.enable": "false"}, {}),
    ({"hoodie.file.index.enable": "false"}, {}),
    ({"hoodie.file.group.reader.enabled": "false"}, {}),
    ({"hoodie.datasource.read.file.index.listing.mode": "eager"}, {}),
    ({"hoodie.datasource.read.use.new.parquet.file.format": "false"}, {}),
    ({"hoodie.datasource.read.extract.partition.values.from.path": "true"}, {}),
    ({"hoodie.datasource.write.precombine.field": "i"}, {}),
    ({"hoodie.write.record.merge.mode": "COMMIT_TIME_ORDERING"}, {}),
    ({"hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"}, {}),
    ({"timestampAsOf": "{1:seconds}"}, {}),
    ({"versionAsOf": "{1}"}, {}),
    ({}, {_TYPE: "read_optimized"}),
    ({_TYPE: "snapshot"}, {_TYPE: "read_optimized"}),
    ({}, {"spark." + _TYPE: "read_optimized"}),
    ({}, {_VIEW: "read_optimized"}),
    ({}, {_RO: "true"}),
    ({}, {"as.of.instant": "{1}"}),
    ({}, {"spark.as.of.instant": "{1}"}),
    ({}, {"hoodie.datasource.merge.type": "skip_merge"}),
    ({}, {_TYPE: "incremental", _BEGIN: "{0}"}),
    ({}, {"spark." + _TYPE: "incremental", "spark." + _BEGIN: "{0}"}),
    ({}, {"hoodie.schema.on.read.enable": "true"}),
]


def filled(text: str, instants: list[str]) -> str:
    """The text with instants of the table in place of its placeholders."""

    def form(match: re.Match[str]) -> str:
        whole = instants[int(match[1])]
        year, month, day = whole[:4], whole[4:6], whole[6:8]
        date, clock = f"{year}-{month}-{day}", f"{whole[8:10]}:{whole[10:12]}:{whole[12:14]}"
        return {
            "": whole,
            "early": str(int(whole) - 1),
            "short": whole[:14],
            "seconds": f"{date} {clock}",
            "millis": f"{date} {clock}.{whole[14:]}",
            "tenths": f"{date} {clock}.{whole[14:15]}",
            "minutes": f"{date} {clock[:5]}",
            "iso": f"{date}T{clock}.{whole[14:]}",
            "day": date,
            "tomorrow": f"{date[:8]}{int(day) + 1:02}",
        }[match[2] or ""]

    return re.sub(r"\{(-?\d)(?::(\w+))?\}", form, text)


def unpacked(name: str, folder: Path) -> Path:
    if CONFORMANCE not in FOLDERS and not any((one / f"{name}.zip").exists() for one in FOLDERS):
        import tarfile

        with tarfile.open(CONFORMANCE / f"{name}.tar.xz") as archive:
            archive.extractall(folder / name, filter="data")
        return folder / name
    return unpack(name, folder / name)


def answer_of(rows: Iterable[Sequence[Any]]) -> str:
    """What stands for (key, time of the commit) of some rows, in any order."""
    texts = sorted(f"{key} {commit}" for key, commit in rows)
    return f"{len(texts)} rows {hashlib.sha256(' '.join(texts).encode()).hexdigest()[:16]}"


def answer(spark: Any, path: Path, options: dict[str, str], settings: dict[str, str], instants: list[str]) -> str:
    for name, value in settings.items():
        spark.conf.set(name, filled(value, instants))
    try:
        given = {name: filled(value, instants) for name, value in options.items()}
        frame = spark.read.format("hudi").options(**given).load(str(path))
        return sorted(
            f"{row[0]} {row[1]}" for row in frame.select("_hoodie_record_key", "_hoodie_commit_time").collect()
        )
    except Exception as error:
        said = str(error).replace(str(path.parent), "/...")
        return f"refused: {type(error).__name__} {' '.join(said.split())[:160]}"
    finally:
        for name in settings:
            spark.conf.unset(name)


def main(release: str, out: Path) -> None:
    """The answers of one release of Hudi on the tables that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        spark = session(RELEASES[release], Path(folder))
        answers = {}
        for name in TABLES:
            if name.startswith(release):
                path = unpacked(name, Path(folder))
                instants = [one.requested for one in open_table(path, cache=None).table.timeline.writes]
                answers[name] = [answer(spark, path, *case, instants) for case in CASES]
                print(name, len(instants), flush=True)
        out.write_text(json.dumps(answers, indent=0) + "\n", encoding="utf-8")
        spark.stop()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1], Path(sys.argv[2]))
    else:
        parts: dict[str, Any] = {}
        for one in RELEASES:
            target = Path(tempfile.gettempdir()) / f"read_options_{one}_{os.getpid()}.json"
            subprocess.run([sys.executable, "-m", __spec__.name, one, str(target)], check=True)
            parts |= json.loads(target.read_text(encoding="utf-8"))
        ANSWERS.write_text(json.dumps(parts, indent=0) + "\n", encoding="utf-8")
