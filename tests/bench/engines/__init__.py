"""The engines of this bench, one a file. Those whose library is not installed are left out."""

from __future__ import annotations

import importlib
import importlib.util
import os

from tests.bench.engines.base import Engine

__all__ = ["engines", "missing"]

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is imported

#: Class, module, and the library that it needs.
_ENGINES = [
    ("Sargo", "sargo", "numpy"),
    ("SargoScan", "sargo", "numpy"),
    ("SargoFlat", "sargo", "numpy"),
    ("NumpyScan", "numpy_scan", "numpy"),
    ("PolarsFrame", "polars_frame", "polars"),
    ("DataFusionTable", "datafusion_table", "datafusion"),
    ("DuckDBTable", "duckdb_table", "duckdb"),
    ("ArrowCompute", "arrow_compute", "pyarrow"),
    ("IcebergEvaluator", "iceberg_evaluator", "pyiceberg"),
]


def engines() -> list[type[Engine]]:
    """The engines that can run here."""
    return [
        getattr(importlib.import_module(f"{__name__}.{module}"), name)
        for name, module, library in _ENGINES
        if importlib.util.find_spec(library)
    ]


def missing() -> list[str]:
    """The libraries that are not installed; ``pip install 'sargo[bench]'`` brings them."""
    return sorted({library for *_, library in _ENGINES if not importlib.util.find_spec(library)})
