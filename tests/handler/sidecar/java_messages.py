"""Thrift messages for the tests of the Java client, as Apache Thrift writes them from ``handler/sargo.thrift``.

The Java client (``Wire.java``) writes and reads these messages by hand. Its tests compare it with the bytes that this
program makes from the IDL, and so with an implementation that shares no code with it:

    python -m tests.handler.sidecar.java_messages        # writes MESSAGES anew

Each line of the file is ``name=hex``, a whole frame with its length. A request ``request.x`` is built a second time in
``WireTest.java`` from the same values; a reply ``reply.x`` is decoded there and compared with the same values.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

from handler.sidecar.idl import PlanReply, PlanRequest, PruneReply, PruneRequest, RefusedMessage
from handler.sidecar.wire import ThriftCall, call_message, failure, result

MESSAGES = Path(__file__).parents[3] / "handler/java/src/test/resources/io/sargo/client/messages.properties"
HEAD = "# Written by `python -m tests.handler.sidecar.java_messages` from handler/sargo.thrift with Apache Thrift.\n"
NAMES = b"dt=1/a.parquet\ndt=1/b.parquet\ndt=2/c.parquet"

REQUIRED: dict[str, Any] = {
    "protocol_version": 1,
    "table": "file:/warehouse/t",
    "filter": b"AQEA",
    "engine": "hive4",
    "names": NAMES,
    "names_compressed": False,
    "name_count": 3,
}
REQUESTS: dict[str, dict[str, Any]] = {
    "required": REQUIRED,
    "all_fields": REQUIRED
    | {
        "table": "hdfs://host:8020/warehouse/t",
        "filter_text": "(id = 1)",
        "engine": "hive3",
        "engine_version": "3.1.3",
        "time_zone": "Europe/Berlin",
        "query_type": "as_of",
        "instant": "20250101000000000",
        "query_id": "hive_20250101_1",
        "secret": "open sesame",
        "user": "ada",
        "merges_rows": True,
    },
    "utf8": REQUIRED | {"table": "file:/größe/表/\U0001f600", "filter_text": "(s = '\x00é\U0001f600')"},
    "compressed": REQUIRED | {"names": bytes(range(256)), "names_compressed": True},
    "large": REQUIRED | {"names": b"a" * 1000, "name_count": 2**31 - 1},
}

ANSWER: dict[str, Any] = {
    "protocol_version": 1,
    "skip": b"\x05",
    "name_count": 3,
    "skipped": 2,
    "digest": zlib.crc32(NAMES),
}
REPLIES: dict[str, dict[str, Any]] = {
    "two_skipped": ANSWER,
    "all_fields": ANSWER
    | {
        "instant": "20250101000000000",
        "covered": 3,
        "fully_matched": 1,
        "report_id": "r-1",
        "reasons": ["no column statistics", "größe \U0001f600"],
    },
    "nothing_skipped": ANSWER | {"skip": b"", "skipped": 0},
    "no_digest": ANSWER | {"digest": None},
    "no_skip": ANSWER | {"skip": None},
    "no_name_count": ANSWER | {"name_count": None},
    "no_skipped": ANSWER | {"skipped": None},
    "no_protocol_version": ANSWER | {"protocol_version": None},
}
REFUSALS: dict[str, dict[str, str | None]] = {
    "version": {"code": "version", "why": "protocol 2"},
    "secret": {"code": "secret", "why": "the secret is wrong"},
    "busy": {"code": "busy", "why": "64 requests are being answered"},
    "stopping": {"code": "stopping", "why": "the sidecar is stopping"},
    "table": {"code": "table", "why": "the table is not below the roots"},
    "request": {"code": "request", "why": "name_count is missing"},
    "limit": {"code": "limit", "why": "a request may list up to 2 names"},
    "no_code": {"why": "busy"},
}

#: The files of PlanReplyTest.java.
PLANNED = (
    ("dt=1/f1-0_0-1-2_20250101000000000.parquet", 100, 0),
    ("dt=1/.f1-0_20250102000000000.log.1_0-1-2", 20, 0),
    ("dt=2/f2-0_0-1-2_20250101000000000.parquet", 300, 1),
    ("dt=2/.f3-0_20250102000000000.log.1_0-1-2", 4, 2),
)
#: The partitions of the request to which a reply names unknown ones.
UNKNOWN_TOO = "dt=1\ndt=2\ndt=3\ngröße".encode()
PLAN_REQUIRED: dict[str, Any] = {
    "protocol_version": 1,
    "table": "file:/t",
    "engine": "hive4",
    "instant": "20250102000000000",
    "instant_count": 2,
}
PLAN_REQUESTS: dict[str, dict[str, Any]] = {
    "required": PLAN_REQUIRED,
    "base_path": PLAN_REQUIRED
    | {"partitions": b"", "partitions_compressed": False, "partition_count": 1, "accepts_unknown": True},
    "all_fields": PLAN_REQUIRED
    | {
        "table": "hdfs://host:8020/größe",
        "filter": b"AQEA",
        "filter_text": "(id = 1)",
        "engine": "hive3",
        "engine_version": "3.1.3",
        "time_zone": "Europe/Berlin",
        "query_type": "read_optimized",
        "partitions": b"dt=1\ndt=2",
        "partitions_compressed": False,
        "partition_count": 2,
        "query_id": "hive_20250101_1",
        "secret": "open sesame",
        "user": "ada",
        "accepts_unknown": True,
        "merges_rows": True,
    },
}


def plan_reply(**more: Any) -> PlanReply:
    """The answer for the partitions dt=1 and dt=2."""
    names, lengths, slices = zip(*PLANNED, strict=True)
    plain = "\n".join(names).encode(), struct.pack("<4q", *lengths), struct.pack("<4i", *slices)
    streams = [zlib.compress(part, 0) for part in plain]  # the same bytes with every version of zlib
    return PlanReply(
        protocol_version=1,
        instant="20250102000000000",
        file_count=4,
        names=streams[0],
        lengths=streams[1],
        slices=streams[2],
        slice_count=3,
        skipped=5,
        fully_matched=1,
        report_id="r-1",
        reasons=["no column statistics"],
        checksum=zlib.crc32(b"".join(streams)),
        **{"digest": zlib.crc32(b"dt=1\ndt=2"), **more},
    )


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


def request(fields: dict[str, Any]) -> bytes:
    """A call of ``prune`` with the sequence number 1."""
    return frame(call_message("prune", {"request": PruneRequest(**fields)}))


def messages() -> dict[str, bytes]:
    """Every message by its name."""
    call = ThriftCall("prune", 1, ())
    frames = {f"request.{name}": request(fields) for name, fields in REQUESTS.items()}
    for name, fields in REPLIES.items():
        frames[f"reply.{name}"] = frame(result(call, PruneReply(**fields)))
    for name, fields in PLAN_REQUESTS.items():
        frames[f"plan.request.{name}"] = frame(call_message("plan", {"request": PlanRequest(**fields)}))
    plan = ThriftCall("plan", 1, ())
    frames["plan.reply"] = frame(result(plan, plan_reply()))
    unknown = {"unknown_partitions": ["dt=3", "größe"], "digest": zlib.crc32(UNKNOWN_TOO)}
    frames["plan.reply.unknown_partitions"] = frame(result(plan, plan_reply(**unknown)))
    frames["plan.refused"] = frame(result(plan, refused=RefusedMessage(code="instant", why="another timeline")))
    for name, why in REFUSALS.items():
        frames[f"refused.{name}"] = frame(result(call, refused=RefusedMessage(**why)))
    frames["exception.of_the_call"] = frame(failure(call, "an internal error"))
    frames["exception.of_no_call"] = frame(failure(None, "no such method"))
    frames |= version_messages()
    answer = PruneReply(**ANSWER)
    frames["other.sequence"] = frame(result(ThriftCall("prune", 2, ()), answer))
    frames["other.method"] = frame(result(ThriftCall("explain", 1, ()), "a report"))
    frames["other.no_result"] = frame(result(call))
    return frames


def version_messages() -> dict[str, bytes]:
    """The call that shows the secret, its answer, the answer of a sidecar that does not know it, and a refusal."""
    call = ThriftCall("version", 0, ())
    refused = RefusedMessage(code="secret", why="the secret is missing or wrong")
    return {
        "version.shows_secret": frame(call_message("version", {"secret": "open sesame"}, sequence=0)),
        "version.reply": frame(result(call, '{"sargo": "1.0.0", "protocol": 1}')),
        "version.refused": frame(result(call, refused=refused)),
    }


def text() -> str:
    return HEAD + "".join(f"{name}={message.hex()}\n" for name, message in messages().items())


if __name__ == "__main__":
    MESSAGES.write_text(text())
