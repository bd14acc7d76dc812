"""The demo's table and filters, as ``sargo demo --keep playground`` leaves them, made once for a build."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from handler.demo.run import unpack_filters, unpack_table

__all__ = ["playground"]


@cache
def playground() -> Path:
    """The folder ``playground``, under a short path, for pictures show it."""
    folder = Path(tempfile.gettempdir()) / "sargo-docs" / "playground"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    unpack_filters(folder)
    unpack_table(folder)
    (folder / "workload.sql").write_text("u = 7 OR s = 'c1'\n", encoding="utf-8")  # as docs/guides/indexes.md does
    return folder
