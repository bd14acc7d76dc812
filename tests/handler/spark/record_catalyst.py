"""Write down how the installed Spark resolves ``catalyst_cases``: ``python -m tests.handler.spark.record_catalyst``.

Gives data/catalyst_<version>.json: per ANSI setting and condition, Catalyst's JSON (without the numbers that change
from run to run, and without package names) and the values that it leaves out, by place. With ANSI only what differs.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType, _parse_datatype_string

from handler.catalyst.tree import missing_parts
from handler.spark.catalyst.analysis import analyse
from tests.handler.spark.catalyst_cases import MEANINGS, NEWER_MEANINGS, SCHEMA, ZONE

#: The nodes of a condition, and the values that they leave out, by place.
_Recorded = tuple[Sequence[Mapping[str, object]], Mapping[int, object]]

LEFT_OUT = ("exprId", "qualifier", "metadata", "plan", "resultId", "nonInheritableMetadataKeys")


def main() -> None:
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    schema = _parse_datatype_string(SCHEMA)
    assert isinstance(schema, StructType)
    newer = {} if spark.version.startswith("3.") else NEWER_MEANINGS
    found: dict[str, dict[str, object]] = {}
    for ansi in ("false", "true"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        found[f"ansi {ansi}"] = {text: _recorded(spark, schema, text) for text in (*MEANINGS, *newer)}
    found["ansi true"] = {
        text: recorded
        for text, recorded in found["ansi true"].items()
        if recorded != found["ansi false"][text] and "rand()" not in text
    }
    lines = [
        f" {json.dumps(mode)}: {{\n"
        + ",\n".join(f"  {json.dumps(text)}: {json.dumps(recorded)}" for text, recorded in by_text.items())
        + "\n }"
        for mode, by_text in found.items()
    ]
    path = Path(__file__).parent / "data" / f"catalyst_{spark.version}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(path)
    spark.stop()


def _recorded(spark: SparkSession, schema: StructType, text: str) -> object:
    analysed = analyse(spark, schema, text, ())
    assert analysed is not None
    items, parts = functools.reduce(_and, analysed[0])
    left_out = {place: parts[place] for place in missing_parts(items) if place in parts}
    exact = {place: list(value) if isinstance(value, bytes | bytearray) else value for place, value in left_out.items()}
    return {"nodes": [_slim(item) for item in items], "exact": exact}


def _and(left: _Recorded, right: _Recorded) -> _Recorded:
    """Two conditions that must both hold, as the one that Spark took apart."""
    node = {"class": "org.apache.spark.sql.catalyst.expressions.And", "num-children": 2, "left": 0, "right": 1}
    first, second = 1, 1 + len(left[0])
    parts = {first + place: value for place, value in left[1].items()}
    return [node, *left[0], *right[0]], parts | {second + place: value for place, value in right[1].items()}


def _slim(item: Mapping[str, object]) -> dict[str, object]:
    """Without numbers of the run; the copies of a node that an expression keeps beside its children are dropped too."""
    kept = {key: value for key, value in item.items() if key not in LEFT_OUT and not _is_copy(key, value)}
    kept["class"] = str(item["class"]).rpartition(".")[2]
    return kept | ({"plan": []} if "plan" in item else {})


def _is_copy(key: str, value: object) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict | list) for one in value) and key != "dataType"


if __name__ == "__main__":
    sys.exit(main())
