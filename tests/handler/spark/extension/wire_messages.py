"""Messages of layout() and aggregate() for the tests of the jar for Spark, as Apache Thrift writes them from the IDL.

    python -m tests.handler.spark.extension.wire_messages        # writes the files anew

Each line of a file is ``name=hex``, a whole frame with its length. The values stand in ``LayoutQuestionTest.java`` and
``AggregateQuestionTest.java``, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handler.sidecar.idl import AggregateReply, AggregateRequest, LayoutReply, LayoutRequest, RefusedMessage
from handler.sidecar.wire import ThriftCall, call_message, result

__all__ = ["COMMAND", "files"]

COMMAND = "python -m tests.handler.spark.extension.wire_messages"
_RESOURCES = Path(__file__).parents[4] / "handler/java/spark/src/test/resources/io/sargo/spark"
_HEAD = f"# Written by `{COMMAND}` from handler/sargo.thrift.\n"
_OPTIONS = "hoodie.bucket.index.hash.field=größe\nhoodie.index.type=BUCKET\n"
_LAYOUT = {"protocol_version": 1, "table": "file:/t", "options": _OPTIONS.encode(), "secret": "open sesame"}
_LAYOUTS: Mapping[str, dict[str, Any]] = {
    "buckets": {"protocol_version": 1, "buckets": 8, "columns": ["id", "größe"], "instant": "20250101000000000"},
    "why": {"protocol_version": 1, "why": "consistent hashing"},
    "another_version": {"protocol_version": 2, "buckets": 8, "columns": ["id"]},
    "no_version": {"buckets": 8, "columns": ["id"]},
    "no_columns": {"protocol_version": 1, "buckets": 8},
    "negative": {"protocol_version": 1, "buckets": -8, "columns": ["id"], "why": "no"},
    "too_many": {"protocol_version": 1, "buckets": 1 << 30, "columns": ["id"]},
    "nothing": {"protocol_version": 1},
}
_NAMES = b"a\nb\nc"
_AGGREGATE = {
    "protocol_version": 1,
    "table": "file:/t",
    "filter": b'{"version":1,"conditions":[]}',
    "filter_text": "",
    "engine": "spark-legacy",
    "engine_version": "3.5.5",
    "time_zone": "UTC",
    "query_type": "snapshot",
    "names": _NAMES,
    "names_compressed": False,
    "name_count": 3,
    "query_id": "spark-app-1-7",
    "secret": "open sesame",
    "user": "anna",
    "merges_rows": True,
    "aggregates": "count(*)\nmax(`größe`)".encode(),
}
_ANSWER: dict[str, Any] = {
    "protocol_version": 1,
    "answered": b"\x05",
    "name_count": 3,
    "answered_count": 2,
    "values": ["=7", ""],
    "types": ["bigint", "decimal(10,2)"],
    "reasons": ["log files may change or delete rows"],
    "digest": zlib.crc32(_NAMES),
}
_NOTHING = {"answered": b"", "answered_count": 0, "values": None, "types": None}
_ANSWERS: Mapping[str, dict[str, Any]] = {
    "two": _ANSWER,
    "nothing": _ANSWER | _NOTHING,
    "another_version": _ANSWER | {"protocol_version": 2},
    "another_list": _ANSWER | {"digest": 1},
    "no_digest": _ANSWER | {"digest": None},
    "another_count": _ANSWER | {"name_count": 4},
    "miscounted": _ANSWER | {"answered_count": 3},
    "too_many_bits": _ANSWER | {"answered": b"\x09"},
    "too_many_bytes": _ANSWER | {"answered": b"\x05\x00"},
    "a_value_too_few": _ANSWER | {"values": ["=7"]},
    "no_types": _ANSWER | {"types": None},
    "values_without_files": _ANSWER | {"answered": b"", "answered_count": 0},
}


def files() -> Mapping[Path, str]:
    """What each file holds."""
    layout = {"request": call_message("layout", {"request": LayoutRequest(**_LAYOUT)})}
    layout |= _replies("layout", {name: LayoutReply(**fields) for name, fields in _LAYOUTS.items()})
    aggregate = {"request": call_message("aggregate", {"request": AggregateRequest(**_AGGREGATE)})}
    aggregate |= _replies("aggregate", {name: AggregateReply(**fields) for name, fields in _ANSWERS.items()})
    return {
        _RESOURCES / "buckets/layout_messages.properties": _text(layout),
        _RESOURCES / "scans/aggregate_messages.properties": _text(aggregate),
    }


def _replies(method: str, values: Mapping[str, Any]) -> dict[str, bytes]:
    call = ThriftCall(method, 1, ())
    replies = {f"reply.{name}": result(call, value) for name, value in values.items()}
    refused = RefusedMessage(code="table", why="the table is not below the roots")
    return replies | {"refused": result(call, refused=refused)}


def _text(messages: Mapping[str, bytes]) -> str:
    frames = {name: len(message).to_bytes(4, "big") + message for name, message in messages.items()}
    return _HEAD + "".join(f"{name}={frame.hex()}\n" for name, frame in frames.items())


if __name__ == "__main__":
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
