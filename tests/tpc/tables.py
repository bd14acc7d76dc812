"""The small tables of the repository (a scale factor of 0.001): one archive for each benchmark."""

from __future__ import annotations

import tarfile
from pathlib import Path

#: One archive, because its tables share rows and footers.
MAX_BYTES = 700_000


def pack(home: Path, archive: Path) -> int:
    """Pack the tables below ``home``; returns the bytes, raises ValueError when they are too many."""

    def kept(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
        item.uid = item.gid = item.mtime = 0
        item.uname = item.gname = ""
        return None if item.name.endswith(".crc") or "/.temp" in item.name else item

    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz", preset=9) as opened:
        for item in sorted(home.iterdir()):
            if item.name != "warehouse":
                opened.add(item, item.name, filter=kept)
    size = archive.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{archive.name} has {size:,} bytes: more than {MAX_BYTES:,}")
    return size


def unpack(home: Path, archive: Path) -> Path:
    with tarfile.open(archive) as opened:
        opened.extractall(home, filter="data")
    return home
