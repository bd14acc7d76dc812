"""Locations of records: read straight from the bytes as fastavro reads them whole, and damage is a FormatError."""

from __future__ import annotations

import copy
import io
from contextlib import suppress

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store.formats.record_location import LocationDecoder
from index_store.storage.errors import FormatError
from tests.index_store.synthetic import V9_SCHEMA
from tests.sampling import examples

LONGS = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))
TEXTS = st.one_of(st.none(), st.sampled_from(["", "p=p0", "a/b=ü", "x" * 200]))


def schema(position=True, meta=True):
    found = copy.deepcopy(V9_SCHEMA)
    if not meta:  # log blocks
        found["fields"] = found["fields"][5:]
    if not position:  # before Hudi 1.0
        for field in found["fields"]:
            if field["name"] == "recordIndexMetadata":
                field["type"][1]["fields"].pop()
    return found


def encoded(location, of, **more):
    out = io.BytesIO()
    fastavro.schemaless_writer(
        out, fastavro.parse_schema(of), {"key": "", "type": 5, "recordIndexMetadata": location, **more}
    )
    return out.getvalue()


def expected(location):
    partition = location["partitionName"] or ""
    if location["fileIdEncoding"] == 1:
        return partition, location["fileId"] or ""
    if location["fileIdHighBits"] is None or location["fileIdLowBits"] is None:
        return FormatError
    digits = "".join(f"{location[half] % 2**64:016x}" for half in ("fileIdHighBits", "fileIdLowBits"))
    text = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    index = location["fileIndex"]
    return partition, text if index is None or index < 0 else f"{text}-{index}"


@settings(max_examples=examples(58, at_night=3000))
@given(
    st.fixed_dictionaries(
        {
            "partitionName": TEXTS,
            "fileIdHighBits": LONGS,
            "fileIdLowBits": LONGS,
            "fileId": TEXTS,
            "instantTime": LONGS,
            "fileIndex": st.one_of(st.none(), st.sampled_from([-1, 0, 1, 7, 2**31 - 1])),
            "fileIdEncoding": st.sampled_from([0, 1]),
        }
    ),
    st.booleans(),
    st.booleans(),
    st.binary(max_size=3),
)
def test_locations_are_what_was_written(location, position, meta, around):
    of = schema(position, meta)
    decoder = LocationDecoder(of)
    assert decoder._fast
    more = {"_hoodie_file_name": "record-index-0000-0"} if meta else {}
    data = encoded({**location, **({"position": 5} if position else {})}, of, **more)
    for _ in range(2):
        if expected(location) is FormatError:
            with pytest.raises(FormatError):
                decoder.decode(around + data, len(around), len(around) + len(data))
        else:
            assert decoder.decode(around + data + around, len(around), len(around) + len(data)) == expected(location)


@settings(max_examples=examples(39, at_night=2000))
@given(st.data())
def test_damaged_records_are_format_errors_or_other_locations(data):
    of = schema()
    good = encoded(
        {
            "partitionName": "p=p0",
            "fileIdHighBits": 5,
            "fileIdLowBits": -7,
            "fileIndex": 0,
            "fileId": "",
            "instantTime": 1795255213341,
            "fileIdEncoding": 0,
            "position": None,
        },
        of,
    )
    bad = bytearray(good[: data.draw(st.integers(0, len(good)))] + data.draw(st.binary(max_size=3)))
    for _ in range(data.draw(st.integers(0, 3))):
        if bad:
            bad[data.draw(st.integers(0, len(bad) - 1))] = data.draw(st.integers(0, 255))
    with suppress(FormatError):
        LocationDecoder(of).decode(bytes(bad), 0, len(bad))


def test_records_without_a_location_and_other_schemas():
    of = schema()
    assert LocationDecoder(of).decode(encoded(None, of), 0, len(encoded(None, of))) is None
    other = copy.deepcopy(of)
    other["fields"][10]["type"][1]["fields"].reverse()  # another order: the reference decoder takes it
    decoder = LocationDecoder(other)
    assert not decoder._fast
    location = {
        "partitionName": None,
        "fileIdHighBits": 1,
        "fileIdLowBits": 2,
        "fileIndex": 3,
        "fileId": None,
        "instantTime": 4,
        "fileIdEncoding": 0,
        "position": None,
    }
    data = encoded(location, other)
    assert decoder.decode(data, 0, len(data)) == expected(location)
