"""Log files: blocks, rollbacks, delete blocks, and damage."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store.formats.log_file import COMMAND, DELETE, HFILE_DATA, data_instants, deleted_keys, read_log_blocks
from index_store.storage.byte_source import Bytes
from index_store.storage.errors import FormatError
from tests.index_store.synthetic import delete_content, log_block
from tests.sampling import examples

LOG = (
    log_block(HFILE_DATA, b"one", "20260101000000000")
    + log_block(DELETE, delete_content(["a", "b"]), "20260102000000000")
    + log_block(COMMAND, b"", "20260103000000000", target="20260101000000000")
)


def test_blocks_come_in_order_with_their_instants():
    blocks = read_log_blocks(LOG)
    assert [(block.type, block.instant, block.target, block.content) for block in blocks] == [
        (HFILE_DATA, "20260101000000000", "", b"one"),
        (DELETE, "20260102000000000", "", delete_content(["a", "b"])),
        (COMMAND, "20260103000000000", "20260101000000000", b""),
    ]
    assert data_instants(Bytes(LOG)) == {"20260101000000000", "20260102000000000"}


class Counting(Bytes):
    """A source that keeps what is read."""

    __slots__ = ("read",)

    def read_at(self, offset, length):
        object.__setattr__(self, "read", getattr(self, "read", 0) + length)
        return super().read_at(offset, length)


def test_only_the_heads_of_large_blocks_are_read():
    source = Counting(log_block(HFILE_DATA, bytes(10**6), "1") + log_block(DELETE, bytes(10**6), "2"))
    assert data_instants(source) == {"1", "2"}
    assert source.read < 10_000
    long = log_block(HFILE_DATA, b"x", "7" * 9000)
    assert data_instants(Bytes(long)) == {"7" * 9000}
    for bad in (long[:-1], long[:5000], long[:10], b"#HUDX#" + long[6:], bytes(50), LOG[:30], LOG + b"#"):
        with pytest.raises(FormatError):
            data_instants(Bytes(bad))


@given(st.lists(st.text(), max_size=100))
def test_deleted_keys_come_back(keys):
    assert deleted_keys(delete_content(keys)) == keys


def test_the_empty_marker_of_a_new_file_group_deletes_nothing():
    assert deleted_keys(bytes.fromhex("000000030000000100")) == []


@pytest.mark.parametrize("version", [1, 2, 4])
def test_other_delete_block_versions_are_named(version):
    with pytest.raises(FormatError, match=f"version {version} is not supported"):
        deleted_keys(version.to_bytes(4, "big") + bytes(8))


@pytest.mark.parametrize("length", range(1, len(LOG), 7))
def test_a_cut_log_is_a_format_error_unless_it_ends_between_blocks(length):
    ends = {
        len(LOG),
        *(
            sum(len(block) for block in blocks)
            for blocks in (
                [log_block(HFILE_DATA, b"one", "20260101000000000")],
                [
                    log_block(HFILE_DATA, b"one", "20260101000000000"),
                    log_block(DELETE, delete_content(["a", "b"]), "20260102000000000"),
                ],
            )
        ),
    }
    if length in ends:
        assert read_log_blocks(LOG[:length])
    else:
        with pytest.raises(FormatError):
            read_log_blocks(LOG[:length])


def test_an_empty_log_file_is_damage():
    with pytest.raises(FormatError, match="empty"):
        read_log_blocks(b"")


@settings(max_examples=examples(39, at_night=2000))
@given(st.integers(0, len(LOG) - 1), st.integers(1, 255))
def test_flipped_bytes_are_a_format_error_or_harmless(place, flip):
    bad = bytearray(LOG)
    bad[place] ^= flip
    try:
        for block in read_log_blocks(bytes(bad)):
            if block.type == DELETE:
                deleted_keys(block.content)
    except FormatError:
        pass
