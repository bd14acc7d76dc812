"""Arrow messages that claim to inflate to more than they may: refused before memory is taken."""

from __future__ import annotations

import random
import struct
from contextlib import suppress

import pyarrow as pa
import pytest

from index_store.formats.bounded.arrow_blocks import check_batches
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


def test_other_messages_are_refused() -> None:
    words = pa.record_batch({"k": pa.array(["a", "b"]).dictionary_encode()})
    data = stream(batch=words)
    assert "dictionary" in refused(lambda: check_batches(pa.py_buffer(data), MIB), FormatError, 1)
