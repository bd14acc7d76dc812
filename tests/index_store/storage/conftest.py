"""Folders with small files and with a large one."""

from __future__ import annotations

import pytest

from tests.index_store.synthetic import NONE, hfile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "d").mkdir()
    for i in range(40):
        (tmp_path / "d" / f"{i:02d}").write_bytes(bytes([i]) * 100)
    return tmp_path


@pytest.fixture
def large(tmp_path):
    """An HFile of some 12 MB in blocks of 64 KB, and what it holds."""
    records = [(b"%06d" % i, bytes([i % 251]) * 1000) for i in range(12_000)]
    (tmp_path / "large.hfile").write_bytes(hfile(records, codec=NONE))
    return tmp_path, dict(records)
