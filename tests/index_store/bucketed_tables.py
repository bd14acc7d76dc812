"""The real tables that have buckets, with the options that their catalog entry would have, and their rows by file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.index_store.rows import rows_of


def options(number: int | None, fields: str = "", engine: str = "SIMPLE", rules: str = "") -> dict[str, str]:
    found = {"hoodie.index.type": "BUCKET", "hoodie.index.bucket.engine": engine}
    told = {"num.buckets": "" if number is None else str(number), "hash.field": fields, "partition.expressions": rules}
    return found | {f"hoodie.bucket.index.{name}": value for name, value in told.items() if value}


RING = "CONSISTENT_HASHING"
SIMPLE_TABLES = {
    "1.1.1_bucket_cow": options(4, "id"),
    "1.1.1_bucket_int_cow": options(5, "l"),
    "1.1.1_bucket_part_cow": options(4, "id", rules="p=p0,2;p=p1,6"),
    "keys/1.0.2_bucket_two_cow": options(5, "id,n"),
    "keys/1.1.1_bucket_two_cow": options(5),
    "keys/1.1.1_bucket_swapped7_cow": options(7, "n,id"),
    "keys/1.1.1_bucket_sub_mor": options(5, "n"),
    "keys/1.1.1_bucket_subid7_cow": options(7, "id"),
    "keys/1.2.0_bucket_types_cow": options(3, rules="p=b,6"),
}
RING_TABLES = {
    "1.1.1_bucket_ch_mor": options(4, engine=RING),
    "1.1.1_bucket_ch_resized_mor": options(2, engine=RING),
    "keys/1.1.1_bucket_ch_two_mor": options(4, "id,n", RING),
    "keys/1.2.0_bucket_ch_types_mor": options(3, engine=RING),
}
BUCKETED = SIMPLE_TABLES | RING_TABLES


def rows_by_file(path: Path, files: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The rows of some files of a table, updated ones more than once; blocks of deletions are left out."""
    for file in files:
        yield from (row for row in rows_of(path / file) if "_hoodie_record_key" in row)
