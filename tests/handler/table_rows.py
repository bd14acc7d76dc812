"""The rows of a table's base files, read with pyarrow, in the value form of ``evaluator.language.types``."""

import datetime
from typing import Any

import pyarrow.parquet as pq

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def rows_of(folder, slices):
    """By file id, for slices without log files."""
    return {
        item.file_id: [value_form(row) for row in pq.read_table(folder / item.base_file, partitioning=None).to_pylist()]
        for item in slices
        if item.base_file and not item.log_files
    }


def value_form(row: dict[str, Any]) -> dict[str, Any]:
    """A row with nested fields under dotted names, dates as days and timestamps as microseconds."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        match value:
            case dict():
                flat |= {f"{name}.{field}": inner for field, inner in value.items()}
                flat[name] = value
            case datetime.datetime():
                flat[name] = (value.astimezone(datetime.timezone.utc) - EPOCH) // datetime.timedelta(microseconds=1)
            case datetime.date():
                flat[name] = (value - EPOCH.date()).days
            case _:
                flat[name] = value
    return flat
