"""The first request for an object asks for as many of its last bytes as the readers of the last objects needed."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from pyarrow import parquet

from index_store.formats.bounded.parquet_bounds import read_footer
from index_store.storage.storage import Storage
from index_store.storage.tail_length import FIRST, LEAST, REMEMBERED, TailLength
from tests.s3.store import kinds, running


@pytest.mark.parametrize(
    ("needed", "asked"),
    [
        ([], FIRST),
        ([100] * (REMEMBERED // 2 - 1), FIRST),
        ([100] * REMEMBERED, LEAST),
        ([300 << 10, *[100] * (REMEMBERED - 1)], (300 << 10) + LEAST // 4),
        ([300 << 10, *[100] * REMEMBERED], LEAST),
        ([8 << 20] * REMEMBERED, FIRST),
    ],
)
def test_the_length_follows_what_was_needed(needed, asked):
    length = TailLength()
    for one in needed:
        length.note(one)
    assert length() == asked


@pytest.mark.parametrize("filter_bytes", [10, 370_000], ids=["plain footers", "footers with a Bloom filter"])
def test_a_footer_takes_one_request_and_no_more_bytes_than_footers_have(tmp_path, filter_bytes):
    table = pa.table({"k": ["x" * 50] * 20_000, "n": range(20_000)}).replace_schema_metadata({"b": "f" * filter_bytes})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="none", use_dictionary=False, store_schema=False)
    with running(tmp_path) as store:
        (store.bucket / "t").mkdir(parents=True)
        for number in range(2 * REMEMBERED):
            (store.bucket / f"t/{number}.parquet").write_bytes(buffer.getvalue())
        storage = Storage.at(store.uri("t"), None, store.options)
        with store.answering():
            for number in range(2 * REMEMBERED):
                assert storage.apply(f"{number}.parquet", read_footer).num_rows == 20_000
            asked = store.take()
    assert kinds(asked) == {"GET": 2 * REMEMBERED}
    assert asked[0]["sent"] >= FIRST
    assert asked[-1]["sent"] < max(filter_bytes * 1.5, LEAST) + LEAST
