"""Real Hudi tables, unpacked where a test wants them: by name, whatever folder of the tests' data holds them."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

HUDI = Path(__file__).parents[2] / "data" / "hudi"
FOLDERS = (HUDI, HUDI / "format", HUDI / "keys", HUDI / "proofs", Path(__file__).parent / "data")


def unpack(name: str, target: Path) -> Path:
    """The directory of the table ``name`` (``1.1.1_main_cow``), made at the target unless it is there."""
    if target.exists():
        return target
    for folder in FOLDERS:
        zipped, archived = folder / f"{name}.zip", folder / f"{name}.tar.xz"
        if zipped.exists():
            with zipfile.ZipFile(zipped) as archive:
                archive.extractall(target)
            return target
        if archived.exists():
            with tarfile.open(archived) as archive:
                archive.extractall(target, filter="data")
            return target
    raise FileNotFoundError(name)
