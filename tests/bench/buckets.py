"""Hudi's bucket of every key: a column at once and key by key; ``assign_buckets`` beside Spark's own means.

    a column               ``HashFields.hashes`` over batches of 10,000 UUIDs, as a Spark worker does it
    key by key             ``simple_hash`` of each
    assign_buckets         rows of a DataFrame by their bucket, one text as the key
    higher-order functions the same numbers, composed of ``aggregate`` and ``ascii``: right for ASCII only
    Spark's hash           the cost of a shuffle by any column

Wall time; ratios are rows a second to those of the line that they name. Without Java, Spark's lines are left out.
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from index_store.buckets.hash_fields import HashFields
from index_store.buckets.hashes import simple_hash
from tests.bench.own_build import spark_session

KEYS, ROWS, BATCH, BUCKETS = 500_000, 1_000_000, 10_000, 16
Row = tuple[str, str, str]
ONE, TWO = HashFields(("id",), ("id",)), HashFields(("id", "n"), ("id", "n"))


def run() -> Iterator[Row]:
    """The figures."""
    random = np.random.default_rng(7)
    texts = [str(uuid.UUID(bytes=random.bytes(16))) for _ in range(KEYS)]
    few = texts[: KEYS // 20]
    single = len(few) / _seconds(lambda: [simple_hash((text,)) for text in few])
    yield "UUIDs key by key", _rate(single), ""
    composite = [f"id:{text},n:{number}" for number, text in enumerate(texts)]
    for name, fields, keys, on_ring in (
        ("simple hash", ONE, texts, False),
        ("simple hash, two fields", TWO, composite, False),
        ("ring", ONE, texts, True),
        ("ring, two fields", TWO, composite, True),
    ):
        rate = KEYS / _hashing(fields, pa.array(keys), on_ring)
        yield f"UUIDs in a column: {name}", _rate(rate), f"{rate / single:.1f} x key by key"
    if shutil.which("java") is not None:
        yield from _on_spark()


def _hashing(fields: HashFields, keys: pa.Array, on_ring: bool) -> float:
    return min(
        _seconds(
            lambda: [
                fields.hashes(keys[start : start + BATCH], on_ring=on_ring) for start in range(0, len(keys), BATCH)
            ]
        )
        for _ in range(2)
    )


def _on_spark() -> Iterator[Row]:
    from pyspark.sql import functions as F  # noqa: N812

    from handler.spark import assign_buckets

    spark = spark_session()
    try:
        rows = spark.range(ROWS).selectExpr("md5(cast(id as string)) AS id").cache()
        text = "aggregate(split(id, ''), 0L, (hash, one) -> (hash * 31 + ascii(one)) & 4294967295L)"
        frames = {
            "assign_buckets": assign_buckets(rows, BUCKETS, "id"),
            "higher-order functions": rows.withColumn("bucket", F.expr(f"((31 + {text}) & 2147483647) % {BUCKETS}")),
            "Spark's hash": rows.withColumn("bucket", F.expr(f"pmod(hash(id), {BUCKETS})")),
        }
        first, other = (sorted(map(tuple, _count(frames[name]))) for name in list(frames)[:2])
        assert first == other
        times = {name: min(_seconds(partial(_count, frame)) for _ in range(3)) for name, frame in frames.items()}
    finally:
        spark.stop()
    for name, seconds in times.items():
        yield (
            f"{ROWS:,} rows: {name}",
            _rate(ROWS / seconds),
            (f"{times[name] / times['assign_buckets']:.2f} x the time of assign_buckets"),
        )


def _count(frame: Any) -> Any:
    return frame.groupBy("bucket").count().collect()


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _rate(rate: float) -> str:
    return f"{rate / 1e6:.2f} million a second"
