"""Messages of layout() for the tests of the jar for Spark, as Apache Thrift writes them from ``handler/sargo.thrift``.

    python -m tests.handler.spark.extension.layout_messages        # writes MESSAGES anew

Each line of the file is ``name=hex``, a whole frame with its length. The values stand in ``LayoutQuestionTest.java``,
too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handler.sidecar.idl import LayoutReply, LayoutRequest, RefusedMessage
from handler.sidecar.wire import ThriftCall, call_message, result

__all__ = ["MESSAGES", "text"]

_RESOURCES = Path(__file__).parents[4] / "handler/java/spark/src/test/resources/io/sargo/spark"
MESSAGES = _RESOURCES / "buckets/layout_messages.properties"
HEAD = "# Written by `python -m tests.handler.spark.extension.layout_messages` from handler/sargo.thrift.\n"
OPTIONS = "hoodie.bucket.index.hash.field=größe\nhoodie.index.type=BUCKET\n"
REQUEST = {"protocol_version": 1, "table": "file:/t", "options": OPTIONS.encode(), "secret": "open sesame"}
REPLIES: dict[str, dict[str, Any]] = {
    "buckets": {"protocol_version": 1, "buckets": 8, "columns": ["id", "größe"], "instant": "20250101000000000"},
    "why": {"protocol_version": 1, "why": "consistent hashing"},
    "another_version": {"protocol_version": 2, "buckets": 8, "columns": ["id"]},
    "no_version": {"buckets": 8, "columns": ["id"]},
    "no_columns": {"protocol_version": 1, "buckets": 8},
    "negative": {"protocol_version": 1, "buckets": -8, "columns": ["id"], "why": "no"},
    "too_many": {"protocol_version": 1, "buckets": 1 << 30, "columns": ["id"]},
    "nothing": {"protocol_version": 1},
}


def text() -> str:
    """What the file holds."""
    call = ThriftCall("layout", 1, ())
    messages = {"request": call_message("layout", {"request": LayoutRequest(**REQUEST)})}
    messages |= {f"reply.{name}": result(call, LayoutReply(**fields)) for name, fields in REPLIES.items()}
    messages["refused"] = result(call, refused=RefusedMessage(code="table", why="the table is not below the roots"))
    frames = {name: len(message).to_bytes(4, "big") + message for name, message in messages.items()}
    return HEAD + "".join(f"{name}={frame.hex()}\n" for name, frame in frames.items())


if __name__ == "__main__":
    MESSAGES.write_text(text(), encoding="utf-8", newline="\n")
