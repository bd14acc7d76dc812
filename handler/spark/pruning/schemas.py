"""The columns of a Hudi table as Spark sees them, without Hudi on Spark's class path.

They are those of ``handler.rows.table_types``, converted by PySpark: an instant is ``timestamp``, a wall clock
``timestamp_ntz``.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from handler.planning.by_identity import ByIdentity
from handler.rows.table_types import arrow_schema
from handler.spark.catalyst.analysis import keep_text
from index_store.storage.errors import TableError
from index_store.table.table import Table

__all__ = ["spark_schema"]

_OF_ARROW: ByIdentity[pa.Schema, StructType] = ByIdentity(32)


def spark_schema(table: Table, instant: str | None = None) -> StructType:
    """The schema of a table as of an instant of its timeline, by default of its latest commit. Nobody changes it.

    Raises TableError when no commit has a schema, or its schema has a type that Spark does not support.
    """
    schema = arrow_schema(table, instant)
    known = _OF_ARROW.get(schema)
    if known is not None:
        return known
    try:
        found: StructType = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    except PySparkException as error:
        raise TableError(table.path, f"the table's schema cannot be given to Spark: {error}") from error
    _OF_ARROW.keep(schema, found)
    keep_text(found)
    return found
