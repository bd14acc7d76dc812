"""Arrow messages that claim to inflate to more than they may: refused before memory is taken."""

from __future__ import annotations

import random
import struct
from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store.formats.bounded.arrow_blocks import check_batches, read_batch
from index_store.storage.errors import FormatError
from tests.index_store.memory import MIB, refused

BATCH = pa.record_batch({"k": pa.array([b"x" * 100] * 2000, pa.binary()), "v": pa.array(range(2000), pa.int64())})
#: Texts, offsets of texts, numbers.
BYTES = 2000 * 100 + 2001 * 4 + 2000 * 8


def stream(codec: str | None = "zstd", batches: int = 1, batch: pa.RecordBatch = BATCH) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        for _ in range(batches):
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("codec", ["zstd", "lz4", None])
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_batches_within_the_bound_are_counted(codec: str | None, batches: int) -> None:
    data = stream(codec, batches)
    assert check_batches(pa.py_buffer(data), BYTES + len(data)) == batches
    if batches:
        assert "inflates" in refused(lambda: check_batches(pa.py_buffer(data), BYTES - 1), FormatError, 1)


def test_what_a_buffer_claims_is_added_up_before_it_is_inflated() -> None:
    """Arrow takes the memory that a buffer claims: a terabyte in eight bytes."""
    data, seen = stream(), 0
    for claim in (200_000, 2001 * 4, 16_000):
        place = data.index(struct.pack("<q", claim))
        for more in (1 << 40, (1 << 63) - 1, 64 * MIB):
            changed = data[:place] + struct.pack("<q", more) + data[place + 8 :]
            before = pa.total_allocated_bytes()
            text = refused(lambda changed=changed: check_batches(pa.py_buffer(changed), 64 * MIB), FormatError, 1)
            assert "inflates" in text
            assert pa.total_allocated_bytes() == before
            seen += 1
    assert seen == 9


def test_damaged_messages_are_an_error_or_harmless() -> None:
    data, rnd = stream(batches=2), random.Random(7)
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(rnd.randint(1, 4)):
            changed[rnd.randrange(len(changed))] = rnd.choice((0, 1, 127, 128, 255, rnd.randrange(256)))
        with suppress(FormatError):
            assert check_batches(pa.py_buffer(bytes(changed)), 64 * MIB) <= 2
    for length in range(0, len(data), 7):
        with suppress(FormatError):
            assert check_batches(pa.py_buffer(data[:length]), 64 * MIB) <= 2


def message(codec: str | None = "zstd", batch: pa.RecordBatch = BATCH) -> bytes:
    """The message of a batch, without the schema before it and the end of the stream behind it."""
    data = stream(codec, batch=batch)
    return data[batch.schema.serialize().size : -8]


@given(
    st.lists(st.tuples(st.binary(max_size=60), st.integers(-9, 9), st.booleans()), min_size=1, max_size=80),
    st.sampled_from(["zstd", "lz4", None]),
)
def test_the_buffers_of_a_batch_are_those_that_arrow_reads(rows, codec) -> None:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(one, kind) for one, kind in zip(columns, (pa.binary(), pa.int64(), pa.bool_()), strict=True)]
    data = message(codec, pa.RecordBatch.from_arrays(arrays, ["k", "v", "b"]))
    stored = read_batch(data, MIB)
    assert (stored.rows, stored.nulls, len(stored.buffers)) == (len(rows), (0, 0, 0), 7)
    ends, keys, numbers, marks = (pa.py_buffer(one) for one in stored.inflated((1, 2, 4, 6)))
    n = len(rows)
    assert pa.Array.from_buffers(pa.binary(), n, [None, ends, keys]).equals(arrays[0])
    assert pa.Array.from_buffers(pa.int64(), n, [None, numbers]).equals(arrays[1])
    assert pa.Array.from_buffers(pa.bool_(), n, [None, marks]).equals(arrays[2])
    with pytest.raises(FormatError, match="inflates"):
        read_batch(data, 8)
    for other in (data[:-1], data[:7], data + b"\0", data + data, stream(codec)):
        with pytest.raises(FormatError):
            read_batch(other, MIB)


def test_a_buffer_that_inflates_to_another_size_than_it_claims_is_an_error() -> None:
    data, seen = message(), 0
    for claim in (200_000, 2001 * 4, 16_000):
        place = data.index(struct.pack("<q", claim))
        for other in (0, claim - 1, claim + 1, 2 * claim):
            changed = read_batch(data[:place] + struct.pack("<q", other) + data[place + 8 :], MIB)
            with pytest.raises(FormatError, match="claim"):
                changed.inflated((1, 2, 4))
            seen += 1
    assert seen == 12


def test_a_damaged_message_is_an_error_or_has_bounded_buffers() -> None:
    data, rnd = message(), random.Random(7)
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(rnd.randint(1, 4)):
            changed[rnd.randrange(len(changed))] = rnd.choice((0, 1, 127, 128, 255, rnd.randrange(256)))
        with suppress(FormatError):
            stored = read_batch(bytes(changed), MIB)
            for number in range(len(stored.buffers)):
                with suppress(FormatError):
                    assert sum(map(len, stored.inflated((number,)))) <= MIB
    for length in range(0, len(data), 7):
        with pytest.raises(FormatError):
            read_batch(data[:length], MIB)


def test_other_messages_are_refused() -> None:
    words = pa.record_batch({"k": pa.array(["a", "b"]).dictionary_encode()})
    data = stream(batch=words)
    assert "dictionary" in refused(lambda: check_batches(pa.py_buffer(data), MIB), FormatError, 1)
    assert "no record batch" in refused(lambda: read_batch(BATCH.schema.serialize().to_pybytes(), MIB), FormatError, 1)
