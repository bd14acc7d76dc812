"""Hashes of record keys for the tests of the jar for Spark, as ``index_store.buckets`` computes them.

    python -m tests.handler.spark.extension.key_hashes        # writes HASHES anew

Each line of the file has tabs between its parts: the hash without its sign, then the type and the text of each value.
The text is that of the record key but for a date (its days since 1970); NULL is the type ``null``. The rows of tables
that Hudi wrote follow, with the number of buckets and the bucket of the row's file in the place of the hash.
"""

from __future__ import annotations

import datetime
import random
import tempfile
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from index_store import open_table
from index_store.buckets.hashes import Values, simple_hash
from index_store.formats.record_key import EMPTY, NULL

__all__ = ["HASHES", "text"]

ROOT = Path(__file__).parents[4]
HASHES = ROOT / "handler/java/spark/src/test/resources/io/sargo/spark/hashing/key_hashes.tsv"
HEAD = "# Written by `python -m tests.handler.spark.extension.key_hashes`.\n"
_EPOCH = datetime.date(1970, 1, 1)
_INTS = {"byte": 7, "short": 15, "int": 31, "long": 63}
_TEXTS = (
    "",
    "a",
    "k0001",
    "a:b",
    "x,y",
    "schlüssel",
    "日本",
    "\U0001f600",
    "a\U0001f600é",
    "null",
    "__null__",
    "~" * 80,
)
_DECIMALS = (
    "0",
    "0.00",
    "-1.50",
    "1234567890123456.78",
    "0.0000001",
    "1E-7",
    "-0.000000015",
    "99999999999999999999999999999999999999",
)
_DATES = (0, -1, 1, 20454, -719162, 2932896, -141427)
#: Tables with a simple bucket index of one number of buckets: name, the number, the key's columns and their types.
_TABLES = (
    ("1.1.1_bucket_cow", 4, {"id": "string"}),
    ("keys/1.1.1_bucket_two_cow", 5, {"id": "string", "n": "int"}),
)


def _values() -> Iterator[tuple[tuple[str, str, str | None], ...]]:
    """Keys: the type, the text in the file, and the text that is hashed, of each value."""
    singles: list[tuple[str, str, str | None]] = [("null", "", None)]
    singles += [("string", one, one) for one in _TEXTS]
    for kind, bits in _INTS.items():
        singles += [(kind, str(one), str(one)) for one in (0, 1, -1, 10, -10, 99, 2**bits - 1, -(2**bits))]
    singles += [("boolean", one, one) for one in ("true", "false")]
    singles += [("decimal", one, str(Decimal(one))) for one in _DECIMALS]
    singles += [("date", str(one), (_EPOCH + datetime.timedelta(one)).isoformat()) for one in _DATES]
    yield from ((one,) for one in singles)
    chance = random.Random(29)
    for _ in range(200):
        yield tuple(chance.choice(singles) for _ in range(chance.randint(2, 4)))


def _rows(name: str, buckets: int, key: dict[str, str]) -> Iterator[list[str]]:
    """Rows of a table of Hudi's: the number of buckets, the bucket of the file, the types and texts."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(ROOT / "tests/data/hudi" / f"{name}.zip") as archive:
            archive.extractall(folder)
        for one in open_table(folder).slices():
            for row in filter(_is_plain, _read(Path(folder) / str(one.base_file), list(key))):
                parts = [part for column, kind in key.items() for part in _part(kind, row[column])]
                yield [f"{buckets}:{int(one.file_id[:8])}", *parts]


def _is_plain(row: dict[str, object]) -> bool:
    """Whether Hudi takes the row's key apart into the row's values. The extension fails for a row of another key."""
    return not any(text in (NULL, EMPTY) or ":" in text or "," in text for text in map(str, row.values()))


def _part(kind: str, value: object) -> tuple[str, str]:
    return ("null", "") if value is None else (kind, str(value))


def _read(file: Path, columns: list[str]) -> list[dict[str, object]]:
    from pyarrow import parquet

    rows: list[dict[str, object]] = parquet.read_table(file, columns=columns, partitioning=None).to_pylist()
    return rows


def text() -> str:
    """What the file holds."""
    lines = []
    for key in _values():
        hashed: Values = tuple(one for _, _, one in key)
        lines.append([str(simple_hash(hashed)), *(part for kind, written, _ in key for part in (kind, written))])
    for table in _TABLES:
        lines += _rows(*table)
    return HEAD + "".join("\t".join(line) + "\n" for line in lines)


if __name__ == "__main__":
    HASHES.write_text(text(), encoding="utf-8", newline="\n")
