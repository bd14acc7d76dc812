"""Questions of plan(), and what a reply says, read as the IDL says."""

import zlib

import numpy as np

from handler import open_table
from handler.sidecar.idl import PlanRequest


def state_of(table):
    """The newest completed instant of a table, and how many there are."""
    timeline = open_table(table, cache=None).table.timeline
    return timeline.last.requested, len(timeline.writes)


def plan_request(table, asked=None, filter_=None, **given):
    """A PlanRequest for the table as it stands."""
    instant, count = (given["instant"], 0) if "instant" in given else state_of(table)
    fields = {
        "protocol_version": 1,
        "table": str(table),
        "filter": None if filter_ is None else filter_.encode(),
        "engine": "hive4",
        "time_zone": "UTC",
        "instant": instant,
        "instant_count": count,
        "partitions": None if asked is None else "\n".join(asked).encode(),
        "partition_count": None if asked is None else len(asked),
        **given,
    }
    return PlanRequest(**fields)


def read_files(reply):
    """(name, length, slice) of each file of a reply, after the checks of a client."""
    assert reply.checksum == zlib.crc32(reply.names + reply.lengths + reply.slices)
    text = zlib.decompress(reply.names)
    names = text.decode().split("\n") if text else []
    lengths = np.frombuffer(zlib.decompress(reply.lengths), "<i8").tolist()
    slices = np.frombuffer(zlib.decompress(reply.slices), "<i4").tolist()
    assert reply.file_count == len(names) == len(lengths) == len(slices)
    assert len(set(names)) == len(names)
    assert slices == sorted(slices)
    assert set(slices) == set(range(reply.slice_count))
    return list(zip(names, lengths, slices, strict=True))


def slices_of(reply):
    """The files of each slice, in the reply's order."""
    found = [[] for _ in range(reply.slice_count)]
    for name, _, number in read_files(reply):
        found[number].append(name)
    return [tuple(files) for files in found]
