"""The columns of a Hudi table as Spark sees them, without Hudi on Spark's class path.

They are those of ``handler.rows.table_types``, converted by PySpark: an instant is ``timestamp``, a wall clock
``timestamp_ntz``.
"""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from handler.rows.table_types import arrow_schema
from index_store.storage.errors import TableError
from index_store.table.table import Table

__all__ = ["spark_schema"]


def spark_schema(table: Table, instant: str | None = None) -> StructType:
    """The schema of a table as of an instant of its timeline, by default of its latest commit.

    Raises TableError when no commit has a schema, or its schema has a type that Spark does not support.
    """
    try:
        found: StructType = from_arrow_schema(arrow_schema(table, instant), prefer_timestamp_ntz=True)
    except PySparkException as error:
        raise TableError(table.path, f"the table's schema cannot be given to Spark: {error}") from error
    return found
