"""What `make test-spark35` collects, and no other run: a test module that needs Spark 4 would end it at its start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
AS_ON_35 = """
import sys
import pyspark
import pytest

pyspark.__version__ = "3.5.5"
sys.modules["pyspark.sql.datasource"] = None    # Spark 3.5 has no such module
sys.exit(pytest.main(["--collect-only", "-p", "no:cacheprovider", "tests/handler/spark"]))
"""


def test_every_module_can_be_imported_without_data_sources():
    done = subprocess.run([sys.executable, "-c", AS_ON_35], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "source/" not in done.stdout
