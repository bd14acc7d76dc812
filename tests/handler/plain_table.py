"""A Hudi table of any rows without a metadata table (version 6): for layouts that no table of the corpus has."""

from __future__ import annotations

import itertools
import json

import pyarrow.parquet as pq

INSTANT = "20260101000000000"


def plain_table(folder, files, partition_field="", schema=""):
    """``files``: for each file its partition ("" for none) and its rows, a pyarrow table. ``schema``: in Avro."""
    hoodie = folder / ".hoodie"
    hoodie.mkdir(parents=True)
    properties = {
        "hoodie.table.name": "plain",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "6",
        "hoodie.timeline.layout.version": "1",
        "hoodie.table.base.file.format": "PARQUET",
        "hoodie.table.recordkey.fields": "id",
    }
    if partition_field:
        properties |= {
            "hoodie.table.partition.fields": partition_field,
            "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
            "hoodie.datasource.write.hive_style_partitioning": "true",
        }
    (hoodie / "hoodie.properties").write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    extra = {"schema": schema} if schema else {}
    (hoodie / f"{INSTANT}.commit").write_text(json.dumps({"partitionToWriteStats": {}, "extraMetadata": extra}))
    for number, (partition, rows) in enumerate(files):
        place = folder / partition if partition else folder
        place.mkdir(exist_ok=True)
        pq.write_table(rows, place / f"f{number:05d}_0-1-0_{INSTANT}.parquet")
    return folder


def cut(rows, count):
    """Rows in files of about equal rows, in their order."""
    ends = [len(rows) * i // count for i in range(count + 1)]
    return [rows.slice(a, b - a) for a, b in itertools.pairwise(ends)]
