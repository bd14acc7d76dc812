"""`make tables`: write the tables of tests/data/conformance anew, with real Hudi.

    python -m tests.tables.generate [TABLE ...]             all releases, packed into tests/data/conformance
    python -m tests.tables.generate --write RELEASE FOLDER [TABLE ...]       with the Python that has Spark 3.5

`<release>_<table>.tar.xz` is a table as Hudi left it, without the checksum files. File ids and instants differ from
run to run; `make conformance` computes the row truth anew from the written tables.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from tests.tables.releases import PYTHON, RELEASES, ROOT, session
from tests.tables.stories import STORIES
from tests.tables.writer import Writer

DATA = ROOT / "tests" / "data" / "conformance"
MAX_BYTES = 200_000


def tables_of(release: str, wanted: tuple[str, ...]) -> list[str]:
    return [name for name, story in STORIES.items() if release in story.releases and (not wanted or name in wanted)]


def write(release: str, folder: Path, wanted: tuple[str, ...]) -> None:
    """The tables of a release, below this folder."""
    spark = session(RELEASES[release], folder)
    for name in tables_of(release, wanted):
        begun = time.monotonic()
        path = folder / name
        shutil.rmtree(path, ignore_errors=True)
        story = STORIES[name]
        story.write(Writer(spark, RELEASES[release], path, **story.writer))
        print(f"{release} {name}: {time.monotonic() - begun:.0f} s", flush=True)
    spark.stop()


def pack(table: Path, archive: Path) -> int:
    """Write the archive and return its bytes; raises ValueError when it is too large for a repository."""

    def kept(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
        item.uid = item.gid = item.mtime = 0
        item.uname = item.gname = ""
        return None if item.name.endswith(".crc") or "/.temp" in item.name else item

    with tarfile.open(archive, "w:xz", preset=9) as opened:
        for item in sorted(table.iterdir()):
            opened.add(item, item.name, filter=kept)
    size = archive.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{archive.name} has {size:,} bytes: more than {MAX_BYTES:,}")
    return size


def main(*arguments: str) -> None:
    if arguments[:1] == ("--write",):
        write(arguments[1], Path(arguments[2]).resolve(), arguments[3:])
        return
    DATA.mkdir(exist_ok=True)
    for release in RELEASES.values():
        names = tables_of(release.hudi, arguments)
        if not names:
            continue
        release.fetch()
        with tempfile.TemporaryDirectory(prefix="sargo-tables-") as folder:
            command = [str(PYTHON), "-m", "tests.tables.generate", "--write", release.hudi, folder, *names]
            subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "TZ": "UTC"})
            for name in names:
                size = pack(Path(folder) / name, DATA / f"{release.hudi}_{name}.tar.xz")
                print(f"{release.hudi} {name}: {size:,} bytes", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
