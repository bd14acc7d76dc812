"""The demo's table and filters, as ``sargo demo --keep playground`` leaves them, made once for a build."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from handler.demo.run import unpack_filters, unpack_table

__all__ = ["playground"]


@cache
def playground() -> Path:
    """The folder ``playground``, until the build ends. Its path is short, because pictures show it."""
    temporary = Path(tempfile.mkdtemp(prefix="sargo-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    folder = temporary / "playground"
    folder.mkdir()
    unpack_filters(folder)
    unpack_table(folder)
    (folder / "workload.sql").write_text("u = 7 OR s = 'c1'\n", encoding="utf-8")  # as docs/guides/indexes.md does
    return folder
