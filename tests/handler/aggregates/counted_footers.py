"""Which footers an aggregate reads."""

from __future__ import annotations

import pytest

from handler.aggregates import answers
from index_store.formats.parquet_footers import Footers


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the base files whose footers are read from now on, as they come."""
    paths: list[str] = []

    class Counting(Footers):
        def _footer(self, path: str) -> tuple[object, str]:
            paths.append(path)
            return super()._footer(path)

    monkeypatch.setattr(answers, "Footers", Counting)
    return paths
