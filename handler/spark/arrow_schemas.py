"""Schemas of Spark as Arrow's, alike in every release of PySpark: an instant is one in UTC.

From 4.2 on PySpark's own function asks for the zone. Before it took none. (``pyspark.sql.pandas.types``)
"""

from __future__ import annotations

import inspect
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas import types
from pyspark.sql.types import StructType

__all__ = ["to_arrow_schema"]

_ZONE: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(types.to_arrow_schema).parameters else {}


def to_arrow_schema(schema: StructType) -> pa.Schema:
    """The schema in types of Arrow. Raises PySparkTypeError for a type that Arrow has not."""
    return types.to_arrow_schema(schema, **_ZONE)
