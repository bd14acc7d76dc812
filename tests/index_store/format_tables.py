"""Small real tables of every form that Hudi's timeline and files take (tests/data/hudi/format), with Spark's answers.

``_oracle.json`` of each holds, for the latest state and for older instants, the file groups of a full read and, per
filter, the rows that match and the file groups that they are in.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "data" / "hudi" / "format"
ALL = tuple(sorted(path.name.removesuffix(".tar.xz") for path in FOLDER.glob("*.tar.xz")))
#: Tables that Hudi's own readers read wrongly: archiving beyond a savepoint.
DISPUTED = tuple(name for name in ALL if "archived_saved" in name)
FORMAT_TABLES = tuple(name for name in ALL if name not in DISPUTED)


def unpack_format_table(name: str, target: Path) -> Path:
    """The table's directory, made at the target."""
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(target, filter="data")
    return target


def reads_of(table: Path) -> list[dict[str, Any]]:
    """What Spark read: the latest state first, then older instants."""
    return json.loads((table / "_oracle.json").read_text())["reads"]
